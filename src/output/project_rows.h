/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Projects as the native commands show them: a table for people (--raw and --pairs for scripts), or
 * JSON. The table is drawn by libsmartcols; JSON is written row by row.
 */
#ifndef FSQ_PROJECT_ROWS_H
#define FSQ_PROJECT_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rows.h"
#include "shared/writer.h"

#define ROW_NOT_KNOWN UINT64_MAX

/* A directory, or in a list a project. */
struct project_row {
	const char *path;		/* or NULL: not known */
	const char *const *directories; /* in a list: all that are known, else NULL */
	size_t directory_count;
	uint32_t id;
	const char *name;		  /* or NULL */
	uint64_t used_bytes, used_inodes; /* ROW_NOT_KNOWN: not known */
	/* 0: no limit */
	uint64_t soft_bytes, hard_bytes;
	uint64_t soft_inodes, hard_inodes;
	int64_t bytes_grace_seconds, inodes_grace_seconds; /* ROW_NO_GRACE: it does not run */
	const char *source;				   /* "quota", "walk" or "statfs" */
	const char *filesystem;
	const char *mountpoint;
	bool accounting, enforced;
	bool at_least; /* the hard limits, and a use that has reached its one; soft ones: not known */
	bool walked;   /* the tree; in JSON: */
	uint64_t mounts_skipped;
	enum row_change change; /* by the command; in JSON */
	bool would;
};

/** How full: of bytes or inodes what is nearer to its hard limit, or soft one without; -1: no
 * limit. */
double project_row_percent(const struct project_row *row);

enum project_format { PROJECT_TABLE, PROJECT_RAW, PROJECT_PAIRS };

#define PROJECT_COLUMNS_MAX 32

struct project_style {
	const char *usual; /* the columns where none are chosen, as project_columns() takes them */
	enum project_format format;
	bool no_headings;
	enum { COLOR_AUTO, COLOR_NEVER, COLOR_ALWAYS } color;
	bool colored; /* what that means where it is printed */
	bool bytes;   /* instead of sizes for people, and seconds instead of times */
	int columns[PROJECT_COLUMNS_MAX];
	size_t column_count;
	bool has_over; /* only rows from this percentage on; also in JSON, as the order */
	double over;
	int sort[PROJECT_COLUMNS_MAX]; /* the column + 1, negative: descending; see project_order.h */
	size_t sort_count;
};

/**
 * Choose columns.
 *
 * @names    separated by commas, in any case, or "all"; with + in front they are added
 * @return   NULL, or the name that is no column, up to the end of @names
 */
const char *project_columns(struct project_style *style, const char *names);

/** @return  the number of the column of that name in any case, or -1 */
int project_column(const char *name, size_t length);

/**
 * Compare two rows by a column. A row whose cell is empty comes last, ascending or descending.
 *
 * @return   as strcmp(3)
 */
int project_rows_compare(const struct project_row *one, const struct project_row *other, int column,
			 bool descending);

/** Print what columns there are. */
void project_columns_list(struct writer *w);

/* Rows on their way out. */
struct project_output;

/**
 * Begin to print.
 *
 * @key      of the JSON document
 * @single   JSON with one object instead of an array
 * @json     JSON; then of the style only @over and @sort matter
 * @return   NULL without memory
 */
struct project_output *project_output_begin(struct writer *w, const struct project_style *style,
					    const char *key, bool single, bool json);

/** @return  0 or -ENOMEM */
int project_output_row(struct project_output *output, const struct project_row *row);

/* All projects of a filesystem. */
struct project_total {
	const char *filesystem;
	const char *mountpoint;
	uint64_t size_bytes, used_bytes; /* of the filesystem */
	uint64_t hard_bytes;		 /* the sum of the hard limits */
	uint64_t excess_bytes;		 /* how far it is above the size; computed */
	uint64_t unlimited;		 /* projects without a hard limit of space */
};

/** Print it behind the rows. @return  0 or -ENOMEM */
int project_output_total(struct project_output *output, const struct project_total *total);

/** Print what is left, and free it. @return  0 or -ENOMEM */
int project_output_end(struct project_output *output);

#endif
