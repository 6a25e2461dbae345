/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows on their way out, in the format that the user chose. They are printed as they come; only the
 * aligned table, which has to know how wide its columns are, and sorted rows are held until the end.
 */
#ifndef FSQ_TABLE_H
#define FSQ_TABLE_H

#include "field.h"
#include "shared/array.h"
#include "shared/texts.h"
#include "shared/writer.h"

enum table_format {
	TABLE_TEXT, /* what the command prints for people: an aligned table, or lines */
	TABLE_RAW,
	TABLE_PAIRS,
	TABLE_CSV,
	TABLE_JSON,
	TABLE_JSON_LINES,
};

enum table_when { TABLE_AUTO, TABLE_NEVER, TABLE_ALWAYS };

#define TABLE_COLUMNS_MAX 48
/* As long as the longest name, and what is around it. */
#define TABLE_START 32

/* The options of the user. Zeros are the defaults. */
struct table_style {
	enum table_format format;
	enum table_when color;
	bool no_headings;
	bool exact;	      /* numbers instead of 1.5G and 6d23h */
	bool dry_run;	      /* the rows say what would change */
	bool reverse;	      /* the last row first */
	uint64_t top;	      /* only so many rows; 0: all */
	enum table_when bars; /* beside percentages; by default where the terminal has room */
	bool has_over;
	double over;					/* only rows whose percentage is so high */
	const struct field *columns[TABLE_COLUMNS_MAX]; /* none: the usual ones */
	size_t column_count;
	struct table_key {
		const struct field *field;
		bool descending;
	} sort[TABLE_COLUMNS_MAX];
	size_t sort_count;
};

/* The rows of a command. */
struct row_fields {
	const struct field *fields;
	uint16_t size; /* of the struct */
	const char
		*usual; /* the columns that are shown where none are chosen, separated by commas */
	/* Text for people where no columns are chosen; NULL: an aligned table. */
	void (*write_line)(struct writer *w, const void *row);
};

/**
 * Choose columns.
 *
 * @names    separated by commas, in any case, or "all"; with + in front they are added
 * @return   NULL, or the name that is no column, up to the end of @names
 */
const char *table_choose(struct table_style *style, const struct row_fields *type,
			 const char *names);

/** @return  whether a column was chosen */
bool table_has_column(const struct table_style *style, const char *name);

/**
 * Choose the order of the rows.
 *
 * @keys     columns separated by commas, - in front of one: descending. "use" is -USED and
 *           "percent" -USE%
 * @return   NULL, or the key that is no column, up to the end of @keys
 */
const char *table_sort(struct table_style *style, const struct row_fields *type, const char *keys);

/** Print which columns there are. */
void table_list_columns(struct writer *w, const struct row_fields *type);

/* A column, or in JSON a member. */
struct table_column {
	const struct field *field;
	size_t start_length;
	char start[TABLE_START]; /* what stands in front of its value in each row */
};

struct table_cell {
	size_t text; /* its offset in the text of the table */
	uint32_t width;
	uint8_t color;
	int8_t bar; /* tenths of a percentage, or -1 */
};

struct table {
	/* Set by the caller before the first row; all else is zero: */
	struct writer *out;
	const struct row_fields *type;
	const struct table_style *style;
	const char *key;       /* of the JSON document, or of its next array */
	bool single;	       /* JSON: one object instead of an array */
	bool follows;	       /* behind the rows of another table that was left open */
	bool after_rows;       /* and that one has some */
	bool left_open;	       /* another one follows */
	const char *count_key; /* JSON: a number behind the rows, or NULL */
	uint64_t count;

	/* Its own: */
	struct table_column columns[TABLE_COLUMNS_MAX];
	size_t column_count;
	bool started, begun; /* begun: there was a row */
	uint64_t written;
	bool lines;
	bool colored;
	struct held_row *held;
	size_t held_count, held_capacity;
	struct texts texts; /* of held rows */
	struct table_cell *cells;
	size_t cell_count, cell_capacity;
	struct text text;	      /* of all cells */
	int width[TABLE_COLUMNS_MAX]; /* of the columns, on the terminal */
};

/** Print a row, or hold it; before the first one what begins the table. @return  0 or -ENOMEM */
int table_row(struct table *table, const void *row);

/** Print what is held, and free it. @return  0 or -ENOMEM */
int table_end(struct table *table);

/* --- aligned.c: for table.c --- */

/** @return  how many columns a terminal has; 0: it is none */
int terminal_width(int fd);

/** @return  whether the user wants colours, as such, or because it is a terminal: see no-color.org */
bool table_wants_colors(const struct table_style *style, int fd);

/** Hold the cells of a row. @return  0 or -ENOMEM */
int aligned_row(struct table *table, const void *row);

/** Print the cells that are held. */
void aligned_end(struct table *table);

#endif
