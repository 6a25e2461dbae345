/* SPDX-License-Identifier: Apache-2.0 */
/* The limits of an assignment, and who is subject to them. */
#include "assignment.h"
#include "budget.h"
#include "limits.h"
#include "quota/base/error.h"
#include "quota/kernel/fs_type.h"
#include "quota/kernel/space.h"

int fsq_assignment_read_quota(struct fsq_assignment *a, struct fsq_dquot *dquot,
			      struct fsq_error *err)
{
	const struct fsq_planned *planned = fsq_assign_plan_of_id(a->plan, a->dev, a->id);
	int rc = fsq_limits_read(&a->directory.target, a->id, true, dquot, a->directory.path, err);

	if (rc)
		return rc;
	a->limits_before = planned ? planned->limits : fsq_limits_of(dquot);
	return 0;
}

int fsq_assign_read_request(struct fsq_assign_request *all,
			    const struct fsq_assign_request *request, struct fsq_error *err)
{
	int rc = fsq_read_request(all, sizeof(*all), offsetof(struct fsq_assign_request, budgets),
				  request, request->size, err);

	if (rc)
		return rc;
	fsq_limits_add(&all->limits, all->soft_bytes, all->hard_bytes, all->soft_inodes,
		       all->hard_inodes);
	if (all->keep_limits && (fsq_assign_wants_limits(all) || all->unlimited || all->make))
		return fsq_fail(err, FSQ_E_USAGE, 0, request->directory,
				"cannot both keep its limits and get others");
	return 0;
}

bool fsq_assign_wants_limits(const struct fsq_assign_request *request)
{
	return request->limits.mask != 0 || request->hard_percent || request->soft_percent;
}

/* Compute @limits_after from the current limits and the request. */
static int find_limits(struct fsq_assignment *a, struct fsq_error *err)
{
	struct fsq_limits *asked = &a->asked;
	uint64_t hard = asked->mask & FSQ_HARD(FSQ_BLOCKS) ? asked->hard[FSQ_BLOCKS]
							   : a->limits_before.hard[FSQ_BLOCKS];

	if (a->request->soft_percent && fsq_limit_is_none(hard))
		return fsq_fail(err, FSQ_E_USAGE, 0, a->directory.path,
				"has no hard limit that the soft one could be a part of");
	if (a->request->soft_percent) {
		asked->soft[FSQ_BLOCKS] = hard * a->request->soft_percent / 100;
		asked->mask |= FSQ_SOFT(FSQ_BLOCKS);
	}
	/* Kept limits may be none: then the kernel only counts. */
	a->limits_after = a->request->keep_limits ? a->limits_before
						  : fsq_limits_wanted(&a->limits_before, asked,
								      a->request->unlimited,
								      a->directory.target.fd);
	return 0;
}

/* Here @limits_after still has all limits. */
static int check_budgets(struct fsq_assignment *a, struct fsq_error *err)
{
	struct fsq_budget_check check = {
		.budgets = a->request->budgets,
		.count = a->request->budget_count,
		.force = a->request->over_budget,
		.dry_run = a->request->dry_run,
		.handle = &a->directory,
		.path = a->unmade ? a->unmade : a->directory.path,
		.id = a->id,
		.before = a->limits_before.hard[FSQ_BLOCKS],
		.after = a->limits_after.hard[FSQ_BLOCKS],
		.edit = a->edit,
	};
	int rc = fsq_budget_check(&check, err);

	a->over_budget = check.over;
	return rc;
}

int fsq_assignment_set_limits(struct fsq_assignment *a, struct fsq_error *err)
{
	int rc = find_limits(a, err);

	if (rc == 0)
		rc = check_budgets(a, err);
	if (rc || !fsq_limits_leave_changed(&a->limits_after, &a->limits_before))
		return rc;
	rc = fsq_limits_set(&a->directory.target, a->id, &a->limits_after, a->request->dry_run,
			    a->directory.path, err);
	a->limited = rc == 0 && !a->request->dry_run;
	return rc;
}

void fsq_assignment_unset_limits(struct fsq_assignment *a)
{
	if (a->limited)
		fsq_limits_put_back(&a->directory.target, a->id, &a->limits_after,
				    &a->limits_before);
	a->limited = false;
}

int fsq_assignment_find_asked(struct fsq_assignment *a, struct fsq_error *err)
{
	struct fsq_space space[FSQ_FORMS];
	int rc;

	a->asked = a->request->limits;
	if (!a->request->hard_percent)
		return 0;
	/* Ask at the mount point: in a directory with a project statfs(2) shows the project's limit. */
	rc = fsq_handle_find_mount(&a->directory, err);
	if (rc)
		return rc;
	rc = fsq_space_get(a->directory.mount.directory, fsq_is_xfs(a->directory.target.fd), space);
	if (rc)
		return fsq_fail(err, FSQ_E_FAILED, -rc, a->directory.path,
				"cannot ask for the size of the filesystem");
	a->asked.hard[FSQ_BLOCKS] =
		space[FSQ_BLOCKS].total / FSQ_BASIC_BLOCK * a->request->hard_percent / 100;
	a->asked.mask |= FSQ_HARD(FSQ_BLOCKS);
	return 0;
}

int fsq_assignment_check_enforcement(struct fsq_assignment *a, struct fsq_error *err)
{
	const struct stat made = {
		.st_mode = a->request->mode ? a->request->mode : FSQ_NEW_MODE,
		.st_uid = a->request->owner,
	};
	int rc;

	if (!fsq_assign_wants_limits(a->request) && !a->request->require_enforced)
		return 0;
	rc = fsq_enforcement_get(&a->directory, a->unmade ? &made : NULL, &a->enforcement,
				 &a->space, err);
	if (rc || !a->request->require_enforced || a->enforcement == FSQ_ENFORCED)
		return rc;
	if (a->enforcement == FSQ_NOT_ENFORCED)
		rc = fsq_fail(err, FSQ_E_NOT_SUPPORTED, 0, a->directory.path,
			      "limits are not enforced on this filesystem");
	else
		rc = fsq_fail(err, FSQ_E_NOT_SUPPORTED, 0, a->directory.path,
			      "can be written by root alone, who passes every limit on this "
			      "filesystem");
	return fsq_add_hint(err, FSQ_HINT_ENFORCE, rc);
}
