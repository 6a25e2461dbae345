/* SPDX-License-Identifier: Apache-2.0 */
/* The limits of an assignment, and whom they stop. */
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

/* @limits_after, from what there is and what is asked for. */
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
	a->limits_after = fsq_limits_wanted(&a->limits_before, asked, a->request->unlimited,
					    a->directory.target.fd);
	return 0;
}

/* @limits_after has all limits still. */
static int check_budgets(struct fsq_assignment *a, struct fsq_error *err)
{
	struct fsq_budget_check check = {
		.budgets = a->request->budgets,
		.count = a->request->budget_count,
		.force = a->request->over_budget,
		.dry_run = a->request->dry_run,
		.place = &a->directory,
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

static bool wants_limits(const struct fsq_assign_request *request)
{
	return request->limits.mask != 0 || request->hard_percent || request->soft_percent;
}

int fsq_assignment_find_asked(struct fsq_assignment *a, struct fsq_error *err)
{
	struct fsq_space space[FSQ_FORMS];
	int rc;

	a->asked = a->request->limits;
	if (!a->request->hard_percent)
		return 0;
	/* As the mount point sees it: a directory with a project sees its limit. */
	rc = fsq_place_find_mount(&a->directory, err);
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

	if (!wants_limits(a->request) && !a->request->require_enforced)
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
