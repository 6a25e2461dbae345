/* SPDX-License-Identifier: Apache-2.0 */
#include "project_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "json.h"
#include "smartcols.h"

#define CELL_SIZE 64

/* A column: its cell is a string of the row's, or is printed into @cell; NULL: there is nothing. */
struct column {
	const char *name;
	bool right;
	const char *help;
	const char *(*text)(const struct project_row *row, bool bytes, char *cell);
};

double project_row_percent(const struct project_row *row)
{
	uint64_t bytes = row->hard_bytes ? row->hard_bytes : row->soft_bytes;
	uint64_t inodes = row->hard_inodes ? row->hard_inodes : row->soft_inodes;
	double of_bytes = bytes ? 100.0 * (double)row->used_bytes / (double)bytes : -1;
	double of_inodes = inodes ? 100.0 * (double)row->used_inodes / (double)inodes : -1;

	return of_bytes > of_inodes ? of_bytes : of_inodes;
}

/* --- columns --- */

static const char *number(char *cell, uint64_t value)
{
	snprintf(cell, CELL_SIZE, "%" PRIu64, value);
	return cell;
}

/* As lsblk(8) shows sizes: 1.5G, 10M. */
static const char *size(char *cell, uint64_t bytes, bool plain)
{
	static const char letters[] = "BKMGTPE";
	unsigned int power = 0;
	uint64_t tenths;

	if (plain)
		return number(cell, bytes);
	while (power < 6 && bytes >> (10 * (power + 1)))
		power++;
	tenths = power ? ((bytes >> (10 * (power - 1))) * 10 + 512) / 1024 : bytes * 10;
	if (tenths >= 10240 && power < 6) {
		tenths = 10;
		power++;
	}
	if (tenths % 10 && tenths < 1000)
		snprintf(cell, CELL_SIZE, "%u.%u%c", (unsigned int)(tenths / 10),
			 (unsigned int)(tenths % 10), letters[power]);
	else
		snprintf(cell, CELL_SIZE, "%" PRIu64 "%c", (tenths + 5) / 10, letters[power]);
	return cell;
}

static const char *path(const struct project_row *row, bool bytes, char *cell)
{
	(void)bytes, (void)cell;
	return row->path;
}

static const char *id(const struct project_row *row, bool bytes, char *cell)
{
	(void)bytes;
	return number(cell, row->id);
}

static const char *name(const struct project_row *row, bool bytes, char *cell)
{
	(void)bytes, (void)cell;
	return row->name;
}

static const char *used(const struct project_row *row, bool bytes, char *cell)
{
	return size(cell, row->used_bytes, bytes);
}

static const char *soft(const struct project_row *row, bool bytes, char *cell)
{
	return row->soft_bytes ? size(cell, row->soft_bytes, bytes) : NULL;
}

static const char *hard(const struct project_row *row, bool bytes, char *cell)
{
	return row->hard_bytes ? size(cell, row->hard_bytes, bytes) : NULL;
}

static const char *percent(const struct project_row *row, bool bytes, char *cell)
{
	double value = project_row_percent(row);

	(void)bytes;
	if (value < 0)
		return NULL;
	snprintf(cell, CELL_SIZE, "%.0f%%", value);
	return cell;
}

static const char *used_inodes(const struct project_row *row, bool bytes, char *cell)
{
	(void)bytes;
	return number(cell, row->used_inodes);
}

static const char *soft_inodes(const struct project_row *row, bool bytes, char *cell)
{
	(void)bytes;
	return row->soft_inodes ? number(cell, row->soft_inodes) : NULL;
}

static const char *hard_inodes(const struct project_row *row, bool bytes, char *cell)
{
	(void)bytes;
	return row->hard_inodes ? number(cell, row->hard_inodes) : NULL;
}

static const char *source(const struct project_row *row, bool bytes, char *cell)
{
	(void)bytes, (void)cell;
	return row->source;
}

static const char *filesystem(const struct project_row *row, bool bytes, char *cell)
{
	(void)bytes, (void)cell;
	return row->filesystem;
}

static const char *mountpoint(const struct project_row *row, bool bytes, char *cell)
{
	(void)bytes, (void)cell;
	return row->mountpoint;
}

static const char *accounting(const struct project_row *row, bool bytes, char *cell)
{
	(void)bytes, (void)cell;
	return row->accounting ? "yes" : "no";
}

static const char *enforced(const struct project_row *row, bool bytes, char *cell)
{
	(void)bytes, (void)cell;
	return row->enforced ? "yes" : "no";
}

static const struct column columns[] = {
	{ "PATH", false, "the directory", path },
	{ "ID", true, "project ID", id },
	{ "NAME", false, "name of the project", name },
	{ "USED", true, "space in use", used },
	{ "SOFT", true, "soft limit of space", soft },
	{ "HARD", true, "hard limit of space", hard },
	{ "USE%", true, "use of the limit that is nearer, of space or inodes", percent },
	{ "IUSED", true, "inodes in use", used_inodes },
	{ "ISOFT", true, "soft limit of inodes", soft_inodes },
	{ "IHARD", true, "hard limit of inodes", hard_inodes },
	{ "SOURCE", false, "where the numbers are from: quota, walk or statfs", source },
	{ "FILESYSTEM", false, "device of the filesystem", filesystem },
	{ "MOUNTPOINT", false, "where the filesystem is mounted", mountpoint },
	{ "ACCOUNTING", false, "is the use of projects counted?", accounting },
	{ "ENFORCED", false, "are limits of projects enforced?", enforced },
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static int find_column(const char *word, size_t length)
{
	for (size_t i = 0; i < COLUMNS; i++)
		if (strlen(columns[i].name) == length &&
		    strncasecmp(columns[i].name, word, length) == 0)
			return (int)i;
	return -1;
}

const char *project_columns(struct project_style *style, const char *names)
{
	if (*names == '+')
		names++;
	else
		style->column_count = 0;
	if (strcasecmp(names, "all") == 0) {
		style->column_count = 0;
		for (size_t i = 0; i < COLUMNS; i++)
			style->columns[style->column_count++] = (int)i;
		return NULL;
	}
	for (;;) {
		size_t length = strcspn(names, ",");
		int column = find_column(names, length);

		if (column < 0 || style->column_count == PROJECT_COLUMNS_MAX)
			return names;
		style->columns[style->column_count++] = column;
		if (names[length] == '\0')
			return NULL;
		names += length + 1;
	}
}

void project_columns_list(struct writer *w)
{
	for (size_t i = 0; i < COLUMNS; i++) {
		write_left(w, columns[i].name, 12);
		write_text(w, columns[i].help);
		write_char(w, '\n');
	}
}

/* --- JSON --- */

static void json_limit(struct json *json, const char *key, uint64_t value)
{
	if (value)
		json_number(json, key, value);
	else
		json_null(json, key);
}

static void json_row(struct json *json, const struct project_row *row)
{
	double full = project_row_percent(row);

	json_string(json, "path", row->path);
	if (row->directories) {
		json_open(json, "directories", '[');
		for (size_t i = 0; i < row->directory_count; i++)
			json_string(json, NULL, row->directories[i]);
		json_close(json, ']');
	}
	json_number(json, "id", row->id);
	json_string(json, "name", row->name);
	json_number(json, "used_bytes", row->used_bytes);
	json_limit(json, "soft_bytes", row->soft_bytes);
	json_limit(json, "hard_bytes", row->hard_bytes);
	json_number(json, "used_inodes", row->used_inodes);
	json_limit(json, "soft_inodes", row->soft_inodes);
	json_limit(json, "hard_inodes", row->hard_inodes);
	if (full < 0)
		json_null(json, "percent");
	else
		json_decimal(json, "percent", full);
	json_string(json, "source", row->source);
	json_string(json, "filesystem", row->filesystem);
	json_string(json, "mountpoint", row->mountpoint);
	json_bool(json, "accounting", row->accounting);
	json_bool(json, "enforced", row->enforced);
}

/* --- rows --- */

struct project_output {
	struct writer *writer;
	const struct project_style *style;
	bool single;
	bool any;
	const struct smartcols *lib;
	struct libscols_table *table;
};

static bool begin_table(struct project_output *output)
{
	const struct project_style *style = output->style;
	const struct smartcols *lib = smartcols_load();

	output->lib = lib;
	output->table = lib->new_table();
	if (!output->table)
		return false;
	lib->table_enable_raw(output->table, style->format == PROJECT_RAW);
	lib->table_enable_export(output->table, style->format == PROJECT_PAIRS);
	lib->table_enable_noheadings(output->table, style->no_headings);
	for (size_t i = 0; i < style->column_count; i++) {
		const struct column *column = &columns[style->columns[i]];

		if (!lib->table_new_column(output->table, column->name, 0,
					   column->right ? SCOLS_FL_RIGHT : 0))
			return false;
	}
	return true;
}

static void free_output(struct project_output *output)
{
	if (output->table)
		output->lib->unref_table(output->table);
	free(output);
}

struct project_output *project_output_begin(struct writer *w, const struct project_style *style,
					    const char *key, bool single)
{
	struct project_output *output = calloc(1, sizeof(*output));

	if (!output)
		return NULL;
	output->writer = w;
	output->style = style;
	output->single = single;
	if (style->format == PROJECT_JSON) {
		write_text(w, "{\"");
		write_text(w, key);
		write_text(w, single ? "\":" : "\":[");
	} else if (!begin_table(output)) {
		free_output(output);
		return NULL;
	}
	return output;
}

static int table_row(struct project_output *output, const struct project_row *row)
{
	struct libscols_line *line = output->lib->table_new_line(output->table, NULL);
	bool as_bytes = output->style->bytes;

	if (!line)
		return -ENOMEM;
	for (size_t i = 0; i < output->style->column_count; i++) {
		char cell[CELL_SIZE];
		const char *text = columns[output->style->columns[i]].text(row, as_bytes, cell);

		if (text && output->lib->line_set_data(line, i, text))
			return -ENOMEM;
	}
	return 0;
}

int project_output_row(struct project_output *output, const struct project_row *row)
{
	struct json json;

	if (output->table)
		return table_row(output, row);
	if (!output->single)
		write_text(output->writer, output->any ? ",\n" : "\n");
	output->any = true;
	json_start(&json, output->writer, false);
	json_open(&json, NULL, '{');
	json_row(&json, row);
	json_close(&json, '}');
	return 0;
}

int project_output_end(struct project_output *output)
{
	char *text = NULL;
	int rc = 0;

	if (!output->table) {
		if (output->single)
			write_text(output->writer, output->any ? "}\n" : "null}\n");
		else
			write_text(output->writer, output->any ? "\n]}\n" : "]}\n");
	} else {
		rc = output->lib->print_table_to_string(output->table, &text);
		if (rc == 0 && text) {
			write_text(output->writer, text);
			if (text[0] && text[strlen(text) - 1] != '\n')
				write_char(output->writer, '\n');
		}
		free(text);
	}
	free_output(output);
	return rc;
}
