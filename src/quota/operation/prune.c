/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What directories that are gone have left: lines, names and limits.
 *
 * Everything is looked at twice: without locks, and again under the locks of both files just before
 * it is removed. The locks are held for an eighth of all at a time: kubelet and fsq_assign() may want
 * them, and the files are read again each time. An assignment that is being made has its ID on the
 * directory before anything else, so the kernel counts at least one inode with it.
 */
#include "prune.h"

#include <errno.h>
#include <stdlib.h>

#include "allocate.h"
#include "limits.h"
#include "quota/base/error.h"
#include "quota/mounts/filesystem.h"
#include "quota/registry/entries.h"

/* XFS counts deleted files until it has cleaned up behind them. */
#define LOOKS 50
/* With the locks at once, at least. */
#define BATCH 32

static bool is_chosen(const struct fsq_prune *p, const struct fsq_volume *volume)
{
	dev_t dev = fsq_filesystem_get_info(volume->fs)->dev;

	for (size_t i = 0; i < p->chosen_count; i++)
		if (p->chosen[i] == dev)
			return true;
	return p->request->path_count == 0;
}

/* Patience for deleted files is that of the whole run. */
static int read_settled_quota(struct fsq_prune *p, const struct fsq_volume *volume, uint32_t id,
			      struct fsq_dquot *dquot)
{
	return fsq_limits_read_settled(&volume->fs->place.target, id, &p->looks, dquot,
				       volume->fs->info.directory, p->err);
}

static struct fsq_id_set *seen_on(const struct fsq_prune *p, const struct fsq_volume *volume)
{
	return &p->seen[volume->first];
}

/* --- what is seen --- */

/* @return   0; 1 there is none any more; or a failure */
static int next_quota(struct fsq_prune *p, const struct fsq_volume *volume, uint64_t id,
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

static int see_volume(struct fsq_prune *p, const struct fsq_volume *volume)
{
	uint64_t id = p->range.first;
	struct fsq_dquot dquot;
	int rc;

	while ((rc = next_quota(p, volume, id, &dquot)) == 0) {
		id = (uint64_t)dquot.id + 1;
		if (fsq_dquot_has_anything(&dquot) && fsq_id_set_add(seen_on(p, volume), dquot.id))
			return fsq_fail(p->err, FSQ_E_FAILED, ENOMEM, NULL, "cannot go on");
	}
	fsq_id_set_sort(seen_on(p, volume));
	return rc == 1 ? 0 : rc;
}

/* One call a record: most have a directory, and then that is all that must be known of them. */
static int see_volumes(struct fsq_prune *p)
{
	int rc = 0;

	p->seen = calloc(p->volumes.count + 1, sizeof(*p->seen));
	if (!p->seen)
		return fsq_fail(p->err, FSQ_E_FAILED, ENOMEM, NULL, "cannot go on");
	for (size_t i = 0; i < p->volumes.count && rc == 0; i++) {
		const struct fsq_volume *volume = &p->volumes.list[i];

		if (volume->has_quota && fsq_prune_is_first(p, volume) && is_chosen(p, volume))
			rc = see_volume(p, volume);
		if (p->batch < p->seen[i].count / 8)
			p->batch = p->seen[i].count / 8;
	}
	return rc;
}

/* --- lines --- */

static int look_at_line(struct fsq_prune *p, const struct fsq_entry *line)
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
	if (volume->has_quota && presence != FSQ_UNSEEN)
		rc = presence == FSQ_PRESENT
			     ? fsq_volume_read_quota(volume, line->id, &dquot, p->err)
			     : read_settled_quota(p, volume, line->id, &dquot);
	if (rc == 0)
		rc = fsq_prune_judge_line(p, volume, presence, &dquot, &leftover);
	if (rc)
		return rc == 1 ? 0 : rc;
	return fsq_prune_settle(p, volume, &leftover);
}

/* --- limits --- */

static int look_at_limits(struct fsq_prune *p, const struct fsq_volume *volume,
			  struct fsq_dquot *dquot)
{
	struct fsq_leftover leftover = {
		.kind = FSQ_LEFTOVER_LIMITS,
		.id = dquot->id,
		.mountpoint = fsq_filesystem_get_info(volume->fs)->directory,
	};
	int rc = fsq_volume_read_quota(volume, dquot->id, dquot, p->err);

	if (rc == 0 && fsq_dquot_is_limited(dquot) && fsq_limits_are_used(dquot))
		rc = read_settled_quota(p, volume, dquot->id, dquot);
	if (rc || fsq_limits_are_used(dquot) || !fsq_dquot_is_limited(dquot))
		return rc;
	if (!p->request->all && !p->request->unregistered)
		leftover.kept = FSQ_KEPT_UNREGISTERED;
	return fsq_prune_settle(p, volume, &leftover);
}

static int look_at_volume(struct fsq_prune *p, const struct fsq_volume *volume,
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

static int look_at_name(struct fsq_prune *p, const struct fsq_entry *name,
			const struct fsq_id_set *registered)
{
	struct fsq_leftover leftover = {
		.kind = FSQ_LEFTOVER_NAME,
		.id = name->id,
		.name = name->word,
	};
	bool known;
	int rc;

	if (!fsq_prune_is_in_range(p, name->id) || fsq_id_set_has(registered, name->id))
		return 0;
	rc = fsq_prune_is_known(p, name->id, &known);
	return rc || known ? rc : fsq_prune_settle(p, NULL, &leftover);
}

/* --- all of it --- */

static int read_lines(struct fsq_prune *p, struct fsq_entries *lines)
{
	return fsq_entries_of_projects(
		lines, fsq_registry_or_default(p->request->registry)->projects_file, p->err);
}

static int collect_registered(struct fsq_prune *p, struct fsq_id_set *ids)
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

static int prune_lines(struct fsq_prune *p)
{
	int rc = read_lines(p, &p->lines);

	if (rc == 0)
		rc = fsq_entries_index(&p->lines, p->err);
	if (p->batch < p->lines.count / 8)
		p->batch = p->lines.count / 8;
	for (size_t i = 0; i < p->lines.count && rc == 0; i++)
		rc = look_at_line(p, &p->lines.list[i]);
	return rc ? rc : fsq_prune_flush(p);
}

static int prune_limits(struct fsq_prune *p, const struct fsq_id_set *registered)
{
	int rc = 0;

	for (size_t i = 0; i < p->volumes.count && rc == 0; i++) {
		const struct fsq_volume *volume = &p->volumes.list[i];

		if (fsq_prune_is_first(p, volume) && is_chosen(p, volume))
			rc = look_at_volume(p, volume, registered);
	}
	return rc ? rc : fsq_prune_flush(p);
}

static int prune_names(struct fsq_prune *p, const struct fsq_id_set *registered)
{
	const char *file = fsq_registry_or_default(p->request->registry)->projid_file;
	struct fsq_entries names;
	int rc = fsq_entries_of_projid(&names, file, p->err);

	for (size_t i = 0; i < names.count && rc == 0; i++)
		rc = look_at_name(p, &names.list[i], registered);
	if (rc == 0)
		rc = fsq_prune_flush(p);
	fsq_entries_free(&names);
	return rc;
}

static int prune(struct fsq_prune *p)
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
static int choose(struct fsq_prune *p)
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
	struct fsq_prune p = { .request = request,
			       .visit = visit,
			       .arg = arg,
			       .looks = LOOKS,
			       .batch = BATCH,
			       .err = err };
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
	free(p.queue);
	fsq_entries_free(&p.lines);
	fsq_volumes_close(&p.volumes);
	fsq_project_edit_free(p.edit);
	free(p.chosen);
	return rc;
}
