/* SPDX-License-Identifier: Apache-2.0 */
#include "smartcols.h"

#include "shared/load_library.h"
#include "plain_table.h"

LIBRARY_NOTE_SMARTCOLS;

static const struct library_symbol symbols[] = {
	{ "scols_new_table", offsetof(struct smartcols, new_table) },
	{ "scols_unref_table", offsetof(struct smartcols, unref_table) },
	{ "scols_table_new_column", offsetof(struct smartcols, table_new_column) },
	{ "scols_table_new_line", offsetof(struct smartcols, table_new_line) },
	{ "scols_line_set_data", offsetof(struct smartcols, line_set_data) },
	{ "scols_line_get_cell", offsetof(struct smartcols, line_get_cell) },
	{ "scols_cell_set_color", offsetof(struct smartcols, cell_set_color) },
	{ "scols_table_enable_colors", offsetof(struct smartcols, table_enable_colors) },
	{ "scols_table_enable_raw", offsetof(struct smartcols, table_enable_raw) },
	{ "scols_table_enable_export", offsetof(struct smartcols, table_enable_export) },
	{ "scols_table_enable_noheadings", offsetof(struct smartcols, table_enable_noheadings) },
	{ "scols_print_table_to_string", offsetof(struct smartcols, print_table_to_string) },
};

const struct smartcols *smartcols_load(void)
{
	static struct smartcols functions;
	static bool loaded;

	if (!loaded)
		loaded = load_library(LIBRARY_SMARTCOLS, symbols,
				      sizeof(symbols) / sizeof(symbols[0]), &functions);
	return loaded ? &functions : &plain_table;
}
