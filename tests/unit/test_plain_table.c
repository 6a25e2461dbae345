/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "output/plain_table.h"

enum { NORMAL, RAW, PAIRS, MODES };

/* A table with what is in cells: nothing, short and long, bytes that are escaped. */
static char *draw(const struct smartcols *lib, int mode, bool headings, int rows, bool right_last)
{
	static const char *const cells[] = { NULL,	     "",       "1",
					     "two words",    "a\tb\n", "\\x41\\",
					     "\303\244\033", "$`\"'",  "12345678",
					     "100%",	     " ",      "\177" };
	const size_t count = sizeof(cells) / sizeof(cells[0]);
	struct libscols_table *table = lib->new_table();
	char *text = NULL;

	lib->table_enable_raw(table, mode == RAW);
	lib->table_enable_export(table, mode == PAIRS);
	lib->table_enable_noheadings(table, !headings);
	lib->table_enable_colors(table, rows & 1);
	lib->table_new_column(table, "PATH", 0, 0);
	lib->table_new_column(table, "USE%", 0, SCOLS_FL_RIGHT);
	lib->table_new_column(table, "SOURCE", 0, right_last ? SCOLS_FL_RIGHT : 0);
	for (int row = 0; row < rows; row++) {
		struct libscols_line *line = lib->table_new_line(table, NULL);

		for (size_t column = 0; column < 3; column++) {
			const char *cell = cells[((size_t)row * (column + 1) + column) % count];

			if (cell)
				lib->line_set_data(line, column, cell);
			if ((row + (int)column) & 1)
				lib->cell_set_color(lib->line_get_cell(line, column), "\033[31m");
		}
	}
	if (lib->print_table_to_string(table, &text))
		text = NULL;
	lib->unref_table(table);
	return text;
}

int main(void)
{
	const struct smartcols *lib = smartcols_load();
	static const char *const modes[] = { "a table", "raw", "pairs" };

	ok(lib != &plain_table, "libsmartcols is loaded");
	for (int i = 0; lib != &plain_table && i < MODES * 2 * 2 * 4; i++) {
		int mode = i % MODES, rows = (int[]){ 0, 1, 3, 24 }[i / MODES / 4];
		bool headings = i / MODES & 1, right = i / MODES & 2;
		char *theirs = draw(lib, mode, headings, rows, right);
		char *ours = draw(&plain_table, mode, headings, rows, right);

		ok(strcmp(theirs ? theirs : "", ours ? ours : "") == 0, modes[mode]);
		if (getenv("SHOW"))
			printf("theirs:\n%s|\nours:\n%s|\n", theirs, ours);
		free(theirs);
		free(ours);
	}
	return tap_end();
}
