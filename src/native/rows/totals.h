/* SPDX-License-Identifier: Apache-2.0 */
/* The sums of limits on filesystems, and on directories that have a budget. */
#ifndef FSQ_TOTALS_H
#define FSQ_TOTALS_H

#include "projects.h"

/* The totals of all projects of a filesystem, or of those below a directory that has a budget. */
struct total_row {
	dev_t dev;
	uint64_t size_bytes;   /* of the filesystem, or FIELD_NOT_KNOWN */
	uint64_t used_bytes;   /* on the filesystem, or by the projects below @path */
	uint64_t hard_bytes;   /* the sum of the hard limits */
	uint64_t budget_bytes; /* or FIELD_NOT_KNOWN */
	uint64_t excess_bytes; /* hard_bytes minus the budget or the size, or 0 */
	uint64_t unlimited;    /* projects without a hard limit of space */
	const char *path;      /* directory that has a budget, or NULL */
	const char *filesystem, *mountpoint;
};

extern const struct row_fields total_rows;

/** @return  whether the sum of the hard limits exceeds the budget */
bool totals_is_exceeded(const struct total_row *row);

/**
 * Visit the totals of each filesystem whose records were all read, and of each directory on it that has a
 * budget; failures are reported.
 *
 * @projects that were read, with want_sums
 */
void totals_each(struct projects *projects, void (*visit)(const struct total_row *row, void *arg),
		 void *arg);

/**
 * Print the totals after the rows of another table.
 *
 * @only_exceeded  only rows in the scopes whose budget is exceeded
 * @quiet          print nothing
 * @return   whether a budget is exceeded
 */
bool totals_show(struct projects *projects, bool only_exceeded, bool quiet);

#endif
