/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A quota taken off a directory: all or nothing.
 *
 * The steps:
 *
 *  1. Find the ID that is the directory's own, and what it has afterwards: that of the directory above, or none.
 *  2. Untag: the directory stops handing on its ID, and what is in it loses it, without the locks; again, as long as the
 *     kernel counts more.
 *  3. Under the locks of both files: the limits.
 *  4. The ID of the directory itself, and the lines. What leads the next release here comes last, so that it finds what a
 *     killed one has left: the line or, where that does not, the ID.
 *
 * All of it under a lock of the tree: no other assign or release is in it, or above it, meanwhile. undo() goes back.
 */
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "owner.h"
#include "project_location.h"
#include "quota/base/error.h"
#include "quota/limits/limits.h"
#include "release_directory.h"
#include "tree_tag.h"

/* How many walks, while the kernel counts more and each walk finds some. */
#define WALKS 32
/* How often the owner may make the directory hand on the ID again. */
#define ROUNDS 8
/* XFS counts deleted files until it has cleaned up. */
#define LOOKS 10
#define MOMENT (10 * 1000 * 1000L)

struct release {
	const struct fsq_release_request *request;
	struct fsq_handle directory;
	struct fsq_project_edit *edit;
	struct fsq_owner owner;
	uint32_t id;
	bool names;			/* remove them with the last line of the ID */
	bool shared;			/* with other directories */
	struct fsq_inode_project after; /* the project of the directory afterwards */
	/* What has been done: */
	struct fsq_inode_project now; /* of the directory */
	struct fsq_tree_tag_request tag_request;
	struct fsq_tree_tag *tree;
	bool limits_off;
	struct fsq_limits limits_before;
	uint64_t left, lines, untagged;
};

/* Locks both files. */
static int find_own_id(struct release *r, struct fsq_error *err)
{
	const struct fsq_release_request *request = r->request;
	const struct fsq_claim claim = { .id = request->id };
	int rc = fsq_owner_lock(&r->directory, r->edit, &claim, request->options, &r->owner, err);

	if (rc)
		return rc;
	r->id = r->owner.id;
	if (r->id && request->id && request->id != r->id)
		return fsq_fail(err, FSQ_E_CONFLICT, 0, r->directory.path, "has project ID %u",
				r->id);
	if (r->owner.disputed)
		return fsq_fail(err, FSQ_E_CONFLICT, 0, r->directory.path, "has project ID %u",
				r->directory.project.id);
	if (r->owner.listed && r->directory.project.id != r->id && !request->at)
		return fsq_project_location_check(request->registry, r->directory.path, r->id, err);
	if (r->id)
		return 0;
	rc = fsq_fail(err, FSQ_E_NOT_FOUND, 0, r->directory.path, "has no quota of its own");
	return r->directory.project.id ? fsq_add_hint(err, FSQ_HINT_PROJECT_ABOVE, rc) : rc;
}

/* The project of the directory above: as registered, or else as it carries it. */
static int find_after(struct release *r)
{
	char *copy = strdup(r->directory.path);
	uint32_t id = 0;
	int rc = copy ? fsq_handle_read_above(&r->directory, &r->after) : -ENOMEM;

	if (rc) {
		free(copy);
		return rc;
	}
	if (!r->after.inherit || r->after.id == r->id)
		r->after = (struct fsq_inode_project){ 0 };
	else if (fsq_project_edit_id_of(r->edit, dirname(copy), &id))
		r->after.id = id;
	free(copy);
	return 0;
}

static int set_tag(struct release *r, uint32_t id, bool inherit, struct fsq_error *err)
{
	int rc = fsq_inode_project_set(r->directory.target.fd, &r->now, id, inherit);

	if (rc)
		return fsq_fail_errno(err, -rc, r->directory.path, "cannot set the project ID");
	return 0;
}

/* How many inodes have the ID besides the directory. */
static int count_left(struct release *r, struct fsq_dquot *dquot, struct fsq_error *err)
{
	uint64_t own = r->now.id == r->id, used;
	int rc = fsq_limits_read(&r->directory.target, r->id, true, dquot, r->directory.path, err);

	if (rc)
		return rc;
	used = dquot->form[FSQ_INODES].used;
	r->left = used > own ? used - own : 0;
	return 0;
}

/* Wait for files that no walk has found: XFS may be about to free them. */
static int wait_for_left(struct release *r, struct fsq_error *err)
{
	const struct timespec moment = { .tv_nsec = MOMENT };
	struct fsq_dquot dquot;
	int rc = 0;

	for (int i = 0; i < LOOKS && rc == 0 && r->left > 0; i++) {
		/* A call for ID 0 makes XFS clean up. */
		fsq_quotactl_get(&r->directory.target, FSQ_PROJECT, 0, &dquot);
		nanosleep(&moment, NULL);
		rc = count_left(r, &dquot, err);
	}
	return rc;
}

/*
 * A walk can miss files that are moved. Repeat it until the kernel counts none, or if other directories have
 * the same ID until a walk finds none.
 */
static int walk_until_none_is_left(struct release *r, struct fsq_error *err)
{
	struct fsq_tree_found found = { 0 };
	struct fsq_dquot dquot;
	int rc = 0;

	for (int i = 0; i < WALKS && rc == 0; i++) {
		rc = fsq_tree_tag_walk(r->tree, &found, err);
		r->untagged += found.changed;
		if (rc == 0)
			rc = count_left(r, &dquot, err);
		if (rc || r->left == 0)
			return rc;
		if (!found.changed && !found.lost && !found.unsettled)
			return r->shared ? 0 : wait_for_left(r, err);
	}
	if (rc)
		return rc;
	fsq_fail(err, FSQ_E_PARTIAL, 0, r->directory.path,
		 "%" PRIu64 " files still have project ID %u, while files in it are moved about",
		 r->left, r->id);
	return fsq_add_hint(err, FSQ_HINT_RELEASE_AGAIN, FSQ_E_PARTIAL);
}

/* After a kill, can the next release find the leftovers through the line in /etc/projects? */
static bool goes_by_line(const struct release *r)
{
	return r->owner.listed && !r->owner.by_id;
}

/*
 * New files get the ID of the project above from now on, if there is one. But without a line the directory keeps its own
 * ID, without inheritance: after a kill only that leads the next release here.
 */
static int stop_inheritance(struct release *r, struct fsq_error *err)
{
	if (r->now.id != r->id)
		return 0;
	return goes_by_line(r) && r->after.id ? set_tag(r, r->after.id, r->after.inherit, err)
					      : set_tag(r, r->id, false, err);
}

/*
 * Without the locks: kubelet may want them.
 * @return   as fsq_release(); 1 when the owner makes the directory hand on the ID again
 */
static int walk_unlocked(struct release *r, struct fsq_error *err)
{
	int rc = stop_inheritance(r, err);

	if (rc)
		return rc;
	fsq_project_edit_unlock(r->edit);
	rc = walk_until_none_is_left(r, err);
	/* After a power failure no file may have the ID without a line that leads to it. */
	if (rc == 0)
		rc = fsq_handle_sync(&r->directory, err);
	if (rc == 0)
		rc = fsq_project_edit_lock(r->edit, false, err);
	if (rc == 0)
		rc = fsq_handle_check_path(&r->directory, err);
	if (rc)
		return rc;
	r->owner.listed = fsq_project_edit_id_of(r->edit, r->directory.path, &r->owner.id);
	if ((r->owner.listed && r->owner.id != r->id) ||
	    fsq_inode_project_get(r->directory.target.fd, &r->now))
		return fsq_fail(err, FSQ_E_CONFLICT, 0, r->directory.path,
				"was given to another project at the same time");
	return r->now.id == r->id && r->now.inherit;
}

static int new_tree(struct release *r, struct fsq_error *err)
{
	r->tag_request = (struct fsq_tree_tag_request){
		.fd = r->directory.target.fd,
		.path = r->directory.path,
		.rule = FSQ_TAG_LEAVE,
		.from = { .id = r->id, .inherit = true },
		.to = r->after,
		.dry_run = r->request->dry_run,
		.options = r->request->options,
	};
	/* The owner may have given its files IDs of other projects: those of lines elsewhere are taken off, too. */
	fsq_project_edit_elsewhere(r->edit, r->directory.path, r->id, &r->tag_request.elsewhere);
	r->tree = fsq_tree_tag_new(&r->tag_request);
	if (!r->tree)
		return fsq_fail_errno(err, ENOMEM, r->directory.path, "cannot walk the tree");
	return 0;
}

static int untag_released_tree(struct release *r, struct fsq_error *err)
{
	int rc = new_tree(r, err);

	if (rc)
		return rc;
	rc = 1;
	for (int i = 0; i < ROUNDS && rc == 1; i++)
		rc = walk_unlocked(r, err);
	if (rc != 1)
		return rc;
	fsq_fail(err, FSQ_E_PARTIAL, 0, r->directory.path, "is given project ID %u again and again",
		 r->id);
	return fsq_add_hint(err, FSQ_HINT_RELEASE_AGAIN, FSQ_E_PARTIAL);
}

/* The directory was empty. Look for files that were made before it stopped handing on its ID. */
static int look_at_left(struct release *r, struct fsq_error *err)
{
	struct fsq_dquot dquot;
	int fd = r->directory.target.fd;
	int rc = r->now.inherit ? stop_inheritance(r, err) : 0;

	if (rc == 0)
		rc = count_left(r, &dquot, err);
	if (rc || r->left == 0)
		return rc;
	if (lseek(fd, 0, SEEK_SET) == 0 && !fsq_tree_is_empty(fd))
		return untag_released_tree(r, err);
	return r->shared ? 0 : wait_for_left(r, err);
}

static int remove_limits(struct release *r, struct fsq_error *err)
{
	struct fsq_limits none = { 0 };
	struct fsq_dquot dquot;
	uint64_t found;
	int rc = count_left(r, &dquot, err);

	if (rc)
		return rc;
	found = r->request->dry_run ? r->untagged : 0;
	r->left = r->left > found ? r->left - found : 0;
	/* The other directories may be on other filesystems, which have limits of their own. */
	if (r->shared && r->left > 0)
		return 0;
	r->limits_before = fsq_limits_of(&dquot);
	none.mask = r->limits_before.mask;
	if (fsq_limits_are_none(&r->limits_before))
		return 0;
	rc = fsq_limits_set(&r->directory.target, r->id, &none, r->request->dry_run,
			    r->directory.path, err);
	r->limits_off = rc == 0;
	return rc;
}

static int untag_released_directory(struct release *r, struct fsq_error *err)
{
	if (r->request->keep_tags)
		return 0;
	r->untagged += r->directory.project.id != r->after.id ||
		       r->directory.project.inherit != r->after.inherit;
	return r->request->dry_run ? 0 : set_tag(r, r->after.id, r->after.inherit, err);
}

static int remove_lines_of_directory(struct release *r, struct fsq_error *err)
{
	const char *directory = r->owner.listed ? r->directory.path : NULL;

	if (fsq_registry_or_default(r->request->registry)->none)
		return 0;
	r->lines = fsq_project_edit_lines_of(r->edit, r->id, directory, r->names);
	return r->request->dry_run
		       ? 0
		       : fsq_project_edit_remove(r->edit, r->id, directory, r->names, err);
}

/*
 * Under the locks. Remove last what leads the next release here if this one is killed: the line or, where
 * that does not, the ID of the directory.
 */
static int take_off(struct release *r, struct fsq_error *err)
{
	int rc;

	r->shared = fsq_project_edit_is_shared(r->edit, r->id, r->directory.path);
	rc = remove_limits(r, err);
	if (rc == 0 && fsq_is_cancelled(r->request->options))
		rc = fsq_fail(err, FSQ_E_FAILED, EINTR, r->directory.path, "stopped");
	if (rc == 0)
		rc = goes_by_line(r) ? untag_released_directory(r, err)
				     : remove_lines_of_directory(r, err);
	if (rc == 0)
		rc = goes_by_line(r) ? remove_lines_of_directory(r, err)
				     : untag_released_directory(r, err);
	return rc;
}

static void put_all_back(struct release *r)
{
	const struct fsq_limits none = { 0 };
	const struct fsq_inode_project *was = &r->directory.project;

	fsq_project_edit_rollback(r->edit);
	if (r->limits_off)
		fsq_limits_put_back(&r->directory.target, r->id, &none, &r->limits_before);
	r->limits_off = false;
	/*
	 * Restore the ID of the directory only if its contents have it again, on the disk, too. Otherwise the next
	 * assign or release goes on from here.
	 */
	if (r->tree && (fsq_tree_tag_rollback(r->tree) || fsq_handle_sync(&r->directory, NULL)))
		return;
	fsq_inode_project_set(r->directory.target.fd, &r->now, was->id, was->inherit);
	/* Restore files that were created meanwhile. */
	if (fsq_tree_tag_rollback(r->tree))
		fsq_inode_project_set(r->directory.target.fd, &r->now, was->id, false);
}

static int prepare(struct release *r, struct fsq_error *err)
{
	int rc = find_own_id(r, err);

	if (rc)
		return rc;
	r->now = r->directory.project;
	r->shared = fsq_project_edit_is_shared(r->edit, r->id, r->directory.path);
	rc = find_after(r);
	return rc ? fsq_fail_errno(err, -rc, r->directory.path,
				   "cannot find the project of the directory above")
		  : 0;
}

/* Count in one walk, without the locks. */
static int count_tree(struct release *r, struct fsq_error *err)
{
	struct fsq_tree_found found = { 0 };
	int rc = new_tree(r, err);

	if (rc)
		return rc;
	fsq_project_edit_unlock(r->edit);
	rc = fsq_tree_tag_walk(r->tree, &found, err);
	r->untagged = found.changed;
	return rc ? rc : fsq_project_edit_lock(r->edit, false, err);
}

static int only_look(struct release *r, struct fsq_error *err)
{
	int rc = prepare(r, err);

	if (rc == 0)
		rc = fsq_handle_check_quota(&r->directory, NULL, err);
	if (rc == 0 && !r->request->keep_tags)
		rc = count_tree(r, err);
	return rc ? rc : take_off(r, err);
}

static int release_opened(struct release *r, struct fsq_error *err)
{
	int rc = fsq_project_edit_lock_tree(r->edit, r->directory.target.fd, r->directory.path,
					    false, err);

	if (rc == 0)
		rc = prepare(r, err);
	if (rc)
		return rc;
	if (!r->request->keep_tags)
		rc = fsq_tree_is_empty(r->directory.target.fd) ? look_at_left(r, err)
							       : untag_released_tree(r, err);
	if (rc == 0)
		rc = take_off(r, err);
	if (rc && rc != FSQ_E_PARTIAL)
		put_all_back(r);
	return rc;
}

/*
 * @rc       FSQ_E_PARTIAL: files have lost the ID, and everything else stays; after another failure nothing
 * has changed
 */
static void fill_released(const struct release *r, int rc, struct fsq_released *released)
{
	*released = (struct fsq_released){ .id = r->id };
	if (rc && rc != FSQ_E_PARTIAL)
		return;
	released->untagged = r->untagged;
	released->left_inodes = r->shared ? 0 : r->left;
	if (rc)
		return;
	released->limits_off = r->limits_off;
	released->limits = r->limits_before;
	released->lines = r->lines;
}

int fsq_release_directory(const struct fsq_release_request *request, bool names,
			  struct fsq_released *released, struct fsq_error *err)
{
	struct release r = { .request = request, .names = names };
	int rc = fsq_handle_open_directory(&r.directory, request->directory,
					   fsq_mounts_of(request->options), err);

	*released = (struct fsq_released){ 0 };
	if (rc)
		return rc;
	r.edit = fsq_project_edit_new(request->registry, request->dry_run, request->options);
	if (!r.edit)
		rc = fsq_fail_errno(err, ENOMEM, request->directory, "cannot go on");
	if (r.edit) {
		fsq_project_edit_before_locks(r.edit, fsq_quotactl_wait_thawed,
					      &r.directory.target);
		rc = request->dry_run ? only_look(&r, err) : release_opened(&r, err);
	}
	fill_released(&r, rc, released);
	fsq_tree_tag_free(r.tree);
	fsq_entries_free(&r.tag_request.elsewhere);
	fsq_project_edit_free(r.edit);
	rc = fsq_handle_explain(&r.directory, rc, err);
	fsq_handle_close(&r.directory);
	return rc;
}
