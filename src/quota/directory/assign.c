/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A quota put on a directory: all or nothing.
 *
 * The steps, and what a process that is killed in one leaves:
 *
 *  1. Check: open the directory, or make it; who is subject to limits? Killed here: perhaps an empty directory that
 *     only root can enter, which the next assign finishes.
 *  2. Choose an ID, and claim it: under the locks of both files give it to the directory, and see in the kernel's count
 *     that nobody else has it. Killed here: a directory with an ID, which the next assign takes up and release takes
 *     off. The directory comes first because it is the one place where such a process is found again; a limit that
 *     nothing refers to would lose the ID.
 *  3. Set the limits. Killed here: the same, with limits.
 *  4. Tag: if there is something in the directory, register the name, so that the ID shows in a file, drop the locks,
 *     give the ID to everything in it, lock again, and see that nobody interfered. Killed here: the same, with a name,
 *     and a part of the files tagged.
 *  5. Register name and directory. The line of the projects file comes last and says that all is done: without it the
 *     next assign goes through the tree again.
 *
 * If there is that line already, but the directory has lost its ID, the directory comes after what is in it: line and ID
 * together say that all is done.
 *
 * All of it under a lock of the tree: no other assign or release is in it, or above it, meanwhile. Each step marks what
 * it has done, and undo() reads the marks backwards.
 */
#include "assign.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "allocate.h"
#include "budget.h"
#include "make_directory.h"
#include "owner.h"
#include "quota/base/error.h"
#include "quota/base/path.h"
#include "quota/base/pod_path.h"
#include "quota/kernel/fs_type.h"
#include "quota/kernel/inode_project.h"
#include "quota/kernel/openat2.h"
#include "quota/kernel/space.h"
#include "quota/limits/limits.h"
#include "quota/mounts/handle.h"
#include "quota/mounts/lookup.h"
#include "quota/mounts/mount.h"
#include "quota/registry/entries.h"
#include "quota/registry/project_edit.h"
#include "store.h"
#include "tree_tag.h"

/* How many IDs are tried that another process takes at the same moment. */
#define ATTEMPTS 8
/* How often files that were deleted a moment ago may still be counted, ten milliseconds each. */
#define LOOKS 10

/* How many walks, while other processes move files in the tree. */
#define WALKS 8

/* Mode of a new directory if the request sets none. */
#define NEW_MODE 0755

/* What has been done, in this order. */
enum mark {
	MADE = 1, /* the directory; a dry run would make it */
	TAGGED = 2,
	LIMITED = 4,
	NAMED = 8,
	REGISTERED = 16,
};

struct fsq_assignment {
	struct fsq_assign_request request;
	const struct fsq_assign_note *note; /* or NULL */
	struct fsq_handle directory;	    /* in a dry run that would make it, the one above */
	struct fsq_name making;
	struct fsq_project_edit *edit;
	unsigned int marks;
	bool done;
	bool unfinished; /* a directory without its owner and mode */
	bool vanished;	 /* another process has made or removed the directory meanwhile */

	uint32_t id;
	bool is_new;   /* nobody had the ID before */
	bool listed;   /* the projects file has a line of the directory */
	bool complete; /* the line and the ID say that an earlier assignment has done all */
	bool joins;    /* it joins another project than the one whose ID it carries */
	bool nameless; /* the project had other directories, and no name */
	enum { UNSEEN, EMPTY, FILLED } contents;

	struct fsq_limits asked, limits_before, limits_after;
	struct fsq_tree_tag_request tag_request;
	struct fsq_tree_tag *tree;

	/* For the caller: */
	uint64_t special;
	enum fsq_store_relation store;
	enum fsq_enforcement enforcement;
	uint64_t space;
	uint64_t elsewhere; /* inodes */
	uint32_t outer;	    /* the project that the directory belonged to, or 0 */
	const struct fsq_budget *over_budget;
};

static bool would_make(const struct fsq_assignment *a)
{
	return a->request.dry_run && a->making.parent >= 0;
}

static const char *path_of(const struct fsq_assignment *a)
{
	return would_make(a) ? a->making.path : a->directory.path;
}

static bool registers(const struct fsq_assignment *a)
{
	return !fsq_registry_or_default(a->request.registry)->none;
}

/*
 * Has the directory contents that must get the ID? Cached, since getdents64(2) moves the descriptor's offset. A complete
 * assignment has given it to all.
 */
static bool has_tree(struct fsq_assignment *a)
{
	if (a->complete)
		return false;
	if (a->contents == UNSEEN)
		a->contents =
			would_make(a) || fsq_tree_is_empty(a->directory.target.fd) ? EMPTY : FILLED;
	return a->contents == FILLED;
}

/* --- 1. check --- */

static bool wants_limits(const struct fsq_assign_request *request)
{
	return request->limits.mask != 0 || request->hard_percent || request->soft_percent;
}

int fsq_assign_read_request(struct fsq_assign_request *all,
			    const struct fsq_assign_request *request, struct fsq_error *err)
{
	int rc = fsq_check_size(request, request->size, sizeof(*request), err);

	if (rc)
		return rc;
	*all = *request;
	rc = fsq_check_parts(all->registry, all->options, err);
	if (rc == 0 && all->budget_count && !all->budgets)
		rc = fsq_fail_null(err);
	if (rc)
		return rc;
	fsq_limits_add(&all->limits, all->soft_bytes, all->hard_bytes, all->soft_inodes,
		       all->hard_inodes);
	if (all->keep_limits && (wants_limits(all) || all->unlimited || all->make))
		return fsq_fail(err, FSQ_E_USAGE, 0, request->directory,
				"cannot both keep its limits and get others");
	return fsq_limits_check_asked(&all->limits, request->directory, err);
}

/* Once its filesystem is mounted, nobody would see the directory. */
static int refuse_hidden(const struct fsq_assignment *a, struct fsq_error *err)
{
	char *awaited;
	int rc = fsq_directory_awaits(&a->making, &awaited, err);

	if (rc == 0 && awaited)
		rc = fsq_fail(err, FSQ_E_NOT_FOUND, 0, a->request.directory,
			      "is not made: " FSQ_FSTAB
			      " mounts a filesystem on %s, which is not mounted",
			      awaited);
	free(awaited);
	return rc;
}

/* A dry run opens the directory above instead. */
static int make_directory(struct fsq_assignment *a, struct fsq_error *err)
{
	const bool dry_run = a->request.dry_run;
	int fd = -1, awaits;
	int rc = fsq_name_open(&a->making, fsq_mounts_of(a->request.options), a->request.directory,
			       err);
	char *path;

	if (rc == 0 && (awaits = refuse_hidden(a, err)))
		return awaits;
	if (rc == 0 && !dry_run)
		fd = rc = fsq_directory_make(&a->making);
	else if (rc == 0 && faccessat(a->making.parent, ".", W_OK | X_OK, AT_EACCESS))
		rc = -errno;
	else if (rc == 0)
		fd = rc = fcntl(a->making.parent, F_DUPFD_CLOEXEC, 0);
	a->vanished = rc == -EEXIST;
	/* Of a path that leads over somebody else's symlink the lookup has said more. */
	if (rc < 0 && !((rc == -ELOOP || rc == -EXDEV) && a->making.parent < 0))
		fsq_add_hint(err, rc == -ENOENT ? FSQ_HINT_MAKE_PARENT : FSQ_HINT_NONE,
			     fsq_fail_errno(err, -rc, a->request.directory, "cannot be made"));
	if (rc < 0)
		return fsq_failed(err, -rc);
	path = dry_run ? fsq_fd_path(fd) : strdup(a->making.path);
	fsq_handle_take_directory(&a->directory, fd, path);
	a->marks |= MADE;
	a->unfinished = true;
	if (path)
		return 0;
	if (!dry_run)
		fsq_directory_unmake(&a->making, fd);
	return fsq_fail_errno(err, ENOMEM, a->request.directory, "cannot go on");
}

/* Of somebody else's directory the mode says nothing. */
static bool is_left_unfinished(const struct fsq_assignment *a)
{
	struct stat st;

	return fstat(a->directory.target.fd, &st) == 0 && fsq_directory_is_unfinished(&st) &&
	       (st.st_uid == geteuid() || st.st_uid == a->request.owner);
}

static int open_or_make(struct fsq_assignment *a, struct fsq_error *err)
{
	const struct fsq_assign_request *request = &a->request;
	int rc = fsq_handle_open_directory(&a->directory, request->directory,
					   fsq_mounts_of(request->options), err);

	if (rc)
		a->directory = (struct fsq_handle){ .target.fd = -1 };
	if (rc == FSQ_E_NOT_FOUND && request->make)
		return make_directory(a, err);
	a->unfinished = rc == 0 && request->make && !request->dry_run && is_left_unfinished(a);
	return rc;
}

/* Compute what is asked for; a percentage of the filesystem becomes basic blocks. */
static int find_asked(struct fsq_assignment *a, struct fsq_error *err)
{
	struct fsq_space space[FSQ_FORMS];
	int rc;

	a->asked = a->request.limits;
	if (!a->request.hard_percent)
		return 0;
	rc = fsq_handle_space(&a->directory, space, err);
	if (rc)
		return rc;
	a->asked.hard[FSQ_BLOCKS] =
		space[FSQ_BLOCKS].total / FSQ_BASIC_BLOCK * a->request.hard_percent / 100;
	a->asked.mask |= FSQ_HARD(FSQ_BLOCKS);
	return 0;
}

/* Find out who is subject to limits. Changes nothing. */
static int check_enforcement(struct fsq_assignment *a, struct fsq_error *err)
{
	const struct stat made = {
		.st_mode = a->request.mode ? a->request.mode : NEW_MODE,
		.st_uid = a->request.owner,
	};
	int rc;

	if (!wants_limits(&a->request) && !a->request.require_enforced)
		return 0;
	rc = fsq_enforcement_get(&a->directory, a->unfinished ? &made : NULL, &a->enforcement,
				 &a->space, err);
	if (rc || !a->request.require_enforced || a->enforcement == FSQ_ENFORCED)
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

/* --- 2. choose an ID, and claim it --- */

/* Read what the kernel counts, and keep the limits as they were before. */
static int read_quota(struct fsq_assignment *a, struct fsq_dquot *dquot, struct fsq_error *err)
{
	int rc = fsq_limits_read(&a->directory.target, a->id, true, dquot, a->directory.path, err);

	if (rc == 0)
		a->limits_before = fsq_limits_of(dquot);
	return rc;
}

/* Does the request match the current project? */
static int check_current(const struct fsq_assignment *a, struct fsq_error *err)
{
	const struct fsq_assign_request *request = &a->request;
	const char *path = a->directory.path, *name;
	size_t length = 0;
	uint32_t id;

	if (request->id && request->id != a->id)
		return fsq_fail(err, FSQ_E_CONFLICT, 0, path,
				"has project ID %u already: release it first, for another one",
				a->id);
	if (!request->name)
		return 0;
	if (fsq_project_edit_id_of_name(a->edit, request->name, &id)) {
		if (id == a->id)
			return 0;
		return fsq_fail(err, FSQ_E_CONFLICT, 0, path,
				"has project ID %u already, and \"%.100s\" is %u", a->id,
				request->name, id);
	}
	name = fsq_project_edit_name_of(a->edit, a->id, &length);
	if (name)
		return fsq_fail(err, FSQ_E_CONFLICT, 0, path, "belongs to project \"%.*s\" already",
				(int)(length < 150 ? length : 150), name);
	return 0;
}

static int choose_new_id(struct fsq_assignment *a, const struct fsq_id_range *range,
			 struct fsq_error *err)
{
	const struct fsq_assign_request *request = &a->request;
	const struct fsq_id_range insisted = { request->id, request->id };
	int rc;

	if (request->name && fsq_project_edit_id_of_name(a->edit, request->name, &a->id)) {
		if (a->id == 0)
			return fsq_fail(err, FSQ_E_CONFLICT, 0, a->directory.path,
					"cannot be \"%.100s\": that is ID 0, which is no project",
					request->name);
		if (request->id && request->id != a->id)
			return fsq_fail(err, FSQ_E_CONFLICT, 0, a->directory.path,
					"cannot be project %u: \"%.100s\" is %u", request->id,
					request->name, a->id);
		return 0;
	}
	a->is_new = true;
	rc = fsq_allocate_id(&a->directory, a->edit, request->id ? &insisted : range,
			     fsq_registry_is_visible(request->registry), &a->id, err);
	return fsq_add_path(err, a->directory.path, rc);
}

/* Under the lock of the tree: another process may have finished it, so that it is that process' directory now. */
static int look_at_mode(struct fsq_assignment *a, struct fsq_error *err)
{
	struct stat st;

	if (fstat(a->directory.target.fd, &st))
		return fsq_fail_errno(err, errno, a->directory.path, "cannot be looked at");
	if (fsq_directory_is_unfinished(&st))
		return 0;
	a->unfinished = false;
	a->marks &= ~(unsigned int)MADE;
	return 0;
}

static int lock_and_find_owner(struct fsq_assignment *a, struct fsq_owner *owner,
			       struct fsq_error *err)
{
	const struct fsq_assign_request *request = &a->request;
	const struct fsq_claim wanted = { request->id, request->name, request->keep_limits };
	int rc;

	if (!would_make(a)) {
		rc = fsq_owner_lock(&a->directory, a->edit, &wanted, request->options, owner, err);
		return rc || !a->unfinished ? rc : look_at_mode(a, err);
	}
	/* It would inherit from the directory above, and has no project of its own yet. */
	*owner = (struct fsq_owner){ 0 };
	rc = fsq_project_edit_lock(a->edit, false, err);
	if (rc == 0)
		rc = fsq_handle_read_project(&a->directory, err);
	owner->listed = rc == 0 && fsq_project_edit_id_of(a->edit, path_of(a), &owner->id);
	return rc;
}

/* Does the ID that the directory carries belong to it? */
static int check_kept(const struct fsq_assignment *a, const struct fsq_owner *owner,
		      struct fsq_error *err)
{
	uint32_t carried = a->directory.project.id;

	if (carried == 0)
		return fsq_fail(err, FSQ_E_NOT_FOUND, 0, a->directory.path,
				"carries no project ID that could be registered");
	if (owner->id == 0)
		return fsq_fail(err, FSQ_E_CONFLICT, 0, a->directory.path,
				"has project ID %u from a directory above it", carried);
	if (owner->id != carried)
		return fsq_fail(err, FSQ_E_CONFLICT, 0, a->directory.path,
				"carries project ID %u, but is registered with %u", carried,
				owner->id);
	return 0;
}

/* Locks both files. */
static int choose_id(struct fsq_assignment *a, const struct fsq_id_range *range,
		     struct fsq_error *err)
{
	const struct fsq_assign_request *request = &a->request;
	struct fsq_owner owner;
	int rc = lock_and_find_owner(a, &owner, err);

	a->outer = a->directory.project.id;
	if (rc == 0 && request->keep_limits)
		rc = check_kept(a, &owner, err);
	if (rc)
		return rc;
	a->is_new = false;
	a->id = owner.id;
	a->listed = owner.listed;
	if (a->id == 0) {
		rc = choose_new_id(a, range, err);
		/* After a kill, the next call finds the project by its name. */
		a->joins = owner.disputed && (!a->is_new || request->name);
		return rc;
	}
	a->complete |= a->listed && !would_make(a) && a->directory.project.id == a->id &&
		       a->directory.project.inherit;
	return check_current(a, err);
}

static int tag_directory(struct fsq_assignment *a, struct fsq_error *err)
{
	struct fsq_inode_project now = a->directory.project;
	int rc;

	if ((now.id == a->id && now.inherit) || a->request.dry_run)
		return 0;
	rc = fsq_inode_project_set(a->directory.target.fd, &now, a->id, true);
	if (rc)
		return fsq_fail_errno(err, -rc, a->directory.path, "cannot set the project ID");
	a->marks |= TAGGED;
	return 0;
}

static void set_back(struct fsq_assignment *a, uint32_t id, bool inherit)
{
	struct fsq_inode_project now = a->directory.project;

	now.id = a->id;
	now.inherit = true;
	fsq_inode_project_set(a->directory.target.fd, &now, id, inherit);
}

static void untag_assigned_directory(struct fsq_assignment *a)
{
	if (a->marks & TAGGED)
		set_back(a, a->directory.project.id, a->directory.project.inherit);
	a->marks &= ~(unsigned int)TAGGED;
}

/*
 * Restore the IDs of all that is in the directory. The directory itself keeps the ID, but stops handing it on.
 *
 * @return   0; FSQ_E_FAILED something may still have the ID
 */
static int untag_assigned_tree(struct fsq_assignment *a)
{
	/* Files made after the walk has passed must not inherit the ID any more. */
	if (a->marks & TAGGED)
		set_back(a, a->id, false);
	/* Before any walk, only files made in the directory meanwhile have the ID. */
	if (!a->tree && (a->marks & TAGGED) && a->is_new) {
		a->tag_request = (struct fsq_tree_tag_request){
			.fd = a->directory.target.fd,
			.path = a->directory.path,
			.from = a->directory.project,
			.to = { .id = a->id, .inherit = true },
			.is_new = true,
			.options = a->request.options,
		};
		a->tree = fsq_tree_tag_new(&a->tag_request);
		if (a->tree)
			fsq_tree_tag_restore(a->tree);
		return 0;
	}
	return fsq_tree_tag_rollback(a->tree);
}

/*
 * The ID on a registered directory says that its contents have the ID. So a directory that has lost it gets
 * it back last, and one that carries another project's ID keeps that until then: its contents may have it,
 * too.
 */
static bool comes_last(struct fsq_assignment *a)
{
	return (a->listed || a->joins) && has_tree(a);
}

/* Take the ID off the directory, and off what was made in it meanwhile. */
static void give_up_id(struct fsq_assignment *a)
{
	struct fsq_dquot dquot;

	if (read_quota(a, &dquot, NULL) || dquot.form[FSQ_INODES].used > 1)
		untag_assigned_tree(a);
	untag_assigned_directory(a);
	fsq_tree_tag_free(a->tree);
	a->tree = NULL;
}

/*
 * Is it registered, but was not there, or is empty and has another ID, as a directory that is mounted at the path of
 * another one? Then it is not what has inodes now.
 */
static bool is_made_anew(struct fsq_assignment *a)
{
	return a->listed && ((a->marks & MADE) || would_make(a) ||
			     (a->directory.project.id != a->id && !a->complete && !has_tree(a)));
}

/*
 * Give the ID to the directory, and check that no other process has taken it.
 * @return   as fsq_assign(); 1 when another process has
 */
static int claim(struct fsq_assignment *a, struct fsq_error *err)
{
	struct fsq_dquot dquot = { 0 };
	int rc = 0, looks = LOOKS;

	/* The ID of a project that exists may be in use. Who may not read its quota may not set it either. */
	if (!a->is_new)
		rc = read_quota(a, &dquot, err);
	if (!a->is_new && rc == 0 && dquot.form[FSQ_INODES].used && is_made_anew(a) &&
	    !fsq_project_edit_is_shared(a->edit, a->id, path_of(a))) {
		rc = fsq_limits_read_settled(&a->directory.target, a->id, &looks, &dquot,
					     a->request.directory, err);
		a->elsewhere = rc ? 0 : dquot.form[FSQ_INODES].used;
	}
	if (rc == 0 && !comes_last(a))
		rc = tag_directory(a, err);
	if (rc == 0 && a->is_new) {
		rc = read_quota(a, &dquot, err);
		if (rc == 0 && dquot.form[FSQ_INODES].used > (a->marks & TAGGED ? 1U : 0U)) {
			/* choose_id() locks them again. */
			fsq_project_edit_unlock(a->edit);
			give_up_id(a);
			return 1;
		}
	}
	return rc;
}

/* Is this a registered store, and has a registered project one of the IDs that its engine takes? */
static bool is_followed_store(struct fsq_assignment *a)
{
	uint64_t next = fsq_project_edit_listed(a->edit, (uint64_t)a->id + 1);
	size_t far = SIZE_MAX;
	int fd = a->listed && !would_make(a) && next - a->id < FSQ_STORE_ROOM
			 ? fsq_store_open(&a->directory, a->directory.path, &far)
			 : -1;

	if (fd < 0)
		return false;
	close(fd);
	for (; next - a->id < FSQ_STORE_ROOM; next = fsq_project_edit_listed(a->edit, next + 1)) {
		const uint32_t id = (uint32_t)next;
		struct fsq_dquot dquot;
		size_t length;

		/* It may be one of another filesystem. */
		if (fsq_project_edit_directory_of(a->edit, id, &length) &&
		    fsq_quotactl_get(&a->directory.target, FSQ_PROJECT, id, &dquot) == 0 &&
		    fsq_dquot_has_anything(&dquot))
			return true;
	}
	return false;
}

/*
 * A container store gets an ID from a band of its own, unless the caller chooses one. The directory is
 * searched after it got an ID: what is made in it from then on has the ID, too.
 * @return   as claim()
 */
static int move_to_store_band(struct fsq_assignment *a, struct fsq_error *err)
{
	const struct fsq_assign_request *request = &a->request;
	uint32_t id;

	if (!a->is_new && is_followed_store(a))
		a->store = FSQ_STORE_HOLDS;
	if (!a->is_new)
		return 0;
	if (fsq_store_of(&a->directory, !(a->marks & MADE) && has_tree(a), &a->store))
		return fsq_fail_errno(err, ENOMEM, a->directory.path, "cannot go on");
	if (a->store == FSQ_STORE_NONE || request->id || request->range.first ||
	    fsq_allocate_store_id(&a->directory.target, a->edit, &id))
		return 0;
	give_up_id(a);
	a->id = id;
	/* A file may have been made in it just now. */
	a->contents = would_make(a) ? EMPTY : FILLED;
	return claim(a, err);
}

static int choose_and_claim(struct fsq_assignment *a, struct fsq_error *err)
{
	struct fsq_id_range range = fsq_allocate_range(&a->request.range, a->request.registry);
	int rc = 1;

	for (int attempt = 0; attempt < ATTEMPTS && rc == 1; attempt++) {
		rc = choose_id(a, &range, err);
		if (rc == 0 && attempt == 0)
			rc = check_enforcement(a, err);
		if (rc)
			return rc;
		rc = claim(a, err);
		if (rc == 1 && (a->request.id || a->id >= range.last))
			break;
		range.first = a->id + 1;
	}
	if (rc == 0)
		rc = move_to_store_band(a, err);
	if (rc == 1)
		return fsq_fail(err, FSQ_E_CONFLICT, 0, a->directory.path,
				"project ID %u was taken at the same moment", a->id);
	return rc;
}

/* --- 3. limit --- */

/* Compute @limits_after from the current limits and the request. */
static int compute_limits(struct fsq_assignment *a, struct fsq_error *err)
{
	struct fsq_limits *asked = &a->asked;
	uint64_t hard = asked->mask & FSQ_HARD(FSQ_BLOCKS) ? asked->hard[FSQ_BLOCKS]
							   : a->limits_before.hard[FSQ_BLOCKS];

	if (a->request.soft_percent && fsq_limit_is_none(hard))
		return fsq_fail(err, FSQ_E_CONFLICT, 0, a->directory.path,
				"has no hard limit that the soft one could be a part of");
	if (a->request.soft_percent) {
		asked->soft[FSQ_BLOCKS] = hard * a->request.soft_percent / 100;
		asked->mask |= FSQ_SOFT(FSQ_BLOCKS);
	}
	/* Without a limit the kernel counts all the same. */
	a->limits_after = a->request.keep_limits
				  ? a->limits_before
				  : fsq_limits_wanted(&a->limits_before, asked,
						      a->request.unlimited, a->directory.target.fd);
	return 0;
}

/* Call before fsq_limits_leave_changed(), which drops unchanged limits. */
static int check_budgets(struct fsq_assignment *a, struct fsq_error *err)
{
	struct fsq_budget_check check = {
		.budgets = a->request.budgets,
		.count = a->request.budget_count,
		.force = a->request.over_budget,
		.dry_run = a->request.dry_run,
		.handle = &a->directory,
		.path = path_of(a),
		.id = a->id,
		.before = a->limits_before.hard[FSQ_BLOCKS],
		.after = a->limits_after.hard[FSQ_BLOCKS],
		.edit = a->edit,
	};
	int rc = fsq_budget_check(&check, err);

	a->over_budget = check.over;
	return rc;
}

/* Set the limits, unless they are so already. */
static int set_request_limits(struct fsq_assignment *a, struct fsq_error *err)
{
	int rc = compute_limits(a, err);

	if (rc == 0)
		rc = check_budgets(a, err);
	if (rc || !fsq_limits_leave_changed(&a->limits_after, &a->limits_before))
		return rc;
	rc = fsq_limits_set(&a->directory.target, a->id, &a->limits_after, a->request.dry_run,
			    a->directory.path, err);
	if (rc == 0 && !a->request.dry_run)
		a->marks |= LIMITED;
	return rc;
}

/* --- 4. tag --- */

static bool spares_others(const struct fsq_assignment *a)
{
	return a->listed || a->request.around;
}

/* Stat a registered directory in the one to be assigned; another filesystem is not touched. @return  0 or a negative errno */
static int stat_other(const struct fsq_assignment *a, const char *path, struct stat *st)
{
	int fd = fsq_openat2(a->directory.target.fd,
			     fsq_path_below(a->directory.path, path, strlen(path)),
			     O_PATH | O_DIRECTORY | O_CLOEXEC,
			     RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
	int rc = fd < 0 ? fd : fstat(fd, st) ? -errno : 0;

	if (fd >= 0)
		close(fd);
	/* Over a symlink, or a mount of a directory onto itself. It may also be outside, where the walk does not come. */
	return (rc == -ELOOP || rc == -EXDEV) && spares_others(a)
		       ? fsq_lookup_stat_registered(path, st)
		       : rc;
}

/*
 * Directories registered inside a registered directory stay with their projects, even if the outer one has lost its ID.
 * An unregistered directory gets no quota around a registered one unless the caller asks for that, even if the inner
 * one has lost its ID to a project above both.
 */
static int spare_others(struct fsq_assignment *a, struct fsq_error *err)
{
	const char *path = a->directory.path;
	struct stat top = { 0 }, st;
	char **others;
	size_t count;
	int rc = fsq_project_edit_below(a->edit, path, &others, &count);

	if (rc == 0 && fstat(a->directory.target.fd, &top))
		rc = -errno;
	rc = rc ? fsq_fail(err, FSQ_E_FAILED, -rc, path, "cannot walk the tree") : 0;
	for (size_t i = 0; i < count; i++) {
		struct fsq_inode_note note = { 0 };

		if (!a->listed)
			fsq_project_edit_id_of(a->edit, others[i], &note.id);
		if (rc || (!a->listed && note.id == a->id) || stat_other(a, others[i], &st) ||
		    st.st_dev != top.st_dev)
			continue;
		note.ino = st.st_ino;
		if (!spares_others(a))
			rc = fsq_add_hint(err, FSQ_HINT_AROUND,
					  fsq_fail(err, FSQ_E_CONFLICT, 0, others[i],
						   "belongs to project %u already", note.id));
		else if (fsq_inode_map_add(&a->tag_request.others, &note) < 0)
			rc = fsq_fail_errno(err, ENOMEM, path, "cannot walk the tree");
	}
	for (size_t i = 0; i < count; i++)
		free(others[i]);
	free(others);
	if (spares_others(a))
		fsq_project_edit_elsewhere(a->edit, path, a->id, &a->tag_request.elsewhere);
	return rc;
}

static int request_tag(struct fsq_assignment *a, struct fsq_error *err)
{
	const struct fsq_inode_project *was = &a->directory.project;
	int rc;

	a->tag_request = (struct fsq_tree_tag_request){
		.fd = a->directory.target.fd,
		.path = a->directory.path,
		.rule = FSQ_TAG_CLAIM,
		.from = *was,
		.to = { .id = a->id, .inherit = true },
		.is_new = a->is_new,
		.goes_on = was->id == a->id,
		.others_carry = !a->listed,
		.dry_run = a->request.dry_run,
		.options = a->request.options,
	};
	/* An assignment was not finished: files that it has not reached have the ID of the directory above, or none. */
	rc = was->id == a->id ? fsq_handle_read_above(&a->directory, &a->tag_request.from) : 0;
	if (rc)
		return fsq_fail_errno(err, -rc, a->directory.path,
				      "cannot find the project of the directory above");
	/* The owner has changed the ID of the directory, so its contents may have any. */
	if (a->listed && was->id != 0 && was->id != a->id)
		a->tag_request.rule = FSQ_TAG_RECLAIM;
	return spare_others(a, err);
}

/*
 * The kernel refuses to move a file with another ID into a directory that hands on its own. So moved files
 * turn up where the walk has not been yet; only a directory that was lost on the way takes another walk.
 */
static int walk_until_all_is_tagged(struct fsq_assignment *a, struct fsq_error *err)
{
	struct fsq_tree_found found = { .lost = true };
	int rc = 0;

	for (int i = 0; i < WALKS && rc == 0 && found.lost; i++)
		rc = fsq_tree_tag_walk(a->tree, &found, err);
	a->special = found.special;
	if (rc == 0 && found.lost)
		rc = fsq_fail(err, FSQ_E_FAILED, 0, a->directory.path,
			      "cannot be walked while directories in it are moved about");
	return rc;
}

/*
 * Line and ID of the directory say that its contents have the ID, also after a power failure. So sync the
 * contents before the last of the two is written.
 */
static int tag_contents(struct fsq_assignment *a, struct fsq_error *err)
{
	int rc = walk_until_all_is_tagged(a, err);

	if (rc == 0)
		rc = fsq_handle_sync(&a->directory, err);
	if (rc || !comes_last(a))
		return rc;
	/* Its owner may have changed or removed the ID meanwhile. */
	fsq_inode_project_get(a->directory.target.fd, &a->directory.project);
	rc = tag_directory(a, err);
	/* Files made in it meanwhile. */
	if (rc == 0)
		rc = walk_until_all_is_tagged(a, err);
	return rc ? rc : fsq_handle_sync(&a->directory, err);
}

/*
 * Did a release remove the name and the limits while the locks were open?
 *
 * @named    whether the ID had a name before; otherwise compare the limits, which an assignment always has
 */
static bool was_released(struct fsq_assignment *a, bool named)
{
	struct fsq_limits limits;
	struct fsq_dquot dquot;

	if (named)
		return !fsq_project_edit_has_name(a->edit, a->id);
	if (fsq_quotactl_get(&a->directory.target, FSQ_PROJECT, a->id, &dquot))
		return false;
	limits = fsq_limits_of(&dquot);
	return fsq_limits_are_none(&limits);
}

/* Register the name, unless the project has one. A completed registration without a name stays so. */
static int register_name(struct fsq_assignment *a, struct fsq_error *err)
{
	const char *name = a->request.name;
	char default_name[FSQ_USUAL_NAME];
	uint32_t id;
	int rc;

	if (!registers(a) || (!name && a->complete) || fsq_project_edit_has_name(a->edit, a->id))
		return 0;
	fsq_usual_name(default_name, a->id);
	/* Another project may have the name. */
	if (!name && fsq_project_edit_id_of_name(a->edit, default_name, &id))
		return 0;
	name = name ? name : default_name;
	if (a->request.dry_run)
		return 0;
	rc = fsq_project_edit_add_name(a->edit, a->id, name, err);
	if (rc == 0)
		a->marks |= NAMED;
	a->nameless = fsq_project_edit_is_shared(a->edit, a->id, a->directory.path);
	return rc;
}

/*
 * Give it to all in the directory; in a dry run only see whether all can get it. Called with the locks, which are
 * dropped meanwhile: kubelet may want them.
 */
static int tag_tree(struct fsq_assignment *a, struct fsq_error *err)
{
	struct fsq_inode_project now;
	bool listed, named;
	uint32_t id = 0;
	int rc = request_tag(a, err);

	if (rc)
		return rc;
	a->tree = fsq_tree_tag_new(&a->tag_request);
	if (!a->tree)
		return fsq_fail_errno(err, ENOMEM, a->directory.path, "cannot walk the tree");
	if (a->request.dry_run)
		return walk_until_all_is_tagged(a, err);
	/*
	 * Register the name while the locks are open, so that the ID is in a file: other programs may look on
	 * other filesystems.
	 */
	rc = register_name(a, err);
	if (rc)
		return rc;
	named = fsq_project_edit_has_name(a->edit, a->id);
	fsq_project_edit_unlock(a->edit);
	rc = tag_contents(a, err);
	if (rc == 0)
		rc = fsq_project_edit_lock(a->edit, false, err);
	if (rc == 0)
		rc = fsq_handle_check_path(&a->directory, err);
	if (rc)
		return rc;
	listed = fsq_project_edit_id_of(a->edit, a->directory.path, &id);
	if ((a->listed && !listed) || was_released(a, named))
		return fsq_fail(err, FSQ_E_CONFLICT, 0, a->directory.path,
				"was released at the same time");
	if ((listed && id != a->id) || fsq_inode_project_get(a->directory.target.fd, &now) ||
	    now.id != a->id || !now.inherit)
		return fsq_fail(err, FSQ_E_CONFLICT, 0, a->directory.path,
				"was given to another project at the same time");
	a->listed = listed;
	return 0;
}

/* --- 5. register --- */

/* Only now others than root may enter a new directory. */
static int finish_directory(struct fsq_assignment *a, struct fsq_error *err)
{
	const struct fsq_assign_request *request = &a->request;
	int rc;

	if (!a->unfinished || request->dry_run)
		return 0;
	rc = fsq_directory_finish(a->directory.target.fd, request->mode ? request->mode : NEW_MODE,
				  request->owner, request->group);
	return rc ? fsq_fail_errno(err, -rc, a->directory.path, "cannot get its owner and mode")
		  : 0;
}

static int register_directory(struct fsq_assignment *a, struct fsq_error *err)
{
	int rc = register_name(a, err);

	if (rc || a->request.dry_run)
		return rc;
	if (a->note && fsq_assignment_change(a) == FSQ_CREATED)
		rc = a->note->write(a->note->arg, a->id, err);
	if (rc || a->listed || !registers(a))
		return rc;
	rc = fsq_project_edit_add_directory(a->edit, a->id, a->directory.path, err);
	if (rc == 0)
		a->marks |= REGISTERED;
	return rc;
}

/* --- and back --- */

/* Remove the added name, unless another directory has joined the project by it. */
static int remove_name(struct fsq_assignment *a, struct fsq_error *err)
{
	if (!(a->marks & NAMED) ||
	    (!a->nameless && fsq_project_edit_is_shared(a->edit, a->id, a->directory.path)))
		return 0;
	return fsq_project_edit_remove_names(a->edit, a->id, err);
}

/* First undo what was added under these locks, then what was added before. */
static int unregister_marked(struct fsq_assignment *a, struct fsq_error *err)
{
	int rc = 0;

	if (!a->done)
		fsq_project_edit_rollback(a->edit);
	if (a->marks & (NAMED | REGISTERED)) {
		rc = fsq_project_edit_lock(a->edit, true, err);
		if (rc == 0)
			rc = remove_name(a, err);
		if (rc == 0 && (a->marks & REGISTERED))
			rc = fsq_project_edit_remove(a->edit, a->id, a->directory.path, false, err);
	}
	return rc;
}

/* @return   as fsq_assignment_rollback() */
static int undo_marks(struct fsq_assignment *a, struct fsq_error *err)
{
	int rc = unregister_marked(a, err);

	if (a->marks & LIMITED)
		fsq_limits_put_back(&a->directory.target, a->id, &a->limits_after,
				    &a->limits_before);
	/* Files left in the tree belong to the directory as long as it has the ID: the next assign goes on from there. */
	if (untag_assigned_tree(a) == 0)
		untag_assigned_directory(a);
	fsq_tree_tag_free(a->tree);
	a->tree = NULL;
	if ((a->marks & MADE) && !a->request.dry_run)
		fsq_directory_unmake(&a->making, a->directory.target.fd);
	a->marks = 0;
	return rc;
}

/* --- the whole --- */

/* Each step with the locks. A dry run checks whether it could be done. */
static int carry_out(struct fsq_assignment *a, struct fsq_error *err)
{
	int rc = choose_and_claim(a, err);

	if (rc == 0)
		rc = set_request_limits(a, err);
	if (rc == 0 && has_tree(a))
		rc = tag_tree(a, err);
	if (rc == 0)
		rc = finish_directory(a, err);
	if (rc == 0)
		rc = register_directory(a, err);
	/* Without a tree everything is done already, and the signal came too late. */
	if (rc == 0 && has_tree(a) && fsq_is_cancelled(a->request.options))
		rc = fsq_fail(err, FSQ_E_FAILED, EINTR, a->directory.path, "stopped");
	return rc;
}

/* Has another process made the directory, and then given it up? */
static bool has_vanished(const struct fsq_assignment *a)
{
	struct stat st;

	return a->request.make && !(a->marks & MADE) && fstat(a->directory.target.fd, &st) == 0 &&
	       st.st_nlink == 0;
}

static int assign_opened(struct fsq_assignment *a, struct fsq_error *err)
{
	const struct fsq_assign_request *request = &a->request;
	int rc = find_asked(a, err);

	if (rc == 0 && registers(a) && strchr(path_of(a), '\n'))
		rc = fsq_add_hint(err, FSQ_HINT_NO_REGISTER,
				  fsq_fail(err, FSQ_E_USAGE, 0, request->directory,
					   "cannot be registered: there is a newline in its path"));
	if (rc == 0) {
		fsq_project_edit_before_locks(a->edit, fsq_quotactl_wait_thawed,
					      &a->directory.target);
		rc = fsq_project_edit_lock_tree(a->edit, a->directory.target.fd, a->directory.path,
						false, err);
	}
	if (rc == 0)
		rc = carry_out(a, err);
	if (rc) {
		a->vanished = has_vanished(a);
		undo_marks(a, NULL);
	}
	fsq_project_edit_unlock(a->edit);
	fsq_project_edit_unlock_tree(a->edit);
	rc = fsq_handle_explain(&a->directory, rc, err);
	if (rc && err && would_make(a) && strcmp(err->path, a->directory.path) == 0)
		snprintf(err->path, sizeof(err->path), "%s", path_of(a));
	return rc;
}

int fsq_assign_noted(struct fsq_assignment **out, const struct fsq_assign_request *request,
		     const struct fsq_assign_note *note, struct fsq_error *err)
{
	if (!out || !request)
		return fsq_fail_null(err);

	struct fsq_assign_request all;
	bool again = true;
	int rc = fsq_assign_read_request(&all, request, err);

	if (rc == 0 && request->name && !fsq_project_name_is_valid(request->name))
		rc = fsq_fail(err, FSQ_E_USAGE, 0, request->directory,
			      "\"%.100s\" cannot be the name of a project", request->name);
	if (rc)
		return rc;
	for (int attempt = 0; attempt < ATTEMPTS && again; attempt++) {
		struct fsq_assignment *a = calloc(1, sizeof(*a));

		if (a)
			a->edit = fsq_project_edit_new(all.registry, all.dry_run, all.options);
		if (!a || !a->edit) {
			free(a);
			return fsq_fail_errno(err, ENOMEM, request->directory, "cannot go on");
		}
		a->request = all;
		a->note = note;
		a->directory.target.fd = a->making.parent = -1;
		rc = open_or_make(a, err);
		if (rc == 0)
			rc = assign_opened(a, err);
		if (rc == 0) {
			a->done = true;
			*out = a;
			return 0;
		}
		again = a->vanished;
		fsq_assignment_free(a);
	}
	return rc;
}

int fsq_assign(struct fsq_assignment **out, const struct fsq_assign_request *request,
	       struct fsq_error *err)
{
	return fsq_assign_noted(out, request, NULL, err);
}

int fsq_assignment_rollback(struct fsq_assignment *a, struct fsq_error *err)
{
	if (!a)
		return fsq_fail_null(err);

	int rc;

	fsq_project_edit_lock_tree(a->edit, a->directory.target.fd, a->directory.path, true, NULL);
	rc = undo_marks(a, err);
	fsq_project_edit_unlock(a->edit);
	fsq_project_edit_unlock_tree(a->edit);
	return rc;
}

void fsq_assignment_free(struct fsq_assignment *a)
{
	if (!a)
		return;
	fsq_project_edit_free(a->edit);
	fsq_tree_tag_free(a->tree);
	fsq_inode_map_free(&a->tag_request.others);
	fsq_entries_free(&a->tag_request.elsewhere);
	fsq_name_close(&a->making);
	fsq_handle_close(&a->directory);
	free(a);
}

/* --- what it has done --- */

uint32_t fsq_assignment_id(const struct fsq_assignment *assignment)
{
	if (!assignment)
		return 0;
	return assignment->id;
}

enum fsq_change fsq_assignment_change(const struct fsq_assignment *a)
{
	if (!a)
		return FSQ_UNCHANGED;
	if ((a->marks & MADE) || (!a->listed && registers(a)) || a->is_new)
		return FSQ_CREATED;
	return a->complete && fsq_limits_are_same(&a->limits_before, &a->limits_after)
		       ? FSQ_UNCHANGED
		       : FSQ_CHANGED;
}

void fsq_assignment_limits(const struct fsq_assignment *assignment, struct fsq_limits *before,
			   struct fsq_limits *after)
{
	if (!assignment || !before || !after)
		return;
	*before = assignment->limits_before;
	*after = assignment->limits_after;
}

enum fsq_enforcement fsq_assignment_enforcement(const struct fsq_assignment *assignment)
{
	if (!assignment)
		return FSQ_ENFORCED;
	return assignment->enforcement;
}

uint64_t fsq_assignment_space(const struct fsq_assignment *assignment)
{
	return assignment->space;
}

uint64_t fsq_assignment_elsewhere(const struct fsq_assignment *assignment)
{
	return assignment->elsewhere;
}

uint32_t fsq_assignment_outer(const struct fsq_assignment *assignment)
{
	return assignment->outer == assignment->id ? 0 : assignment->outer;
}

bool fsq_assignment_may_be_full(const struct fsq_assignment *assignment)
{
	struct statvfs space;

	return fstatvfs(assignment->directory.target.fd, &space) || space.f_bfree == 0 ||
	       space.f_ffree == 0;
}

uint64_t fsq_assignment_special(const struct fsq_assignment *assignment)
{
	return assignment->special;
}

enum fsq_store_relation fsq_assignment_store(const struct fsq_assignment *assignment)
{
	return assignment->store;
}

const struct fsq_budget *fsq_assignment_over_budget(const struct fsq_assignment *assignment)
{
	return assignment->over_budget;
}
