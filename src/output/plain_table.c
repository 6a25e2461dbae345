/* SPDX-License-Identifier: Apache-2.0 */
#include "plain_table.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLOR_RESET "\033[0m"

/* What libsmartcols calls so is its secret; here it is this. */
struct libscols_column {
	const char *name; /* the caller's */
	bool right;
};

struct libscols_cell {
	char *text;	   /* NULL: nothing */
	const char *color; /* the caller's, or NULL */
};

struct libscols_line {
	struct libscols_table *table;
	struct libscols_cell *cells;
	struct libscols_line *next;
};

struct libscols_table {
	struct libscols_column *columns;
	size_t column_count;
	struct libscols_line *first, **end;
	bool raw, pairs, no_headings, colors;
};

static struct libscols_table *new_table(void)
{
	struct libscols_table *table = calloc(1, sizeof(*table));

	if (table)
		table->end = &table->first;
	return table;
}

static void unref_table(struct libscols_table *table)
{
	struct libscols_line *next;

	for (struct libscols_line *line = table->first; line; line = next) {
		next = line->next;
		for (size_t i = 0; i < table->column_count; i++)
			free(line->cells[i].text);
		free(line->cells);
		free(line);
	}
	free(table->columns);
	free(table);
}

static struct libscols_column *new_column(struct libscols_table *table, const char *name,
					  double hint, int flags)
{
	struct libscols_column *columns =
		reallocarray(table->columns, table->column_count + 1, sizeof(*table->columns));

	(void)hint;
	if (!columns)
		return NULL;
	table->columns = columns;
	columns += table->column_count++;
	*columns = (struct libscols_column){ name, flags & SCOLS_FL_RIGHT };
	return columns;
}

static struct libscols_line *new_line(struct libscols_table *table, struct libscols_line *parent)
{
	struct libscols_line *line = calloc(1, sizeof(*line));

	(void)parent;
	if (!line)
		return NULL;
	line->table = table;
	line->cells = calloc(table->column_count + 1, sizeof(*line->cells));
	if (!line->cells) {
		free(line);
		return NULL;
	}
	*table->end = line;
	table->end = &line->next;
	return line;
}

/* Bytes that may not be printed as they are: \x0a. */
static bool is_escaped(const struct libscols_table *table, const char *at)
{
	if (!isascii((unsigned char)*at) || iscntrl((unsigned char)*at))
		return true;
	if (table->pairs)
		return strchr("\"\\`$", *at);
	if (table->raw)
		return *at == ' ' || *at == '\\';
	return at[0] == '\\' && at[1] == 'x';
}

static int set_data(struct libscols_line *line, size_t index, const char *data)
{
	char *cell = malloc(4 * strlen(data) + 1), *to = cell;

	if (!cell)
		return -ENOMEM;
	for (; *data; data++)
		if (is_escaped(line->table, data))
			to += sprintf(to, "\\x%02x", (unsigned char)*data);
		else
			*to++ = *data;
	*to = '\0';
	free(line->cells[index].text);
	line->cells[index].text = cell;
	return 0;
}

static struct libscols_cell *get_cell(struct libscols_line *line, size_t index)
{
	return &line->cells[index];
}

static int set_color(struct libscols_cell *cell, const char *color)
{
	cell->color = color;
	return 0;
}

static int enable_colors(struct libscols_table *table, int enable)
{
	table->colors = enable;
	return 0;
}

static int enable_raw(struct libscols_table *table, int enable)
{
	table->raw = enable;
	return 0;
}

static int enable_pairs(struct libscols_table *table, int enable)
{
	table->pairs = enable;
	return 0;
}

static int enable_noheadings(struct libscols_table *table, int enable)
{
	table->no_headings = enable;
	return 0;
}

static const char *cell_of(const struct libscols_table *table, const struct libscols_line *line,
			   size_t index)
{
	if (!line)
		return table->columns[index].name;
	return line->cells[index].text ? line->cells[index].text : "";
}

static const char *color_of(const struct libscols_table *table, const struct libscols_line *line,
			    size_t index)
{
	return table->colors && line ? line->cells[index].color : NULL;
}

static int width_of(const struct libscols_table *table, size_t index)
{
	size_t width = strlen(table->columns[index].name);

	for (const struct libscols_line *line = table->first; line; line = line->next)
		if (strlen(cell_of(table, line, index)) > width)
			width = strlen(cell_of(table, line, index));
	return (int)width;
}

/* @line     NULL: the headings. libsmartcols ends no last line. */
static void print_line(FILE *out, const struct libscols_table *table,
		       const struct libscols_line *line, const int *widths)
{
	for (size_t i = 0; i < table->column_count; i++) {
		const char *cell = cell_of(table, line, i), *between = i ? " " : "";
		const char *color = color_of(table, line, i);
		bool last = i + 1 == table->column_count;

		if (table->pairs)
			fprintf(out, "%s%s=\"%s\"", between, table->columns[i].name, cell);
		else if (table->raw)
			fprintf(out, "%s%s", between, cell);
		else
			fprintf(out, table->columns[i].right ? "%s%s%*s%s" : "%s%s%-*s%s", between,
				color ? color : "",
				last && !table->columns[i].right ? 0 : widths[i], cell,
				color ? COLOR_RESET : "");
	}
	if (!line || line->next)
		fputc('\n', out);
}

static int print_to_string(struct libscols_table *table, char **text)
{
	int *widths = calloc(table->column_count + 1, sizeof(*widths));
	size_t size;
	FILE *out = widths ? open_memstream(text, &size) : NULL;

	if (!out) {
		free(widths);
		return -ENOMEM;
	}
	for (size_t i = 0; i < table->column_count; i++)
		widths[i] = width_of(table, i);
	if (table->first && !table->no_headings && !table->pairs)
		print_line(out, table, NULL, widths);
	for (const struct libscols_line *line = table->first; line; line = line->next)
		print_line(out, table, line, widths);
	free(widths);
	return fclose(out) ? -ENOMEM : 0;
}

const struct smartcols plain_table = {
	.new_table = new_table,
	.unref_table = unref_table,
	.table_new_column = new_column,
	.table_new_line = new_line,
	.line_set_data = set_data,
	.line_get_cell = get_cell,
	.cell_set_color = set_color,
	.table_enable_colors = enable_colors,
	.table_enable_raw = enable_raw,
	.table_enable_export = enable_pairs,
	.table_enable_noheadings = enable_noheadings,
	.print_table_to_string = print_to_string,
};
