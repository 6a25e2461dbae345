/* SPDX-License-Identifier: Apache-2.0 */
#include "prune.h"

#include <errno.h>

#include "limits.h"
#include "quota/base/error.h"
#include "quota/mounts/filesystem.h"
#include "shared/array.h"

static int take_limits_off(struct fsq_prune *p, struct fsq_removal *removal,
			   const struct fsq_volume *volume, const struct fsq_dquot *dquot)
{
	struct fsq_limits none = { .mask = fsq_limits_of(dquot).mask };
	int rc;

	if (!fsq_dquot_is_limited(dquot))
		return 0;
	rc = -fsq_quota_set_limits(volume->fs, FSQ_PROJECT, dquot->id, &none);
	if (rc)
		return fsq_fail(p->err, fsq_error_kind_of(rc), rc,
				fsq_filesystem_get_info(volume->fs)->directory,
				"cannot set the limits of project %u", dquot->id);
	removal->limits_off = volume;
	removal->before = *dquot;
	return 0;
}

static void put_limits_back(struct fsq_removal *removal)
{
	const struct fsq_limits none = { 0 }, limits = fsq_limits_of(&removal->before);

	if (removal->limits_off)
		fsq_limits_put_back(&removal->limits_off->fs->place.target, removal->leftover.id,
				    &none, &limits);
	removal->limits_off = NULL;
}

/* @directory NULL: only the names */
static int remove_lines(struct fsq_prune *p, uint32_t id, const char *directory)
{
	int rc;

	if (fsq_registry_or_default(p->request->registry)->none)
		return 0;
	rc = fsq_project_edit_remove(p->edit, id, directory, true, p->err);
	p->torn |= rc != 0;
	p->has_removed_lines = true;
	return rc;
}

/* Limits first: by them the line is known to be of this file system. */
static int remove_line(struct fsq_prune *p, struct fsq_removal *removal)
{
	struct fsq_leftover *leftover = &removal->leftover;
	struct fsq_dquot dquot = { .id = leftover->id };
	const struct fsq_volume *volume;
	enum fsq_presence presence = fsq_volumes_find(&p->volumes, leftover->directory, &volume);
	uint32_t id;
	int rc = 0;

	if (presence == FSQ_ELSEWHERE ||
	    !fsq_project_edit_id_of(p->edit, leftover->directory, &id) || id != leftover->id)
		return 1;
	if (volume->has_quota && presence != FSQ_UNSEEN)
		rc = fsq_volume_read_quota(volume, id, &dquot, p->err);
	if (rc == 0)
		rc = fsq_prune_judge_line(p, volume, presence, &dquot, leftover);
	if (rc || leftover->kept != FSQ_NOT_KEPT)
		return rc;
	if (volume->has_quota && !fsq_project_edit_is_shared(p->edit, id, leftover->directory))
		rc = take_limits_off(p, removal, volume, &dquot);
	return rc ? rc : remove_lines(p, id, leftover->directory);
}

static int remove_limits(struct fsq_prune *p, struct fsq_removal *removal)
{
	uint32_t id = removal->leftover.id;
	struct fsq_dquot dquot;
	int rc = fsq_volume_read_quota(removal->volume, id, &dquot, p->err);

	if (rc)
		return rc;
	if (fsq_limits_are_used(&dquot) || !fsq_dquot_is_limited(&dquot) ||
	    fsq_project_edit_is_shared(p->edit, id, NULL))
		return 1;
	return take_limits_off(p, removal, removal->volume, &dquot);
}

static int remove_name(struct fsq_prune *p, uint32_t id)
{
	bool known;
	int rc = fsq_prune_is_known(p, id, &known);

	if (rc)
		return rc;
	if (known || fsq_project_edit_is_shared(p->edit, id, NULL) ||
	    !fsq_project_edit_has_name(p->edit, id))
		return 1;
	return remove_lines(p, id, NULL);
}

/* With the locks: what was seen may not be so any more. @return  0; 1 it has vanished; or a failure */
static int remove_leftover(struct fsq_prune *p, struct fsq_removal *removal)
{
	if (fsq_is_cancelled(p->request->options))
		return fsq_fail(p->err, FSQ_E_FAILED, EINTR, NULL, "stopped");
	switch (removal->leftover.kind) {
	case FSQ_LEFTOVER_LIMITS:
		return remove_limits(p, removal);
	case FSQ_LEFTOVER_NAME:
		return remove_name(p, removal->leftover.id);
	default:
		return remove_line(p, removal);
	}
}

/* Those that limits are to be taken from. */
static void wait_thawed(void *arg)
{
	struct fsq_prune *p = arg;

	for (size_t i = 0; i < p->volumes.count; i++) {
		struct fsq_volume *volume = &p->volumes.list[i];
		bool is_used = false;

		for (size_t at = 0; volume->has_quota && at < p->queued && !is_used; at++)
			is_used = p->queue[at].volume == volume &&
				  p->queue[at].leftover.kept == FSQ_NOT_KEPT;
		if (is_used)
			fsq_quotactl_wait_thawed(&volume->fs->place.target);
	}
}

/*
 * What cannot be removed ends it, and what was removed before stays so, unless a file cannot be
 * written: then nothing of the batch is removed.
 * @done     set: how many of the queue may be told
 * @return   0 or a failure
 */
static int remove_queue(struct fsq_prune *p, size_t *done)
{
	int rc;

	fsq_project_edit_before_locks(p->edit, wait_thawed, p);
	rc = fsq_project_edit_lock(p->edit, false, p->err);
	*done = 0;
	p->torn = p->has_removed_lines = false;
	if (rc == 0)
		rc = fsq_project_edit_begin_batch(p->edit, p->err);
	if (rc)
		return rc;
	for (; *done < p->queued; ++*done) {
		struct fsq_removal *removal = &p->queue[*done];

		if (removal->leftover.kept != FSQ_NOT_KEPT)
			continue;
		rc = remove_leftover(p, removal);
		removal->vanished = rc == 1;
		if (rc && rc != 1)
			break;
		rc = 0;
	}
	if (!p->torn && p->has_removed_lines) {
		int synced = fsq_project_edit_sync_batch(p->edit, p->err);

		p->torn = synced != 0;
		if (synced)
			rc = synced;
	}
	if (p->torn) {
		fsq_project_edit_rollback(p->edit);
		for (size_t i = 0; i < p->queued; i++)
			put_limits_back(&p->queue[i]);
		*done = 0;
	}
	return rc;
}

int fsq_prune_flush(struct fsq_prune *p)
{
	size_t done = p->queued;
	int rc = 0, told = 0;

	if (p->to_remove > 0) {
		rc = p->request->dry_run ? fsq_project_edit_lock(p->edit, false, p->err)
					 : remove_queue(p, &done);
		if (rc && p->request->dry_run)
			done = 0;
		fsq_project_edit_unlock(p->edit);
	}
	for (size_t i = 0; i < done && told == 0; i++)
		if (!p->queue[i].vanished)
			told = p->visit(&p->queue[i].leftover, p->arg) == FSQ_VISIT_STOP;
	p->queued = p->to_remove = 0;
	return rc ? rc : told;
}

int fsq_prune_settle(struct fsq_prune *p, const struct fsq_volume *volume,
		     const struct fsq_leftover *leftover)
{
	bool remove = leftover->kept == FSQ_NOT_KEPT;
	struct fsq_removal *queue;

	if (fsq_is_cancelled(p->request->options))
		return fsq_fail(p->err, FSQ_E_FAILED, EINTR, NULL, "stopped");
	if (!remove && p->queued == 0)
		return p->visit(leftover, p->arg) == FSQ_VISIT_STOP;
	queue = array_grow(p->queue, p->queued, &p->queue_capacity, sizeof(*queue));
	if (!queue)
		return fsq_fail(p->err, FSQ_E_FAILED, ENOMEM, NULL, "cannot go on");
	p->queue = queue;
	queue[p->queued++] = (struct fsq_removal){ .leftover = *leftover, .volume = volume };
	p->to_remove += remove;
	return p->to_remove < p->batch ? 0 : fsq_prune_flush(p);
}
