/* SPDX-License-Identifier: Apache-2.0 */
/* libsmartcols, loaded on first use: only what is drawn as a table needs it. */
#ifndef FSQ_SMARTCOLS_H
#define FSQ_SMARTCOLS_H

#include <libsmartcols.h>

/* The functions we use, under their own names without scols_. */
struct smartcols {
	struct libscols_table *(*new_table)(void);
	void (*unref_table)(struct libscols_table *);
	struct libscols_column *(*table_new_column)(struct libscols_table *, const char *, double,
						    int);
	struct libscols_line *(*table_new_line)(struct libscols_table *, struct libscols_line *);
	int (*line_set_data)(struct libscols_line *, size_t, const char *);
	struct libscols_cell *(*line_get_cell)(struct libscols_line *, size_t);
	int (*cell_set_color)(struct libscols_cell *, const char *);
	int (*table_enable_colors)(struct libscols_table *, int);
	int (*table_enable_raw)(struct libscols_table *, int);
	int (*table_enable_export)(struct libscols_table *, int);
	int (*table_enable_noheadings)(struct libscols_table *, int);
	int (*print_table_to_string)(struct libscols_table *, char **);
};

/** @return  the functions; those of plain_table.h when the library is not installed */
const struct smartcols *smartcols_load(void);

#endif
