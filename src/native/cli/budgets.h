/* SPDX-License-Identifier: Apache-2.0 */
/* What limits may add up to: the words budget and overcommit of fsquota.conf(5) and fsquota.d(5). */
#ifndef FSQ_BUDGETS_H
#define FSQ_BUDGETS_H

#include "quota/fsquota.h"
#include "native/rows/projects.h"

/**
 * Add a budget to those of the session.
 *
 * @key      "budget", of a size, or "overcommit", of percent
 * @directory absolute; NULL with overcommit: of each filesystem
 * @return   0, -EINVAL the value is none, or -ENOMEM
 */
int budgets_add(struct session *session, const char *key, const char *directory, const char *value);

/** Warn of a limit that was set with --force. @over  or NULL */
void budgets_warn(struct session *session, const char *path, const struct fsq_budget *over);

/** @return  the directory of a budget, or the mount point of its filesystem; NULL without one */
const char *budgets_where(const struct fsq_budget *budget, const char *mountpoint);

/** @return  the filesystem of a budget's directory; 0: it is not there, or an error was reported */
dev_t budgets_dev(struct session *session, const struct fsq_budget *budget);

/** @return what the limits of a filesystem may add up to, in bytes; FIELD_NOT_KNOWN: unlimited */
uint64_t budgets_of_filesystem(struct session *session, dev_t dev, uint64_t size_bytes);

/**
 * In a dry run a limit was removed: the next operands may use its room.
 *
 * @hard     the hard limit of space, in basic blocks
 */
void budgets_plan_release(struct session *session, const char *directory, uint64_t hard);

/* --- totals.c: what limits add up to, of filesystems and of directories that have a budget --- */

/* What all projects of a filesystem add up to, or those of a directory that has a budget. */
struct total_row {
	dev_t dev;
	uint64_t size_bytes;   /* of the filesystem, or FIELD_NOT_KNOWN */
	uint64_t used_bytes;   /* on it, or by the projects */
	uint64_t hard_bytes;   /* the sum of the hard limits */
	uint64_t budget_bytes; /* or FIELD_NOT_KNOWN */
	uint64_t excess_bytes; /* how far they are above the size, or the budget */
	uint64_t unlimited;    /* projects without a hard limit of space */
	const char *path;      /* of a directory that has a budget, or NULL */
	const char *filesystem, *mountpoint;
};

extern const struct row_fields total_rows;

/** @return  whether the limits add up to more than they may */
bool totals_is_exceeded(const struct total_row *row);

/**
 * Visit the totals of each filesystem whose records were all read, and of each directory on it that has a
 * budget; failures are reported.
 *
 * @projects read, with sums
 */
void totals_each(struct projects *projects, void (*visit)(const struct total_row *row, void *arg),
		 void *arg);

/**
 * Print the totals after the rows of another table.
 *
 * @only_exceeded  of what the scopes want, those that are
 * @quiet    print nothing
 * @return   whether a budget is exceeded
 */
bool totals_show(struct projects *projects, bool only_exceeded, bool quiet);

#endif
