/* SPDX-License-Identifier: Apache-2.0 */
#include "smartcols.h"

#include "shared/load_library.h"
#include "plain_table.h"

LIBRARY_NOTE_SMARTCOLS;

static const struct library_symbol symbols[] = {
	LIBRARY_SYMBOL(scols_new_table, smartcols, new_table),
	LIBRARY_SYMBOL(scols_unref_table, smartcols, unref_table),
	LIBRARY_SYMBOL(scols_table_new_column, smartcols, table_new_column),
	LIBRARY_SYMBOL(scols_table_new_line, smartcols, table_new_line),
	LIBRARY_SYMBOL(scols_line_set_data, smartcols, line_set_data),
	LIBRARY_SYMBOL(scols_line_get_cell, smartcols, line_get_cell),
	LIBRARY_SYMBOL(scols_cell_set_color, smartcols, cell_set_color),
	LIBRARY_SYMBOL(scols_table_enable_colors, smartcols, table_enable_colors),
	LIBRARY_SYMBOL(scols_table_enable_raw, smartcols, table_enable_raw),
	LIBRARY_SYMBOL(scols_table_enable_export, smartcols, table_enable_export),
	LIBRARY_SYMBOL(scols_table_enable_noheadings, smartcols, table_enable_noheadings),
	LIBRARY_SYMBOL(scols_print_table_to_string, smartcols, print_table_to_string),
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
