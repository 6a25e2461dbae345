/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What directories that are gone have left: lines, names and limits.
 *
 * Everything is looked at twice: without locks, and again under the locks of both files just before
 * it is removed. The locks are held for one removal at a time, for kubelet and fsq_assign() may
 * want them. An assignment that is being made has its ID on the directory before anything else, so
 * the kernel counts at least one inode with it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "allocate.h"
#include "limits.h"
#include "quota/base/error.h"
#include "quota/mounts/filesystem.h"
#include "quota/registry/entries.h"
#include "volumes.h"

/* XFS counts deleted files until it has cleaned up behind them. */
#define LOOKS 50

struct prune {
	const struct fsq_prune_request *request;
	fsq_leftover_visitor visit;
	void *arg;
	struct fsq_id_range range;
	struct fsq_volumes volumes;
	dev_t *chosen; /* file systems */
	size_t chosen_count;
	struct fsq_id_set *seen; /* of each file system, at its first volume: has use or limits */
	struct fsq_project_edit *edit;
	int looks;
	struct fsq_error *err;
};

/* --- what is seen --- */

/* @return   0, 1 to end, or a failure */
static int tell(struct prune *p, struct fsq_leftover *leftover)
{
	if (fsq_is_cancelled(p->request->options))
		return fsq_fail(p->err, FSQ_E_FAILED, EINTR, NULL, "stopped");
	return p->visit(leftover, p->arg) == FSQ_VISIT_STOP;
}

static bool is_chosen(const struct prune *p, const struct fsq_volume *volume)
{
	dev_t dev = fsq_filesystem_get_info(volume->fs)->dev;

	for (size_t i = 0; i < p->chosen_count; i++)
		if (p->chosen[i] == dev)
			return true;
	return p->request->path_count == 0;
}

static bool is_in_range(const struct prune *p, uint32_t id)
{
	return id >= p->range.first && id <= p->range.last;
}

/* @return   0 or a failure; no record: no use and no limits */
static int read_quota(struct prune *p, const struct fsq_volume *volume, uint32_t id,
		      struct fsq_dquot *dquot)
{
	return fsq_limits_read(&volume->fs->place.target, id, true, dquot,
			       volume->fs->info.directory, p->err);
}

/* Patience for deleted files is that of the whole run. */
static int read_settled_quota(struct prune *p, const struct fsq_volume *volume, uint32_t id,
			      struct fsq_dquot *dquot)
{
	return fsq_limits_read_settled(&volume->fs->place.target, id, &p->looks, dquot,
				       volume->fs->info.directory, p->err);
}

static bool is_limited(const struct fsq_dquot *dquot)
{
	const struct fsq_limits limits = fsq_limits_of(dquot), none = { 0 };

	return !fsq_limits_are_same(&limits, &none);
}

static bool has_anything(const struct fsq_dquot *dquot)
{
	return fsq_limits_are_used(dquot) || is_limited(dquot);
}

static struct fsq_id_set *seen_on(const struct prune *p, const struct fsq_volume *volume)
{
	return &p->seen[volume->first];
}

static bool is_first(const struct prune *p, const struct fsq_volume *volume)
{
	return volume == &p->volumes.list[volume->first];
}

/*
 * While the directory of a pod exists, kubelet takes the pod up at its next start, and its volumes
 * with the IDs that /etc/projects has for them: .../pods/UID/volumes/...
 */
static bool is_of_living_pod(struct prune *p, const char *directory)
{
	const struct fsq_volume *volume;
	const char *pods = strstr(directory, "/pods/");
	const char *end = pods ? strchr(pods + strlen("/pods/"), '/') : NULL;
	bool living;
	char *pod;

	if (!end || strncmp(end, "/volumes/", strlen("/volumes/")) != 0)
		return false;
	pod = strndup(directory, (size_t)(end - directory));
	living = !pod || fsq_volumes_find(&p->volumes, pod, &volume) == FSQ_PRESENT;
	free(pod);
	return living;
}

/* --- records --- */

/* @return   0; 1 there is none any more; or a failure */
static int next_quota(struct prune *p, const struct fsq_volume *volume, uint64_t id,
		      struct fsq_dquot *dquot)
{
	int rc = id > p->range.last
			 ? ENOENT
			 : -fsq_quota_get_next(volume->fs, FSQ_PROJECT, (uint32_t)id, dquot);

	if (rc == ENOENT || (rc == 0 && dquot->id > p->range.last))
		return 1;
	return rc ? fsq_fail(p->err, fsq_error_kind_of(rc), rc,
			     fsq_filesystem_get_info(volume->fs)->directory,
			     "cannot read project quotas")
		  : 0;
}

static int see_volume(struct prune *p, const struct fsq_volume *volume)
{
	uint64_t id = p->range.first;
	struct fsq_dquot dquot;
	int rc;

	while ((rc = next_quota(p, volume, id, &dquot)) == 0) {
		id = (uint64_t)dquot.id + 1;
		if (has_anything(&dquot) && fsq_id_set_add(seen_on(p, volume), dquot.id))
			return fsq_fail(p->err, FSQ_E_FAILED, ENOMEM, NULL, "cannot go on");
	}
	fsq_id_set_sort(seen_on(p, volume));
	return rc == 1 ? 0 : rc;
}

/* One call a record: most have a directory, and then that is all that must be known of them. */
static int see_volumes(struct prune *p)
{
	int rc = 0;

	p->seen = calloc(p->volumes.count + 1, sizeof(*p->seen));
	if (!p->seen)
		return fsq_fail(p->err, FSQ_E_FAILED, ENOMEM, NULL, "cannot go on");
	for (size_t i = 0; i < p->volumes.count && rc == 0; i++) {
		const struct fsq_volume *volume = &p->volumes.list[i];

		if (volume->has_quota && is_first(p, volume) && is_chosen(p, volume))
			rc = see_volume(p, volume);
	}
	return rc;
}

/* --- removing --- */

static int take_limits_off(struct prune *p, const struct fsq_volume *volume,
			   const struct fsq_dquot *dquot)
{
	struct fsq_limits none = { 0 };
	int rc;

	if (!is_limited(dquot))
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

	if (is_limited(dquot))
		fsq_limits_put_back(&volume->fs->place.target, dquot->id, &none, &limits);
}

/* Limits first: without them the line is found again; without the line they may not be. */
static int remove_all(struct prune *p, const struct fsq_volume *volume,
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

/* --- lines --- */

/* Decide, from what is seen now. @return  0, 1 when there is nothing to say, or a failure */
static int judge_line(struct prune *p, const struct fsq_volume *volume, enum fsq_presence presence,
		      const struct fsq_dquot *dquot, struct fsq_leftover *leftover)
{
	bool all = p->request->all;

	leftover->inodes = dquot->form[FSQ_INODES].used;
	leftover->kept = FSQ_NOT_KEPT;
	leftover->kind = FSQ_LEFTOVER_DIRECTORY;
	if (presence == FSQ_PRESENT) {
		/* A release was killed, unless somebody writes lines long before he uses them. */
		leftover->kind = FSQ_LEFTOVER_LINE;
		return !volume->has_quota || has_anything(dquot) || !is_in_range(p, leftover->id) ||
		       is_of_living_pod(p, leftover->directory);
	}
	if (!all && (presence == FSQ_UNMOUNTED || !volume->has_quota ||
		     (presence == FSQ_GONE_OR_UNMOUNTED && !is_limited(dquot))))
		leftover->kept = FSQ_KEPT_UNMOUNTED;
	else if (!all && fsq_limits_are_used(dquot))
		leftover->kept = FSQ_KEPT_USED;
	else if (!all && is_of_living_pod(p, leftover->directory))
		leftover->kept = FSQ_KEPT_POD;
	return 0;
}

/* With the locks: what was seen may not be so any more. */
static int remove_line(struct prune *p, const struct fsq_volume *volume,
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
		rc = read_quota(p, volume, id, &dquot);
	if (rc == 0)
		rc = judge_line(p, volume, presence, &dquot, leftover);
	if (rc == 0 && leftover->kept == FSQ_NOT_KEPT)
		rc = remove_all(p, volume->has_quota ? volume : NULL, leftover, &dquot);
	return rc;
}

/* @remove   does it with the locks; 1: there is nothing to be removed any more */
static int settle(struct prune *p, const struct fsq_volume *volume, struct fsq_leftover *leftover,
		  int (*remove)(struct prune *p, const struct fsq_volume *volume,
				struct fsq_leftover *leftover))
{
	int rc = 0;

	if (leftover->kept == FSQ_NOT_KEPT && !p->request->dry_run) {
		rc = fsq_project_edit_lock(p->edit, false, p->err);
		if (rc == 0)
			rc = remove(p, volume, leftover);
		fsq_project_edit_unlock(p->edit);
		if (rc == 1)
			return 0;
	}
	return rc ? rc : tell(p, leftover);
}

static int look_at_line(struct prune *p, const struct fsq_entry *line)
{
	struct fsq_leftover leftover = { .id = line->id, .directory = line->word };
	struct fsq_dquot dquot = { .id = line->id };
	const struct fsq_volume *volume;
	enum fsq_presence presence = fsq_volumes_find(&p->volumes, line->word, &volume);
	int rc = 0;

	if (presence == FSQ_ELSEWHERE || !is_chosen(p, volume) ||
	    (presence == FSQ_PRESENT && fsq_id_set_has(seen_on(p, volume), line->id)))
		return 0;
	leftover.mountpoint = fsq_filesystem_get_info(volume->fs)->directory;
	if (volume->has_quota)
		rc = presence == FSQ_PRESENT ? read_quota(p, volume, line->id, &dquot)
					     : read_settled_quota(p, volume, line->id, &dquot);
	if (rc == 0)
		rc = judge_line(p, volume, presence, &dquot, &leftover);
	if (rc)
		return rc == 1 ? 0 : rc;
	return settle(p, volume, &leftover, remove_line);
}

/* --- limits --- */

static int remove_limits(struct prune *p, const struct fsq_volume *volume,
			 struct fsq_leftover *leftover)
{
	struct fsq_dquot dquot;
	int rc = read_quota(p, volume, leftover->id, &dquot);

	if (rc)
		return rc;
	if (fsq_limits_are_used(&dquot) || !is_limited(&dquot) ||
	    fsq_project_edit_is_shared(p->edit, leftover->id, NULL))
		return 1;
	return take_limits_off(p, volume, &dquot);
}

static int look_at_limits(struct prune *p, const struct fsq_volume *volume, struct fsq_dquot *dquot)
{
	struct fsq_leftover leftover = {
		.kind = FSQ_LEFTOVER_LIMITS,
		.id = dquot->id,
		.mountpoint = fsq_filesystem_get_info(volume->fs)->directory,
	};
	int rc = read_quota(p, volume, dquot->id, dquot);

	if (rc == 0 && is_limited(dquot) && fsq_limits_are_used(dquot))
		rc = read_settled_quota(p, volume, dquot->id, dquot);
	if (rc || fsq_limits_are_used(dquot) || !is_limited(dquot))
		return rc;
	return settle(p, volume, &leftover, remove_limits);
}

static int look_at_volume(struct prune *p, const struct fsq_volume *volume,
			  const struct fsq_id_set *registered)
{
	const struct fsq_id_set *seen = seen_on(p, volume);
	struct fsq_dquot dquot;
	int rc = 0;

	for (size_t i = 0; i < seen->count && rc == 0; i++)
		if (!fsq_id_set_has(registered, seen->ids[i])) {
			dquot.id = seen->ids[i];
			rc = look_at_limits(p, volume, &dquot);
		}
	return rc;
}

/* --- names --- */

/* Does a file system have something of this ID? */
static int is_known(struct prune *p, uint32_t id, bool *known)
{
	int rc = 0;

	*known = false;
	for (size_t i = 0; i < p->volumes.count && rc == 0 && !*known; i++) {
		const struct fsq_volume *volume = &p->volumes.list[i];
		struct fsq_dquot dquot;

		if (!volume->has_quota || !is_first(p, volume))
			continue;
		rc = read_quota(p, volume, id, &dquot);
		*known = rc == 0 && has_anything(&dquot);
	}
	return rc;
}

static int remove_name(struct prune *p, const struct fsq_volume *none,
		       struct fsq_leftover *leftover)
{
	bool known;
	int rc = is_known(p, leftover->id, &known);

	(void)none;
	if (rc)
		return rc;
	if (known || fsq_project_edit_is_shared(p->edit, leftover->id, NULL) ||
	    !fsq_project_edit_has_name(p->edit, leftover->id))
		return 1;
	return fsq_project_edit_remove(p->edit, leftover->id, NULL, true, p->err);
}

static int look_at_name(struct prune *p, const struct fsq_entry *name,
			const struct fsq_id_set *registered)
{
	struct fsq_leftover leftover = {
		.kind = FSQ_LEFTOVER_NAME,
		.id = name->id,
		.name = name->word,
	};
	bool known;
	int rc;

	if (!is_in_range(p, name->id) || fsq_id_set_has(registered, name->id))
		return 0;
	rc = is_known(p, name->id, &known);
	return rc || known ? rc : settle(p, NULL, &leftover, remove_name);
}

/* --- all of it --- */

static int read_lines(struct prune *p, struct fsq_entries *lines)
{
	return fsq_entries_of_projects(
		lines, fsq_registry_or_default(p->request->registry)->projects_file, p->err);
}

static int collect_registered(struct prune *p, struct fsq_id_set *ids)
{
	struct fsq_entries lines;
	int rc = read_lines(p, &lines);

	for (size_t i = 0; i < lines.count && rc == 0; i++)
		if (fsq_id_set_add(ids, lines.list[i].id))
			rc = fsq_fail(p->err, FSQ_E_FAILED, ENOMEM, NULL, "cannot go on");
	fsq_id_set_sort(ids);
	fsq_entries_free(&lines);
	return rc;
}

static int prune_lines(struct prune *p)
{
	struct fsq_entries lines;
	int rc = read_lines(p, &lines);

	for (size_t i = 0; i < lines.count && rc == 0; i++)
		rc = look_at_line(p, &lines.list[i]);
	fsq_entries_free(&lines);
	return rc;
}

static int prune_limits(struct prune *p, const struct fsq_id_set *registered)
{
	int rc = 0;

	for (size_t i = 0; i < p->volumes.count && rc == 0; i++) {
		const struct fsq_volume *volume = &p->volumes.list[i];

		if (is_first(p, volume) && is_chosen(p, volume))
			rc = look_at_volume(p, volume, registered);
	}
	return rc;
}

static int prune_names(struct prune *p, const struct fsq_id_set *registered)
{
	const char *file = fsq_registry_or_default(p->request->registry)->projid_file;
	struct fsq_entries names;
	int rc = fsq_entries_of_projid(&names, file, p->err);

	for (size_t i = 0; i < names.count && rc == 0; i++)
		rc = look_at_name(p, &names.list[i], registered);
	fsq_entries_free(&names);
	return rc;
}

static int prune(struct prune *p)
{
	bool registry = !fsq_registry_or_default(p->request->registry)->none;
	struct fsq_id_set registered = { 0 };
	int rc = see_volumes(p);

	if (rc == 0 && registry)
		rc = prune_lines(p);
	if (rc == 0)
		rc = collect_registered(p, &registered);
	if (rc == 0)
		rc = prune_limits(p, &registered);
	/* A name is of no file system: what is chosen does not say whether it is needed. */
	if (rc == 0 && registry && p->request->path_count == 0)
		rc = prune_names(p, &registered);
	fsq_id_set_free(&registered);
	return rc == 1 ? 0 : rc;
}

/* @return   0; FSQ_E_NOT_SUPPORTED a file system that was named has no quota */
static int choose(struct prune *p)
{
	const struct fsq_prune_request *request = p->request;
	int rc = 0;

	p->chosen = calloc(request->path_count + 1, sizeof(*p->chosen));
	if (!p->chosen)
		return fsq_fail(p->err, FSQ_E_FAILED, ENOMEM, NULL, "cannot go on");
	for (size_t i = 0; i < request->path_count && rc == 0; i++) {
		struct fsq_filesystem *fs;
		struct fsq_state state;

		rc = fsq_filesystem_open(&fs, request->paths[i], NULL, 0, p->err);
		if (rc)
			return rc;
		p->chosen[p->chosen_count++] = fsq_filesystem_get_info(fs)->dev;
		if (fsq_quota_state(fs, FSQ_PROJECT, &state) || !state.accounting[FSQ_PROJECT])
			rc = fsq_add_hint(p->err, FSQ_HINT_MOUNT_WITH_QUOTA,
					  fsq_fail(p->err, FSQ_E_NOT_SUPPORTED, 0,
						   request->paths[i],
						   "there is no project quota on this filesystem"));
		fsq_filesystem_close(fs);
	}
	return rc;
}

int fsq_prune(const struct fsq_prune_request *request, fsq_leftover_visitor visit, void *arg,
	      struct fsq_error *err)
{
	struct prune p = {
		.request = request, .visit = visit, .arg = arg, .looks = LOOKS, .err = err
	};
	int rc = fsq_check_size(request, request->size, sizeof(*request), err);

	if (rc)
		return rc;
	p.range = request->all ? (struct fsq_id_range){ 1, FSQ_ID_MAX }
			       : fsq_allocate_range(&request->range, request->registry);
	p.edit = fsq_project_edit_new(request->registry, request->dry_run, request->options);
	rc = p.edit ? choose(&p) : fsq_fail(err, FSQ_E_FAILED, ENOMEM, NULL, "cannot go on");
	if (rc == 0)
		rc = fsq_volumes_open(&p.volumes, err);
	if (rc == 0)
		rc = prune(&p);
	for (size_t i = 0; p.seen && i < p.volumes.count; i++)
		fsq_id_set_free(&p.seen[i]);
	free(p.seen);
	fsq_volumes_close(&p.volumes);
	fsq_project_edit_free(p.edit);
	free(p.chosen);
	return rc;
}
