/* SPDX-License-Identifier: Apache-2.0 */
#include "prune.h"

#include <errno.h>

#include "limits.h"
#include "quota/base/error.h"
#include "quota/mounts/filesystem.h"

/* @return   0, 1 to end, or a failure */
static int tell(struct fsq_prune *p, struct fsq_leftover *leftover)
{
	if (fsq_is_cancelled(p->request->options))
		return fsq_fail(p->err, FSQ_E_FAILED, EINTR, NULL, "stopped");
	return p->visit(leftover, p->arg) == FSQ_VISIT_STOP;
}

static int take_limits_off(struct fsq_prune *p, const struct fsq_volume *volume,
			   const struct fsq_dquot *dquot)
{
	struct fsq_limits none = { 0 };
	int rc;

	if (!fsq_prune_is_limited(dquot))
		return 0;
	none.mask = fsq_limits_of(dquot).mask;
	rc = -fsq_quota_set_limits(volume->fs, FSQ_PROJECT, dquot->id, &none);
	if (rc)
		return fsq_fail(p->err, fsq_error_kind_of(rc), rc,
				fsq_filesystem_get_info(volume->fs)->directory,
				"cannot set the limits of project %u", dquot->id);
	return 0;
}

static void put_limits_back(const struct fsq_volume *volume, const struct fsq_dquot *dquot)
{
	const struct fsq_limits none = { 0 }, limits = fsq_limits_of(dquot);

	if (fsq_prune_is_limited(dquot))
		fsq_limits_put_back(&volume->fs->place.target, dquot->id, &none, &limits);
}

/* Limits first: without them the line is found again; without the line they may not be. */
static int remove_all(struct fsq_prune *p, const struct fsq_volume *volume,
		      const struct fsq_leftover *leftover, const struct fsq_dquot *dquot)
{
	bool shared = fsq_project_edit_is_shared(p->edit, leftover->id, leftover->directory);
	int rc = shared || !volume ? 0 : take_limits_off(p, volume, dquot);

	if (rc || fsq_registry_or_default(p->request->registry)->none)
		return rc;
	rc = fsq_project_edit_remove(p->edit, leftover->id, leftover->directory, true, p->err);
	if (rc && !shared && volume)
		put_limits_back(volume, dquot);
	return rc;
}

/* With the locks: what was seen may not be so any more. */
static int remove_line(struct fsq_prune *p, const struct fsq_volume *volume,
		       struct fsq_leftover *leftover)
{
	enum fsq_presence presence = fsq_volumes_find(&p->volumes, leftover->directory, &volume);
	struct fsq_dquot dquot = { .id = leftover->id };
	uint32_t id;
	int rc = 0;

	if (presence == FSQ_ELSEWHERE ||
	    !fsq_project_edit_id_of(p->edit, leftover->directory, &id) || id != leftover->id)
		return 1;
	if (volume->has_quota)
		rc = fsq_prune_read_quota(p, volume, id, &dquot);
	if (rc == 0)
		rc = fsq_prune_judge_line(p, volume, presence, &dquot, leftover);
	if (rc == 0 && leftover->kept == FSQ_NOT_KEPT)
		rc = remove_all(p, volume->has_quota ? volume : NULL, leftover, &dquot);
	return rc;
}

static int remove_limits(struct fsq_prune *p, const struct fsq_volume *volume,
			 struct fsq_leftover *leftover)
{
	struct fsq_dquot dquot;
	int rc = fsq_prune_read_quota(p, volume, leftover->id, &dquot);

	if (rc)
		return rc;
	if (fsq_limits_are_used(&dquot) || !fsq_prune_is_limited(&dquot) ||
	    fsq_project_edit_is_shared(p->edit, leftover->id, NULL))
		return 1;
	return take_limits_off(p, volume, &dquot);
}

static int remove_name(struct fsq_prune *p, struct fsq_leftover *leftover)
{
	bool known;
	int rc = fsq_prune_is_known(p, leftover->id, &known);

	if (rc)
		return rc;
	if (known || fsq_project_edit_is_shared(p->edit, leftover->id, NULL) ||
	    !fsq_project_edit_has_name(p->edit, leftover->id))
		return 1;
	return fsq_project_edit_remove(p->edit, leftover->id, NULL, true, p->err);
}

/* With the locks. @return  0, 1 when there is nothing to be removed any more, or a failure */
static int remove_leftover(struct fsq_prune *p, const struct fsq_volume *volume,
			   struct fsq_leftover *leftover)
{
	switch (leftover->kind) {
	case FSQ_LEFTOVER_LIMITS:
		return remove_limits(p, volume, leftover);
	case FSQ_LEFTOVER_NAME:
		return remove_name(p, leftover);
	default:
		return remove_line(p, volume, leftover);
	}
}

int fsq_prune_settle(struct fsq_prune *p, const struct fsq_volume *volume,
		     struct fsq_leftover *leftover)
{
	int rc = 0;

	if (leftover->kept == FSQ_NOT_KEPT && !p->request->dry_run) {
		rc = fsq_project_edit_lock(p->edit, false, p->err);
		if (rc == 0)
			rc = remove_leftover(p, volume, leftover);
		fsq_project_edit_unlock(p->edit);
		if (rc == 1)
			return 0;
	}
	return rc ? rc : tell(p, leftover);
}
