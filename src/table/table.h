/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Print rows in the format that the user chose. Most are printed at once. Sorted rows, and those of an aligned
 * table, which must know how wide its columns are, are held until the end.
 */
#ifndef FSQ_TABLE_H
#define FSQ_TABLE_H

#include "field.h"
#include "shared/array.h"
#include "shared/texts.h"
#include "shared/writer.h"

enum table_format {
	TABLE_TEXT, /* the default: an aligned table, or write_line() of the rows */
	TABLE_RAW,
	TABLE_PAIRS,
	TABLE_CSV,
	TABLE_JSON,
	TABLE_JSON_LINES,
};

enum table_when { TABLE_AUTO, TABLE_NEVER, TABLE_ALWAYS };

#define TABLE_COLUMNS_MAX 48
/* Room for the longest name with the separator and quotes around it. */
#define TABLE_START 32

/* The options of the user. Zeros are the defaults. */
struct table_style {
	enum table_format format;
	enum table_when color;
	bool no_headings;
	bool exact;	      /* numbers instead of 1.5G and 6d23h */
	bool dry_run;	      /* the rows say what would change */
	bool reverse;	      /* the last row first */
	uint64_t top;	      /* print at most so many rows; 0: all */
	enum table_when bars; /* beside percentages; TABLE_AUTO: if there is room */
	bool has_over;
	double over; /* print only rows with this percentage or more */
	const struct field *columns[TABLE_COLUMNS_MAX]; /* none: the usual ones */
	size_t column_count;
	const char *
		added; /* the names behind the "+", if these were added to the usual ones; or NULL */
	struct table_key {
		const struct field *field;
		bool descending;
	} sort[TABLE_COLUMNS_MAX];
	size_t sort_count;
};

/* The description of a command's rows. */
struct row_fields {
	const struct field *fields;
	uint16_t size;	   /* of the struct */
	const char *usual; /* default columns, separated by commas */
	/* Writes a row as text if no columns are chosen; NULL: print an aligned table instead. */
	void (*write_line)(struct writer *w, const void *row);
};

/**
 * Choose columns.
 *
 * @names    separated by commas, as in the output for people, in JSON or for a shell, or "all"; they are added to those
 *           that were chosen before, and after a "+" to the usual ones
 * @return   NULL, or the first name that is no column, with the rest of @names
 */
const char *table_choose(struct table_style *style, const struct row_fields *type,
			 const char *names);

/** @return  whether a column was chosen */
bool table_has_column(const struct table_style *style, const char *name);

/** @return  whether a column is needed for what the style prints, or for its order */
bool table_shows(const struct table_style *style, const char *name);

/**
 * Choose the order of the rows.
 *
 * @keys     columns separated by commas, - in front of one: descending, +: ascending, neither: as
 *           field_is_amount() says
 * @return   NULL, or the first key that is no column, with the rest of @keys
 */
const char *table_sort(struct table_style *style, const struct row_fields *type, const char *keys);

/** Print which columns there are. */
void table_list_columns(struct writer *w, const struct row_fields *type);

/* A column, or in JSON a member. */
struct table_column {
	const struct field *field;
	size_t start_length;
	char start[TABLE_START]; /* what precedes its value in each row */
};

struct table_cell {
	size_t text; /* its offset in the text of the table */
	uint32_t width;
	uint8_t color;
	int8_t bar; /* filled parts, or -1 */
};

struct table {
	/* Set by the caller before the first row; all else is zero: */
	struct writer *out;
	const struct row_fields *type;
	const struct table_style *style;
	const char *key;       /* of its array in the JSON document */
	bool single;	       /* JSON: one object instead of an array */
	bool follows;	       /* its rows follow those of a table with left_open */
	bool after_rows;       /* that table had rows */
	bool left_open;	       /* another table follows: do not end the JSON document */
	const char *count_key; /* JSON: the key of @count after the rows, or NULL */
	uint64_t count;

	/* Private to table.c and aligned.c: */
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
	int width[TABLE_COLUMNS_MAX]; /* of each column on the terminal */
};

/** Print rows of a type that has other usual columns, also where some were added to the usual ones. */
void table_use(struct table *table, struct table_style *style, const struct row_fields *type);

/** Print a row, or hold it. The first call also prints the beginning of the table. @return  0 or -ENOMEM */
int table_row(struct table *table, const void *row);

/** Print the rows that are held, end the table, and free its memory. @return  0 or -ENOMEM */
int table_end(struct table *table);

/* --- aligned.c: for table.c --- */

/** @return  how many columns the terminal has; 0: @fd is no terminal */
int terminal_width(int fd);

/** @return  whether to use colors: by option, or on a terminal unless the environment forbids it: no-color.org */
bool table_wants_colors(const struct table_style *style, int fd);

/** Hold the cells of a row. @return  0 or -ENOMEM */
int aligned_row(struct table *table, const void *row);

/** Print the cells that are held, and free them. */
void aligned_end(struct table *table);

#endif
