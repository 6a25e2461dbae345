/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What directories that are gone have left: lines, names and limits.
 *
 * Everything is looked at twice: without locks, and again under the locks of both files just before
 * it is removed. The locks are held for an eighth of all at a time: kubelet and fsq_assign() may want
 * them, and the files are read again each time. An assignment that is being made has its ID on the
 * directory before anything else, so the kernel counts at least one inode with it.
 *
 * The limits prove that a line is of this filesystem. So they go last, when the lines are off the disk; until
 * then they are those of a leftover, which the next call removes if this one is killed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "allocate.h"
#include "project_location.h"
#include "quota/base/error.h"
#include "quota/base/id_set.h"
#include "quota/base/path.h"
#include "quota/base/pod_path.h"
#include "quota/limits/limits.h"
#include "quota/mounts/filesystem_handle.h"
#include "quota/registry/project_edit.h"
#include "shared/array.h"

/* XFS counts deleted files until it has cleaned up. */
#define LOOKS 50
/* How many are removed under one lock, at least. */
#define BATCH 32

/* A leftover in the queue. */
struct removal {
	struct fsq_leftover leftover;
	const struct fsq_volume *volume; /* NULL for a name */
	bool vanished;			 /* nothing is left to be removed */
	/* Where its limits were replaced by those of a leftover, or NULL; and what they were before: */
	const struct fsq_volume *limited;
	struct fsq_dquot before;
};

struct prune {
	const struct fsq_prune_request *request;
	const struct fsq_registry *registry;
	fsq_leftover_visitor visit;
	void *arg;
	struct fsq_id_range range;
	struct fsq_volumes volumes;
	struct fsq_entries lines; /* of the projects file, read without locks */
	dev_t *chosen;		  /* file systems */
	size_t chosen_count;
	struct fsq_id_set
		*seen; /* IDs with use or limits, by the first volume of each filesystem */
	struct fsq_project_edit *edit;
	struct removal *queue;
	size_t queued, queue_capacity;
	size_t batch, to_remove;      /* how many are removed under one lock, and how many wait */
	bool has_removed_lines, torn; /* in this batch; torn: writing a file failed */
	int looks;
	struct fsq_error *err;
};

static bool is_volume_chosen(const struct prune *p, const struct fsq_volume *volume)
{
	dev_t dev = volume->fs->info.dev;

	for (size_t i = 0; i < p->chosen_count; i++)
		if (p->chosen[i] == dev)
			return true;
	return p->request->path_count == 0;
}

/* The whole run waits no longer than this for deleted files. */
static int read_settled_quota(struct prune *p, const struct fsq_volume *volume, uint32_t id,
			      struct fsq_dquot *dquot)
{
	return fsq_limits_read_settled(&volume->fs->handle.target, id, &p->looks, dquot,
				       volume->fs->info.directory, p->err);
}

static struct fsq_id_set *seen_on(const struct prune *p, const struct fsq_volume *volume)
{
	return &p->seen[volume->first];
}

static bool is_in_range(const struct prune *p, uint32_t id)
{
	return id >= p->range.first && id <= p->range.last;
}

/* @return   whether a volume is the first of its file system */
static bool is_first(const struct prune *p, const struct fsq_volume *volume)
{
	return volume == &p->volumes.list[volume->first];
}

/* Does a filesystem have a record of the ID? @return  0 or a failure */
static int is_id_known(struct prune *p, uint32_t id, bool *known)
{
	int rc = 0;

	*known = false;
	for (size_t i = 0; i < p->volumes.count && rc == 0 && !*known; i++) {
		const struct fsq_volume *volume = &p->volumes.list[i];
		struct fsq_dquot dquot;

		if (!volume->has_quota || !is_first(p, volume))
			continue;
		rc = fsq_volume_read_quota(volume, id, &dquot, p->err);
		*known = rc == 0 && fsq_dquot_has_anything(&dquot);
	}
	return rc;
}

/* --- judging --- */

/*
 * While the directory of a pod exists, kubelet adopts the pod at its next start, and its volumes with the IDs
 * in /etc/projects.
 */
static bool is_of_living_pod(struct prune *p, const char *directory)
{
	const char *at = directory;
	struct fsq_pod_path path;
	bool living = false;

	while (!living && fsq_pod_path_next(&at, &path)) {
		const struct fsq_volume *volume;
		char *pod = strndup(directory, (size_t)(path.uid + path.length - directory));

		living = !pod || fsq_volumes_find(&p->volumes, pod, &volume) == FSQ_PRESENT;
		free(pod);
	}
	return living;
}

/*
 * Classify a line of the projects file.
 *
 * @leftover its kind, its inodes and why it is kept are set
 * @return   0; 1 it is no leftover; or a failure
 */
static int judge_line(struct prune *p, const struct fsq_volume *volume, enum fsq_presence presence,
		      const struct fsq_dquot *dquot, struct fsq_leftover *leftover)
{
	const struct fsq_entry line = { leftover->id, leftover->directory };
	bool present = presence == FSQ_PRESENT, pod;
	int rc;

	leftover->inodes = dquot->form[FSQ_INODES].used;
	leftover->kept = FSQ_NOT_KEPT;
	leftover->kind = present ? FSQ_LEFTOVER_LINE : FSQ_LEFTOVER_DIRECTORY;
	if (present && (!volume->has_quota || fsq_dquot_has_anything(dquot)))
		return 1;
	if (presence == FSQ_UNSEEN) {
		leftover->kept = FSQ_KEPT_UNREADABLE;
		leftover->errnum = p->volumes.errnum;
		return 0;
	}
	pod = is_of_living_pod(p, leftover->directory);
	if (present && (pod || !is_in_range(p, leftover->id)))
		return 1;
	if (p->request->all) {
		if (fsq_volumes_await(&p->volumes, volume, line.word))
			leftover->kept = FSQ_KEPT_AWAITED;
		return 0;
	}
	rc = fsq_volumes_doubt(&p->volumes, &p->lines, volume, presence, &line,
			       fsq_dquot_has_anything(dquot), &leftover->kept, p->err);
	if (rc || leftover->kept != FSQ_NOT_KEPT)
		return rc;
	/* The directory exists without the ID: after a killed release, or as the mount point of what is not mounted. */
	if (present)
		leftover->kept = FSQ_KEPT_UNPROVEN;
	else if (fsq_dquot_is_used(dquot))
		leftover->kept = FSQ_KEPT_USED;
	else if (pod)
		leftover->kept = FSQ_KEPT_POD;
	return 0;
}

/* --- removing --- */

static int set_leftover_limits(struct prune *p, const struct fsq_volume *volume, uint32_t id,
			       const struct fsq_limits *limits)
{
	int rc = -fsq_quota_set_limits(volume->fs, FSQ_PROJECT, id, limits);

	return rc ? fsq_fail_errno(p->err, rc, volume->fs->info.directory,
				   "cannot set the limits of project %u", id)
		  : 0;
}

static int mark_limits(struct prune *p, struct removal *removal, const struct fsq_volume *volume,
		       const struct fsq_dquot *dquot)
{
	const struct fsq_limits leftover = fsq_limits_of_leftover(volume->fs->handle.target.fd);
	int rc;

	if (!fsq_dquot_is_limited(dquot))
		return 0;
	rc = set_leftover_limits(p, volume, dquot->id, &leftover);
	if (rc)
		return rc;
	removal->limited = volume;
	removal->before = *dquot;
	return 0;
}

static int take_leftover_limits_off(struct prune *p, struct removal *removal)
{
	const struct fsq_limits none = { .mask = fsq_limits_of(&removal->before).mask };

	return removal->limited
		       ? set_leftover_limits(p, removal->limited, removal->leftover.id, &none)
		       : 0;
}

static void put_limits_back(struct removal *removal)
{
	const struct fsq_limits limits = fsq_limits_of(&removal->before);
	struct fsq_limits leftover;

	if (!removal->limited)
		return;
	leftover = fsq_limits_of_leftover(removal->limited->fs->handle.target.fd);
	fsq_limits_put_back(&removal->limited->fs->handle.target, removal->leftover.id, &leftover,
			    &limits);
	removal->limited = NULL;
}

/* @directory NULL: only the names */
static int remove_lines_of_leftover(struct prune *p, uint32_t id, const char *directory)
{
	int rc = fsq_project_edit_remove(p->edit, id, directory, true, p->err);

	p->torn |= rc != 0;
	p->has_removed_lines = true;
	return rc;
}

/* Does another registered directory of the ID exist there? Then the limits are in use, and stay. */
static bool is_shared_on(struct prune *p, const struct fsq_volume *volume, uint32_t id,
			 const char *directory)
{
	bool shared = false;
	size_t at = 0;
	char *other;

	if (!fsq_project_edit_is_shared(p->edit, id, directory))
		return false;
	while (!shared && (other = fsq_project_edit_next_directory(p->edit, id, &at))) {
		const struct fsq_volume *its;

		shared = !fsq_path_is(directory, other, strlen(other)) &&
			 (fsq_volumes_find(&p->volumes, other, &its) == FSQ_ELSEWHERE ||
			  its->first == volume->first);
		free(other);
	}
	return shared;
}

static int remove_leftover_line(struct prune *p, struct removal *removal)
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
		rc = judge_line(p, volume, presence, &dquot, leftover);
	if (rc || leftover->kept != FSQ_NOT_KEPT)
		return rc;
	if (volume->has_quota && !is_shared_on(p, volume, id, leftover->directory))
		rc = mark_limits(p, removal, volume, &dquot);
	return rc ? rc : remove_lines_of_leftover(p, id, leftover->directory);
}

/* Check again under the locks. @return  0; 1 it has vanished; or a failure */
static int remove_leftover(struct prune *p, struct removal *removal)
{
	uint32_t id = removal->leftover.id;
	struct fsq_dquot dquot;
	bool known;
	int rc;

	if (fsq_is_cancelled(p->request->options))
		return fsq_fail(p->err, FSQ_E_FAILED, EINTR, NULL, "stopped");
	switch (removal->leftover.kind) {
	case FSQ_LEFTOVER_LIMITS:
		rc = fsq_volume_read_quota(removal->volume, id, &dquot, p->err);
		if (rc)
			return rc;
		if (fsq_dquot_is_used(&dquot) || !fsq_dquot_is_limited(&dquot) ||
		    fsq_project_edit_is_shared(p->edit, id, NULL))
			return 1;
		return mark_limits(p, removal, removal->volume, &dquot);
	case FSQ_LEFTOVER_NAME:
		rc = is_id_known(p, id, &known);
		if (rc)
			return rc;
		if (known || fsq_project_edit_is_shared(p->edit, id, NULL) ||
		    !fsq_project_edit_has_name(p->edit, id))
			return 1;
		return remove_lines_of_leftover(p, id, NULL);
	default:
		return remove_leftover_line(p, removal);
	}
}

/* Wait until the filesystems whose limits are to be removed are thawed. */
static void wait_thawed(void *arg)
{
	struct prune *p = arg;

	for (size_t i = 0; i < p->volumes.count; i++) {
		struct fsq_volume *volume = &p->volumes.list[i];
		bool is_used = false;

		for (size_t at = 0; volume->has_quota && at < p->queued && !is_used; at++)
			is_used = p->queue[at].volume == volume &&
				  p->queue[at].leftover.kept == FSQ_NOT_KEPT;
		if (is_used)
			fsq_quotactl_wait_thawed(&volume->fs->handle.target);
	}
}

/*
 * Remove a batch. The first failure ends it, and what was removed before stays removed; if a file cannot be
 * written, nothing of the batch is removed.
 *
 * @done     set: how many of the queue may be reported
 * @return   0 or a failure
 */
static int remove_queue(struct prune *p, size_t *done)
{
	int rc;

	fsq_project_edit_before_locks(p->edit, wait_thawed, p);
	rc = fsq_project_edit_lock(p->edit, false, p->err);
	*done = 0;
	p->torn = p->has_removed_lines = false;
	if (rc)
		return rc;
	fsq_project_edit_begin_batch(p->edit);
	for (; *done < p->queued; ++*done) {
		struct removal *removal = &p->queue[*done];

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
	/* One that stays is a leftover for the next call. */
	for (size_t i = 0; i < *done; i++) {
		int failed = take_leftover_limits_off(p, &p->queue[i]);

		rc = rc ? rc : failed;
	}
	return rc;
}

/* Check the queue again under the locks, remove and report it. Result as settle() */
static int flush(struct prune *p)
{
	size_t done = p->queued;
	int rc = 0, stopped = 0;

	if (p->to_remove > 0) {
		rc = p->request->dry_run ? fsq_project_edit_lock(p->edit, false, p->err)
					 : remove_queue(p, &done);
		if (rc && p->request->dry_run)
			done = 0;
		fsq_project_edit_unlock(p->edit);
	}
	for (size_t i = 0; i < done && stopped == 0; i++)
		if (!p->queue[i].vanished)
			stopped = p->visit(&p->queue[i].leftover, p->arg) == FSQ_VISIT_STOP;
	p->queued = p->to_remove = 0;
	return rc ? rc : stopped;
}

/*
 * Queue a leftover for removal, or report it at once if it is kept.
 *
 * @volume   NULL for a name
 * @leftover its strings must stay until flush()
 * @return   0; 1 the visitor wants no more; or a failure
 */
static int settle_limits(struct prune *p, const struct fsq_volume *volume,
			 const struct fsq_leftover *leftover)
{
	bool remove = leftover->kept == FSQ_NOT_KEPT;
	struct removal *queue;

	if (fsq_is_cancelled(p->request->options))
		return fsq_fail(p->err, FSQ_E_FAILED, EINTR, NULL, "stopped");
	if (!remove && p->queued == 0)
		return p->visit(leftover, p->arg) == FSQ_VISIT_STOP;
	queue = array_grow(p->queue, p->queued, &p->queue_capacity, sizeof(*queue));
	if (!queue)
		return fsq_fail_errno(p->err, ENOMEM, NULL, "cannot go on");
	p->queue = queue;
	queue[p->queued++] = (struct removal){ .leftover = *leftover, .volume = volume };
	p->to_remove += remove;
	return p->to_remove < p->batch ? 0 : flush(p);
}

/* --- what is seen --- */

static bool is_marked(const struct fsq_volume *volume, const struct fsq_dquot *dquot)
{
	return fsq_dquot_is_leftover(dquot, volume->fs->handle.target.fd);
}

static int see_volume(struct prune *p, const struct fsq_volume *volume)
{
	uint64_t id = 1;
	struct fsq_dquot dquot;

	while (id <= FSQ_ID_MAX) {
		int rc = -fsq_quota_get_next(volume->fs, FSQ_PROJECT, (uint32_t)id, &dquot);

		if (rc == ENOENT)
			break;
		if (rc)
			return fsq_fail_errno(p->err, rc, volume->fs->info.directory,
					      "cannot read project quotas");
		id = (uint64_t)dquot.id + 1;
		if (fsq_dquot_has_anything(&dquot) &&
		    (is_in_range(p, dquot.id) || is_marked(volume, &dquot)) &&
		    fsq_id_set_add(seen_on(p, volume), dquot.id))
			return fsq_fail_errno(p->err, ENOMEM, NULL, "cannot go on");
	}
	fsq_id_set_sort(seen_on(p, volume));
	return 0;
}

/* List the records once, so that most lines need no call of their own. */
static int see_volumes(struct prune *p)
{
	int rc = 0;

	p->seen = calloc(p->volumes.count + 1, sizeof(*p->seen));
	if (!p->seen)
		return fsq_fail_errno(p->err, ENOMEM, NULL, "cannot go on");
	for (size_t i = 0; i < p->volumes.count && rc == 0; i++) {
		const struct fsq_volume *volume = &p->volumes.list[i];

		if (volume->has_quota && is_first(p, volume) && is_volume_chosen(p, volume))
			rc = see_volume(p, volume);
		if (p->batch < p->seen[i].count / 8)
			p->batch = p->seen[i].count / 8;
	}
	return rc;
}

/* --- lines --- */

static int look_at_line(struct prune *p, const struct fsq_entry *line)
{
	struct fsq_leftover leftover = { .id = line->id, .directory = line->word };
	struct fsq_dquot dquot = { .id = line->id };
	const struct fsq_volume *volume;
	enum fsq_presence presence = fsq_volumes_find(&p->volumes, line->word, &volume);
	int rc = 0;

	if (presence == FSQ_ELSEWHERE || !is_volume_chosen(p, volume) ||
	    (p->request->pods && !fsq_is_of_pod(line->word)) ||
	    (presence == FSQ_PRESENT && fsq_id_set_has(seen_on(p, volume), line->id)))
		return 0;
	leftover.mountpoint = volume->fs->info.directory;
	if (volume->has_quota && presence != FSQ_UNSEEN)
		rc = presence == FSQ_PRESENT
			     ? fsq_volume_read_quota(volume, line->id, &dquot, p->err)
			     : read_settled_quota(p, volume, line->id, &dquot);
	if (rc == 0)
		rc = judge_line(p, volume, presence, &dquot, &leftover);
	if (rc)
		return rc == 1 ? 0 : rc;
	return settle_limits(p, volume, &leftover);
}

/* Read the projects file again. */
static int read_registered_lines(struct prune *p)
{
	int rc;

	fsq_entries_free(&p->lines);
	rc = fsq_entries_of_projects(&p->lines, p->registry->projects_file, p->err);
	return rc ? rc : fsq_entries_index(&p->lines, p->err);
}

/* @return   1: no line is of a volume of a pod, so there is nothing to do; as on most machines, every five minutes */
static int look_for_pods(struct prune *p)
{
	int rc = p->registry->none ? 1 : read_registered_lines(p);

	for (size_t i = 0; i < p->lines.count && rc == 0; i++)
		if (fsq_is_of_pod(p->lines.list[i].word))
			return 0;
	return rc ? rc : 1;
}

static int prune_lines(struct prune *p)
{
	int rc = read_registered_lines(p);

	if (p->batch < p->lines.count / 8)
		p->batch = p->lines.count / 8;
	for (size_t i = 0; i < p->lines.count && rc == 0; i++)
		rc = look_at_line(p, &p->lines.list[i]);
	return rc ? rc : flush(p);
}

/* --- limits and names without a line --- */

static bool is_registered(const struct prune *p, uint32_t id)
{
	size_t count;

	fsq_entries_of_id(&p->lines, id, &count);
	return count > 0;
}

static int look_at_limits(struct prune *p, const struct fsq_volume *volume, uint32_t id)
{
	struct fsq_leftover leftover = {
		.kind = FSQ_LEFTOVER_LIMITS,
		.id = id,
		.mountpoint = volume->fs->info.directory,
	};
	struct fsq_dquot dquot;
	int rc = fsq_volume_read_quota(volume, id, &dquot, p->err);

	if (rc == 0 && fsq_dquot_is_limited(&dquot) && fsq_dquot_is_used(&dquot))
		rc = read_settled_quota(p, volume, id, &dquot);
	if (rc || fsq_dquot_is_used(&dquot) || !fsq_dquot_is_limited(&dquot))
		return rc;
	if (!p->request->all && !p->request->unregistered && !is_marked(volume, &dquot))
		leftover.kept = FSQ_KEPT_UNREGISTERED;
	return settle_limits(p, volume, &leftover);
}

static int prune_limits(struct prune *p)
{
	int rc = 0;

	for (size_t i = 0; i < p->volumes.count; i++) {
		const struct fsq_volume *volume = &p->volumes.list[i];
		const struct fsq_id_set *seen = seen_on(p, volume);

		if (!is_first(p, volume) || !is_volume_chosen(p, volume))
			continue;
		for (size_t at = 0; at < seen->count && rc == 0; at++)
			if (!is_registered(p, seen->ids[at]))
				rc = look_at_limits(p, volume, seen->ids[at]);
	}
	return rc ? rc : flush(p);
}

static int prune_names(struct prune *p)
{
	struct fsq_entries names;
	int rc = fsq_entries_of_projid(&names, p->registry->projid_file, p->err);

	for (size_t i = 0; i < names.count && rc == 0; i++) {
		const struct fsq_leftover leftover = { .kind = FSQ_LEFTOVER_NAME,
						       .id = names.list[i].id,
						       .name = names.list[i].word };
		bool known;

		if (!is_in_range(p, leftover.id) || is_registered(p, leftover.id))
			continue;
		rc = is_id_known(p, leftover.id, &known);
		if (rc == 0 && !known)
			rc = settle_limits(p, NULL, &leftover);
	}
	if (rc == 0)
		rc = flush(p);
	fsq_entries_free(&names);
	return rc;
}

/* --- all of it --- */

/* @return   0; FSQ_E_NOT_SUPPORTED a named filesystem has no quota */
static int choose_volumes(struct prune *p)
{
	const struct fsq_prune_request *request = p->request;
	int rc = 0;

	p->chosen = calloc(request->path_count + 1, sizeof(*p->chosen));
	if (!p->chosen)
		return fsq_fail_errno(p->err, ENOMEM, NULL, "cannot go on");
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
	if (!request || !visit)
		return fsq_fail_null(err);

	struct prune p = { .request = request,
			   .registry = fsq_registry_or_default(request->registry),
			   .visit = visit,
			   .arg = arg,
			   .looks = LOOKS,
			   .batch = BATCH,
			   .err = err };
	int rc = fsq_check_size(request, request->size, sizeof(*request), err);

	if (rc == 0)
		rc = fsq_check_parts(request->registry, request->options, err);
	if (rc == 0 && fsq_lacks_path(request->paths, request->path_count))
		rc = fsq_fail_null(err);
	if (rc)
		return rc;
	p.range = request->all ? (struct fsq_id_range){ 1, FSQ_ID_MAX }
			       : fsq_allocate_range(&request->range, request->registry);
	p.edit = fsq_project_edit_new(request->registry, request->dry_run, request->options);
	rc = p.edit ? choose_volumes(&p) : fsq_fail_errno(err, ENOMEM, NULL, "cannot go on");
	if (rc == 0 && request->pods)
		rc = look_for_pods(&p);
	if (rc == 0)
		rc = fsq_volumes_open(&p.volumes, err);
	if (rc == 0)
		rc = see_volumes(&p);
	if (rc == 0 && !p.registry->none)
		rc = prune_lines(&p);
	if (rc == 0 && !request->pods)
		rc = read_registered_lines(&p);
	if (rc == 0 && !request->pods)
		rc = prune_limits(&p);
	/* A name belongs to no filesystem, so a choice of filesystems does not say whether it is needed. */
	if (rc == 0 && !p.registry->none && request->path_count == 0 && !request->pods)
		rc = prune_names(&p);
	for (size_t i = 0; p.seen && i < p.volumes.count; i++)
		fsq_id_set_free(&p.seen[i]);
	free(p.seen);
	free(p.queue);
	fsq_entries_free(&p.lines);
	fsq_volumes_close(&p.volumes);
	fsq_project_edit_free(p.edit);
	free(p.chosen);
	return rc == 1 ? 0 : rc;
}
