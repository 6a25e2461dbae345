/* SPDX-License-Identifier: Apache-2.0 */
/* Does a limit fit in what the hard limits may add up to? */
#ifndef FSQ_BUDGET_H
#define FSQ_BUDGET_H

#include "quota/mounts/handle.h"
#include "quota/registry/project_edit.h"

struct fsq_budget_use {
	uint64_t budget_bytes;
	uint64_t hard_bytes; /* the sum of the hard limits */
	uint64_t used_bytes;
	uint64_t projects,
		unlimited; /* with use or limits, and those of them without a hard limit */
};

/* A hard limit of space that is about to be set. */
struct fsq_budget_check {
	struct fsq_budget *budgets;
	size_t count;
	bool force, dry_run;
	struct fsq_handle *handle; /* on its filesystem */
	const char *path;	   /* of the directory that joins the project, or NULL */
	uint32_t id;
	uint64_t before, after; /* basic blocks */
	const struct fsq_project_edit
		*edit; /* locked, so that nobody else registers a directory meanwhile */
	const struct fsq_budget *over; /* set: one that is exceeded, or NULL */
};

/**
 * Check a limit that grows. A dry run adds it to the sum that its later checks start from.
 *
 * @return   0; FSQ_E_CONFLICT it does not fit; FSQ_E_FAILED
 */
int fsq_budget_check(struct fsq_budget_check *check, struct fsq_error *err);

/**
 * Find out what is promised from the budget of a directory, and how much of that is used.
 *
 * @projects_file NULL: /etc/projects
 * @return   0; FSQ_E_NOT_FOUND no such directory; FSQ_E_NOT_SUPPORTED no project quota here;
 *           FSQ_E_PERMISSION; FSQ_E_FAILED
 * Source: quotactl(2), Q_XGETQUOTA; projects(5)
 */
int fsq_budget_get(const struct fsq_budget *budget, const char *projects_file,
		   struct fsq_budget_use *use, struct fsq_error *err);

#endif
