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

#include "writer.h"

/* A directory, or in a list a project. */
struct project_row {
	const char *path;
	const char *const *directories; /* in a list: all that are known, else NULL */
	size_t directory_count;
	uint32_t id;
	const char *name; /* or NULL */
	uint64_t used_bytes, used_inodes;
	/* 0: no limit */
	uint64_t soft_bytes, hard_bytes;
	uint64_t soft_inodes, hard_inodes;
	const char *source; /* "quota", "walk" or "statfs" */
	const char *filesystem;
	const char *mountpoint;
	bool accounting, enforced;
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
	bool bytes; /* instead of sizes for people */
	int columns[PROJECT_COLUMNS_MAX];
	size_t column_count;
};

/**
 * Choose columns.
 *
 * @names    separated by commas, in any case, or "all"; with + in front they are added
 * @return   NULL, or the name that is no column, up to the end of @names
 */
const char *project_columns(struct project_style *style, const char *names);

/** Print what columns there are. */
void project_columns_list(struct writer *w);

/* Rows on their way out. */
struct project_output;

/**
 * Begin to print.
 *
 * @key      of the JSON document
 * @single   JSON with one object instead of an array
 * @json     JSON; then the style is ignored
 * @return   NULL without memory
 */
struct project_output *project_output_begin(struct writer *w, const struct project_style *style,
					    const char *key, bool single, bool json);

/** @return  0 or -ENOMEM */
int project_output_row(struct project_output *output, const struct project_row *row);

/** Print what is left, and free it. @return  0 or -ENOMEM */
int project_output_end(struct project_output *output);

#endif
