/* SPDX-License-Identifier: Apache-2.0 */
#include "project_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "project_columns.h"
#include "project_order.h"
#include "project_table.h"
#include "project_totals.h"

struct project_output {
	struct writer *writer;
	struct project_style style;
	bool single;
	bool any;
	struct held_rows held; /* where they are sorted */
	struct project_totals totals;
	const struct smartcols *lib;
	struct libscols_table *table;
};

struct libscols_table *project_table_new(const struct smartcols *lib,
					 const struct project_style *style)
{
	struct libscols_table *table = lib->new_table();

	if (!table)
		return NULL;
	lib->table_enable_raw(table, style->format == PROJECT_RAW);
	lib->table_enable_export(table, style->format == PROJECT_PAIRS);
	lib->table_enable_noheadings(table, style->no_headings);
	lib->table_enable_colors(table, style->colored);
	return table;
}

int project_table_print(struct writer *w, const struct smartcols *lib, struct libscols_table *table)
{
	char *text = NULL;
	int rc = lib->print_table_to_string(table, &text);

	/* It says so only where the first allocation fails. */
	if (rc == 0 && !text)
		rc = -ENOMEM;
	if (rc == 0) {
		write_text(w, text);
		if (text[0] && text[strlen(text) - 1] != '\n')
			write_char(w, '\n');
	}
	free(text);
	return rc ? -ENOMEM : 0;
}

static bool begin_table(struct project_output *output)
{
	const struct project_style *style = &output->style;
	const struct smartcols *lib = smartcols_load();

	output->lib = lib;
	output->table = project_table_new(lib, style);
	if (!output->table)
		return false;
	for (size_t i = 0; i < style->column_count; i++) {
		int column = style->columns[i];

		if (!lib->table_new_column(output->table, project_column_name(column), 0,
					   project_column_is_text(column) ? 0 : SCOLS_FL_RIGHT))
			return false;
	}
	return true;
}

static void free_output(struct project_output *output)
{
	if (output->table)
		output->lib->unref_table(output->table);
	held_rows_free(&output->held);
	project_totals_free(&output->totals);
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
		project_columns_add(&output->style, style->usual);
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
		int column = style->columns[i];
		const char *color = style->colored ? project_column_color(column, row) : NULL;
		char cell[PROJECT_CELL_SIZE];
		const char *text = project_column_cell(column, row, style->bytes, cell);

		if (text && output->lib->line_set_data(line, i, text))
			return -ENOMEM;
		if (color &&
		    output->lib->cell_set_color(output->lib->line_get_cell(line, i), color))
			return -ENOMEM;
	}
	return 0;
}

static int write_row(struct project_output *output, const struct project_row *row)
{
	struct json json;

	if (output->table)
		return table_row(output, row);
	if (!output->single)
		write_text(output->writer, output->any ? ",\n" : "\n");
	output->any = true;
	json_start(&json, output->writer);
	project_row_json(&json, row);
	return 0;
}

int project_output_row(struct project_output *output, const struct project_row *row)
{
	const struct project_style *style = &output->style;

	if (style->has_over && project_row_percent(row) < style->over)
		return 0;
	return style->sort_count ? held_rows_add(&output->held, row) : write_row(output, row);
}

static int write_held(struct project_output *output)
{
	int rc = 0;

	held_rows_sort(&output->held, &output->style);
	for (size_t i = 0; i < output->held.count && rc == 0; i++)
		rc = write_row(output, &output->held.rows[i].row);
	return rc;
}

static void end_json(struct project_output *output)
{
	struct writer *w = output->writer;

	if (output->single) {
		write_text(w, output->any ? "}\n" : "null}\n");
		return;
	}
	write_text(w, output->any ? "\n]" : "]");
	if (output->totals.count) {
		write_text(w, ",\"total\":[");
		project_totals_json(w, &output->totals);
		write_text(w, "\n]");
	}
	write_text(w, "}\n");
}

int project_output_total(struct project_output *output, const struct project_total *total)
{
	return project_totals_add(&output->totals, total);
}

int project_output_end(struct project_output *output)
{
	int rc = write_held(output);

	if (!output->table) {
		end_json(output);
	} else {
		rc |= project_table_print(output->writer, output->lib, output->table);
		rc |= project_totals_table(output->writer, &output->style, &output->totals);
	}
	free_output(output);
	return rc ? -ENOMEM : 0;
}
