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

/* What the member of a row is, which says how it is printed. */
enum field_type {
	FIELD_TEXT,	   /* const char *, or NULL */
	FIELD_TEXTS,	   /* the directories */
	FIELD_ID,	   /* uint32_t */
	FIELD_BYTES,	   /* uint64_t, as are those below */
	FIELD_BYTES_LIMIT, /* 0: none */
	FIELD_COUNT,
	FIELD_COUNT_LIMIT,
	FIELD_BOOL,
	FIELD_PERCENT, /* computed */
};

struct field {
	const char *column; /* NULL: none, only JSON */
	const char *key;    /* of JSON; NULL: none */
	enum field_type type;
	size_t member; /* its offset in struct project_row */
	const char *help;
};

#define MEMBER(name) offsetof(struct project_row, name)

/* In the order of the columns; fsquota-json(5) has the keys. */
static const struct field fields[] = {
	{ "PATH", "path", FIELD_TEXT, MEMBER(path), "the directory" },
	{ NULL, "directories", FIELD_TEXTS, 0, NULL },
	{ "ID", "id", FIELD_ID, MEMBER(id), "project ID" },
	{ "NAME", "name", FIELD_TEXT, MEMBER(name), "name of the project" },
	{ "USED", "used_bytes", FIELD_BYTES, MEMBER(used_bytes), "space in use" },
	{ "SOFT", "soft_bytes", FIELD_BYTES_LIMIT, MEMBER(soft_bytes), "soft limit of space" },
	{ "HARD", "hard_bytes", FIELD_BYTES_LIMIT, MEMBER(hard_bytes), "hard limit of space" },
	{ "USE%", NULL, FIELD_PERCENT, 0, "use of the limit that is nearer, of space or inodes" },
	{ "IUSED", "used_inodes", FIELD_COUNT, MEMBER(used_inodes), "inodes in use" },
	{ "ISOFT", "soft_inodes", FIELD_COUNT_LIMIT, MEMBER(soft_inodes), "soft limit of inodes" },
	{ "IHARD", "hard_inodes", FIELD_COUNT_LIMIT, MEMBER(hard_inodes), "hard limit of inodes" },
	{ NULL, "percent", FIELD_PERCENT, 0, NULL },
	{ "SOURCE", "source", FIELD_TEXT, MEMBER(source),
	  "where the numbers are from: quota, walk or statfs" },
	{ "FILESYSTEM", "filesystem", FIELD_TEXT, MEMBER(filesystem), "device of the filesystem" },
	{ "MOUNTPOINT", "mountpoint", FIELD_TEXT, MEMBER(mountpoint),
	  "where the filesystem is mounted" },
	{ "ACCOUNTING", "accounting", FIELD_BOOL, MEMBER(accounting),
	  "is the use of projects counted?" },
	{ "ENFORCED", "enforced", FIELD_BOOL, MEMBER(enforced),
	  "are limits of projects enforced?" },
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

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

static uint64_t number_of(const struct field *field, const struct project_row *row)
{
	const char *member = (const char *)row + field->member;
	uint64_t value;
	uint32_t id;

	if (field->type == FIELD_ID) {
		memcpy(&id, member, sizeof(id));
		return id;
	}
	memcpy(&value, member, sizeof(value));
	return value;
}

static const char *text_of(const struct field *field, const struct project_row *row)
{
	const char *text;

	memcpy(&text, (const char *)row + field->member, sizeof(text));
	return text;
}

static bool bool_of(const struct field *field, const struct project_row *row)
{
	bool value;

	memcpy(&value, (const char *)row + field->member, sizeof(value));
	return value;
}

static bool is_limit(const struct field *field)
{
	return field->type == FIELD_BYTES_LIMIT || field->type == FIELD_COUNT_LIMIT;
}

/* @return   what stands in a cell, perhaps in @cell; NULL: nothing */
static const char *cell_of(const struct field *field, const struct project_row *row, bool bytes,
			   char *cell)
{
	double percent;

	if (is_limit(field) && number_of(field, row) == 0)
		return NULL;
	switch (field->type) {
	case FIELD_TEXT:
		return text_of(field, row);
	case FIELD_BOOL:
		return bool_of(field, row) ? "yes" : "no";
	case FIELD_PERCENT:
		percent = project_row_percent(row);
		snprintf(cell, CELL_SIZE, "%.0f%%", percent);
		return percent < 0 ? NULL : cell;
	case FIELD_BYTES:
	case FIELD_BYTES_LIMIT:
		return size(cell, number_of(field, row), bytes);
	default:
		return number(cell, number_of(field, row));
	}
}

static int find_column(const char *word, size_t length)
{
	for (size_t i = 0; i < FIELDS; i++)
		if (fields[i].column && strlen(fields[i].column) == length &&
		    strncasecmp(fields[i].column, word, length) == 0)
			return (int)i;
	return -1;
}

static const char *add_columns(struct project_style *style, const char *names)
{
	for (;; names++) {
		size_t length = strcspn(names, ",");
		int column = find_column(names, length);

		if (column < 0 || style->column_count == PROJECT_COLUMNS_MAX)
			return names;
		style->columns[style->column_count++] = column;
		names += length;
		if (*names == '\0')
			return NULL;
	}
}

const char *project_columns(struct project_style *style, const char *names)
{
	bool added = *names == '+';

	names += added;
	if (!added || strcasecmp(names, "all") == 0)
		style->column_count = 0;
	else if (style->column_count == 0)
		add_columns(style, style->usual);
	if (strcasecmp(names, "all") != 0)
		return add_columns(style, names);
	for (size_t i = 0; i < FIELDS; i++)
		if (fields[i].column)
			style->columns[style->column_count++] = (int)i;
	return NULL;
}

void project_columns_list(struct writer *w)
{
	for (size_t i = 0; i < FIELDS; i++) {
		if (!fields[i].column)
			continue;
		write_left(w, fields[i].column, 12);
		write_text(w, fields[i].help);
		write_char(w, '\n');
	}
}

/* --- JSON --- */

static void json_directories(struct json *json, const char *key, const struct project_row *row)
{
	if (!row->directories)
		return;
	json_open(json, key, '[');
	for (size_t i = 0; i < row->directory_count; i++)
		json_string(json, NULL, row->directories[i]);
	json_close(json, ']');
}

static void json_field(struct json *json, const struct field *field, const struct project_row *row)
{
	double percent;

	switch (field->type) {
	case FIELD_TEXT:
		json_string(json, field->key, text_of(field, row));
		break;
	case FIELD_TEXTS:
		json_directories(json, field->key, row);
		break;
	case FIELD_BOOL:
		json_bool(json, field->key, bool_of(field, row));
		break;
	case FIELD_PERCENT:
		percent = project_row_percent(row);
		if (percent < 0)
			json_null(json, field->key);
		else
			json_decimal(json, field->key, percent);
		break;
	default:
		if (is_limit(field) && number_of(field, row) == 0)
			json_null(json, field->key);
		else
			json_number(json, field->key, number_of(field, row));
		break;
	}
}

/* --- rows --- */

struct project_output {
	struct writer *writer;
	struct project_style style;
	bool single;
	bool any;
	const struct smartcols *lib;
	struct libscols_table *table;
};

static bool begin_table(struct project_output *output)
{
	const struct project_style *style = &output->style;
	const struct smartcols *lib = smartcols_load();

	output->lib = lib;
	output->table = lib->new_table();
	if (!output->table)
		return false;
	lib->table_enable_raw(output->table, style->format == PROJECT_RAW);
	lib->table_enable_export(output->table, style->format == PROJECT_PAIRS);
	lib->table_enable_noheadings(output->table, style->no_headings);
	for (size_t i = 0; i < style->column_count; i++) {
		const struct field *field = &fields[style->columns[i]];
		bool left = field->type == FIELD_TEXT || field->type == FIELD_BOOL;

		if (!lib->table_new_column(output->table, field->column, 0,
					   left ? 0 : SCOLS_FL_RIGHT))
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
					    const char *key, bool single, bool json)
{
	struct project_output *output = calloc(1, sizeof(*output));

	if (!output)
		return NULL;
	output->writer = w;
	output->style = *style;
	if (style->column_count == 0 && style->usual)
		add_columns(&output->style, style->usual);
	output->single = single;
	if (json) {
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
	const struct project_style *style = &output->style;

	if (!line)
		return -ENOMEM;
	for (size_t i = 0; i < style->column_count; i++) {
		char cell[CELL_SIZE];
		const char *text = cell_of(&fields[style->columns[i]], row, style->bytes, cell);

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
	json_start(&json, output->writer);
	json_open(&json, NULL, '{');
	for (size_t i = 0; i < FIELDS; i++)
		if (fields[i].key)
			json_field(&json, &fields[i], row);
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
