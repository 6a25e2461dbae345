/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A quota put on a directory: all or nothing.
 *
 * The order, and what a process that is killed leaves:
 *
 *  1. Under the locks of both files choose an ID, give it to the directory, and see in the kernel's
 *     count that nobody else has it. Killed here: a directory with an ID, which the next assign
 * takes up and release takes off. The directory comes first because it is the one place where such
 * a process is found again; a limit that nothing refers to would lose the ID.
 *  2. Set the limits. Killed here: the same, with limits.
 *  3. If there is something in the directory: register the name, so that the ID shows in a file,
 * drop the locks, give the ID to everything in it, lock again, and see that nobody interfered.
 * Killed here: the same, with a name, and a part of the files tagged.
 *  4. Register name and directory. The line of the projects file comes last and says that all is
 *     done: without it the next assign goes through the tree again.
 *
 * If there is that line already, but the directory has lost its ID, the directory comes after what is
 * in it: line and ID together say that all is done.
 *
 * All of it under a lock of the tree: no other assign or release is in it, or above it, meanwhile.
 *
 * A failure rolls back in the opposite order. The steps are in assign_tree.c and assign_limits.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "allocate.h"
#include "assignment.h"
#include "limits.h"
#include "owner.h"
#include "quota/base/error.h"
#include "quota/base/path.h"
#include "store.h"

/* How many IDs are tried that another process takes at the same moment. */
#define ATTEMPTS 8

/* --- which ID --- */

/* Does the request match the current project? */
static int check_current(const struct fsq_assignment *a, struct fsq_error *err)
{
	const struct fsq_assign_request *request = a->request;
	const char *path = a->directory.path, *name;
	size_t length = 0;
	uint32_t id;

	if (request->id && request->id != a->id)
		return fsq_fail(err, FSQ_E_CONFLICT, 0, path, "has project ID %u already", a->id);
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
	const struct fsq_assign_request *request = a->request;
	const struct fsq_id_range insisted = { request->id, request->id };
	int rc;

	if (request->name && fsq_project_edit_id_of_name(a->edit, request->name, &a->id)) {
		if (request->id && request->id != a->id)
			return fsq_fail(err, FSQ_E_CONFLICT, 0, a->directory.path,
					"cannot be project %u: \"%.100s\" is %u", request->id,
					request->name, a->id);
		return 0;
	}
	a->is_new = true;
	rc = fsq_allocate_id(&a->directory, a->edit, request->id ? &insisted : range,
			     fsq_registry_is_visible(request->registry), &a->id, err);
	if (rc == FSQ_E_CONFLICT && request->id)
		rc = fsq_fail(err, FSQ_E_CONFLICT, 0, NULL, "project ID %u is in use", request->id);
	return fsq_add_path(err, a->directory.path, rc);
}

/*
 * With the locks, so nobody can register it first; and before it gets an ID: the kernel refuses to rename it
 * below a parent that hands on another one.
 */
static int show_directory(struct fsq_assignment *a, struct fsq_error *err)
{
	int rc = fsq_directory_show(&a->making);

	/* ENOENT: another process that gave up has removed the hidden directory. */
	a->overtaken = rc == -EEXIST || rc == -ENOENT;
	if (rc)
		return fsq_fail_errno(err, -rc, a->request->directory, "cannot be made");
	a->directory.hidden = false;
	return 0;
}

static int find_owner(struct fsq_assignment *a, struct fsq_owner *owner, struct fsq_error *err)
{
	const struct fsq_assign_request *request = a->request;
	const struct fsq_claim wanted = { request->id, request->name, request->keep_limits };
	const struct stat st = { .st_dev = a->dev, .st_ino = a->ino };
	const struct fsq_planned *planned;
	int rc;

	if (a->unmade) {
		/* It would inherit from the directory above, and has no project of its own yet. */
		*owner = (struct fsq_owner){ 0 };
		rc = fsq_project_edit_lock(a->edit, false, err);
		if (rc == 0)
			rc = fsq_handle_read_project(&a->directory, err);
		if (!a->directory.project.inherit)
			a->directory.project = (struct fsq_inode_project){ 0 };
		owner->listed = rc == 0 && fsq_project_edit_id_of(a->edit, a->unmade, &owner->id);
	} else {
		rc = fsq_owner_lock(&a->directory, a->edit, &wanted, request->options, owner, err);
	}
	planned = fsq_assign_plan_find(a->plan, &st, a->unmade);
	if (rc == 0 && planned) {
		*owner = (struct fsq_owner){ .id = planned->id, .listed = true };
		a->complete = true;
	}
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
	const struct fsq_assign_request *request = a->request;
	struct fsq_owner owner;
	int rc = find_owner(a, &owner, err);

	if (rc == 0 && a->directory.hidden)
		rc = show_directory(a, err);
	if (rc == 0 && request->keep_limits)
		rc = check_kept(a, &owner, err);
	if (rc)
		return rc;
	a->is_new = false;
	a->id = owner.id;
	a->listed = owner.listed;
	if (a->id == 0) {
		rc = choose_new_id(a, range, err);
		/* By the name the next call finds the project, if this one is killed. */
		a->joins = owner.disputed && (!a->is_new || request->name);
		return rc;
	}
	a->complete |= a->listed && !a->unmade && a->directory.project.id == a->id &&
		       a->directory.project.inherit;
	return check_current(a, err);
}

/* --- steps, each of which can be undone --- */

/* Take the ID off the directory, and off what was made in it meanwhile. */
static void give_up_id(struct fsq_assignment *a)
{
	struct fsq_dquot dquot;

	if (fsq_assignment_read_quota(a, &dquot, NULL) || dquot.form[FSQ_INODES].used > 1)
		fsq_assignment_untag_tree(a);
	fsq_assignment_untag(a);
	fsq_tree_tag_free(a->tree);
	a->tree = NULL;
}

/*
 * Give the ID to the directory, and check that no other process has taken it.
 * @return   as fsq_assign(); 1 when another process has
 */
static int claim(struct fsq_assignment *a, struct fsq_error *err)
{
	struct fsq_dquot dquot;
	int rc = 0;

	/* A known ID may be in use already. A caller who may not read its quota may not set it either. */
	if (!a->is_new)
		rc = fsq_assignment_read_quota(a, &dquot, err);
	if (rc == 0 && !fsq_assignment_comes_last(a))
		rc = fsq_assignment_tag(a, err);
	if (rc == 0 && a->is_new) {
		rc = fsq_assignment_read_quota(a, &dquot, err);
		if (rc == 0 && dquot.form[FSQ_INODES].used > (a->tagged ? 1U : 0U)) {
			/* choose_id() locks them again. */
			fsq_project_edit_unlock(a->edit);
			give_up_id(a);
			return 1;
		}
	}
	return rc;
}

/*
 * A container store gets an ID from a band of its own, unless the caller chooses one. The directory is
 * searched after it got an ID: what is made in it from then on has the ID, too.
 * @return   as claim()
 */
static int move_to_store_band(struct fsq_assignment *a, struct fsq_error *err)
{
	const struct fsq_assign_request *request = a->request;
	uint32_t id;

	if (!a->is_new)
		return 0;
	if (fsq_store_of(&a->directory, !a->made && fsq_assignment_has_tree(a), &a->store))
		return fsq_fail_errno(err, ENOMEM, a->directory.path, "cannot go on");
	if (a->store == FSQ_STORE_NONE || request->id || request->range.first ||
	    fsq_allocate_store_id(&a->directory.target, a->edit, &id))
		return 0;
	give_up_id(a);
	a->id = id;
	/* A file may have been made in it just now. */
	a->filled = !a->unmade;
	return claim(a, err);
}

static int choose_and_claim(struct fsq_assignment *a, struct fsq_error *err)
{
	struct fsq_id_range range = fsq_allocate_range(&a->request->range, a->request->registry);
	int rc = 1;

	for (int attempt = 0; attempt < ATTEMPTS && rc == 1; attempt++) {
		rc = choose_id(a, &range, err);
		if (rc == 0 && attempt == 0)
			rc = fsq_assignment_check_enforcement(a, err);
		if (rc)
			return rc;
		rc = claim(a, err);
		if (rc == 1 && (a->request->id || a->id >= range.last))
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

static char *path_of(const struct fsq_assignment *a)
{
	return a->unmade ? a->unmade : a->directory.path;
}

static int register_it(struct fsq_assignment *a, struct fsq_error *err)
{
	const struct fsq_planned plan = { path_of(a), a->dev, a->ino, a->id, a->limits_after };
	int rc = 0;

	if (!fsq_registry_or_default(a->request->registry)->none)
		rc = fsq_assignment_register_name(a, err);
	if (rc == 0 && a->request->dry_run)
		return fsq_assignment_planned(a, fsq_assign_plan_add(a->plan, &plan), err);
	if (rc || a->listed || fsq_registry_or_default(a->request->registry)->none)
		return rc;
	rc = fsq_project_edit_add_directory(a->edit, a->id, a->directory.path, err);
	a->registered = rc == 0;
	return rc;
}

/* A dry run checks whether each step could be done, and adds the result to the plan. */
static int carry_out(struct fsq_assignment *a, struct fsq_error *err)
{
	int rc = choose_and_claim(a, err);

	if (rc == 0)
		rc = fsq_assignment_set_limits(a, err);
	if (rc == 0 && fsq_assignment_has_tree(a))
		rc = fsq_assignment_tag_tree(a, err);
	if (rc == 0)
		rc = register_it(a, err);
	/* Without a tree everything is done already, and the signal came too late. */
	if (rc == 0 && fsq_assignment_has_tree(a) && fsq_is_cancelled(a->request->options))
		rc = fsq_fail(err, FSQ_E_FAILED, EINTR, a->directory.path, "stopped");
	if (rc)
		fsq_assignment_rollback(a, NULL);
	return rc;
}

static void unmake(struct fsq_assignment *a)
{
	if (a->made && !a->request->dry_run)
		fsq_directory_unmake(&a->making);
	a->made = false;
}

static int assign(struct fsq_assignment *a, struct fsq_error *err)
{
	const struct fsq_assign_request *request = a->request;
	int rc;

	if (!fsq_registry_or_default(request->registry)->none && strchr(path_of(a), '\n'))
		return fsq_fail(err, FSQ_E_USAGE, 0, request->directory,
				"cannot be registered: there is a newline in its path");
	a->edit = fsq_project_edit_new(request->registry, request->dry_run, request->options);
	if (!a->edit)
		return fsq_fail_errno(err, ENOMEM, request->directory, "cannot go on");
	fsq_project_edit_before_locks(a->edit, fsq_quotactl_wait_thawed, &a->directory.target);
	if (a->plan)
		fsq_project_edit_plan(a->edit, a->plan->lines[0], a->plan->lines[1]);
	rc = fsq_project_edit_lock_tree(a->edit, a->directory.target.fd, a->directory.path, false,
					err);
	if (rc == 0)
		rc = carry_out(a, err);
	fsq_project_edit_unlock(a->edit);
	fsq_project_edit_unlock_tree(a->edit);
	rc = fsq_handle_explain(&a->directory, rc, err);
	if (rc && err && a->unmade && strcmp(err->path, a->directory.path) == 0)
		snprintf(err->path, sizeof(err->path), "%s", a->unmade);
	return rc;
}

/*
 * Open the nearest existing directory above @path.
 *
 * @rest     set to the rest of @path
 * @return   a descriptor, or a negative errno
 */
static int open_nearest(const char *path, const char **rest)
{
	size_t end = strlen(path);
	char *above;
	int fd;

	do {
		while (end > 0 && path[end - 1] == '/')
			end--;
		while (end > 0 && path[end - 1] != '/')
			end--;
		above = end ? strndup(path, end) : strdup(".");
		if (!above)
			return -ENOMEM;
		fd = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		free(above);
	} while (fd < 0 && errno == ENOENT && end > 0);
	*rest = path + end;
	return fd < 0 ? -errno : fd;
}

static bool is_planned(const struct fsq_assignment *a, const char *path)
{
	const struct stat none = { 0 };

	return fsq_assign_plan_find(a->plan, &none, path);
}

/* Are the missing directories above it planned? @there  length of the existing part */
static bool is_way_planned(const struct fsq_assignment *a, char *path, size_t there)
{
	bool planned = true;

	for (char *slash = path + there + 1; planned && (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		planned = is_planned(a, path);
		*slash = '/';
	}
	return planned;
}

/* A dry run uses the nearest directory above in its stead. */
static int open_above(struct fsq_assignment *a, struct fsq_error *err)
{
	const char *rest = NULL, *below;
	int fd = open_nearest(a->request->directory, &rest), rc = fd < 0 ? fd : 0;
	char *there = fd < 0 ? NULL : fsq_fd_path(fd);
	size_t length = there && strcmp(there, "/") ? strlen(there) : 0;

	if (rc == 0 && (!there || asprintf(&a->unmade, "%.*s/%s", (int)length, there, rest) < 0)) {
		a->unmade = NULL;
		rc = -ENOMEM;
	}
	if (rc == 0) {
		for (size_t end = strlen(a->unmade); a->unmade[end - 1] == '/'; end--)
			a->unmade[end - 1] = '\0';
		below = strchr(a->unmade + length + 1, '/');
		if (!is_way_planned(a, a->unmade, length))
			rc = -ENOENT;
		else if (!below && faccessat(fd, ".", W_OK | X_OK, AT_EACCESS))
			rc = -errno;
	}
	if (rc) {
		free(there);
		if (fd >= 0)
			close(fd);
		return fsq_fail_errno(err, -rc, a->request->directory, "cannot be made");
	}
	fsq_handle_take_directory(&a->directory, fd, there);
	a->made = !is_planned(a, a->unmade);
	/* The contents of the directory above do not matter. */
	a->looked = true;
	return 0;
}

static int make(struct fsq_assignment *a, struct fsq_error *err)
{
	const struct fsq_assign_request *request = a->request;
	const struct fsq_new_directory new = {
		.mode = request->mode ? request->mode : FSQ_NEW_MODE,
		.owner = request->owner,
		.group = request->group,
		.wait_seconds = fsq_registry_or_default(request->registry)->lock_seconds,
		.options = request->options,
	};
	int fd = fsq_directory_make(&a->making, request->directory, &new);

	if (fd < 0) {
		fsq_directory_keep(&a->making);
		a->overtaken = fd == -EEXIST;
		return fsq_fail_errno(err, -fd, request->directory, "cannot be made");
	}
	fsq_handle_take_directory(&a->directory, fd, a->making.path);
	a->making.path = NULL;
	a->directory.hidden = true;
	a->made = true;
	return 0;
}

static int open_or_make(struct fsq_assignment *a, struct fsq_error *err)
{
	const struct fsq_assign_request *request = a->request;
	int rc = request->beneath
			 ? fsq_handle_open_beneath(&a->directory, request->beneath,
						   request->directory, err)
			 : fsq_handle_open_directory(&a->directory, request->directory, err);

	if (rc != FSQ_E_NOT_FOUND || !request->make)
		return rc;
	return request->dry_run ? open_above(a, err) : make(a, err);
}

static int assign_once(struct fsq_assignment *a, struct fsq_error *err)
{
	int rc = open_or_make(a, err);
	struct stat st;

	if (rc) {
		a->directory = (struct fsq_handle){ .target.fd = -1 };
		return rc;
	}
	if (a->request->dry_run && fstat(a->directory.target.fd, &st) == 0) {
		a->dev = st.st_dev;
		a->ino = a->unmade ? 0 : st.st_ino;
	}
	rc = fsq_assignment_find_asked(a, err);
	return rc ? rc : assign(a, err);
}

int fsq_assign(struct fsq_assignment **out, const struct fsq_assign_request *request,
	       struct fsq_error *err)
{
	struct fsq_assign_request all;
	struct fsq_assignment *a;
	int rc = fsq_assign_read_request(&all, request, err);

	if (rc == 0 && request->name && !fsq_project_name_is_valid(request->name))
		return fsq_fail(err, FSQ_E_USAGE, 0, request->directory,
				"\"%.100s\" cannot be the name of a project", request->name);
	if (rc)
		return rc;
	for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
		bool overtaken;

		a = calloc(1, sizeof(*a));
		if (!a)
			return fsq_fail_errno(err, ENOMEM, request->directory, "cannot go on");
		a->asked_for = all;
		a->request = &a->asked_for;
		a->plan = all.dry_run ? all.plan : NULL;
		a->directory.target.fd = a->making.parent = -1;
		rc = assign_once(a, err);
		if (rc == 0) {
			a->done = true;
			*out = a;
			return 0;
		}
		overtaken = a->overtaken;
		unmake(a);
		fsq_assignment_free(a);
		if (!overtaken)
			break;
	}
	return rc;
}

uint32_t fsq_assignment_id(const struct fsq_assignment *assignment)
{
	return assignment->id;
}

enum fsq_change fsq_assignment_change(const struct fsq_assignment *a)
{
	if (a->made || (!a->listed && !fsq_registry_or_default(a->request->registry)->none) ||
	    a->is_new)
		return FSQ_CREATED;
	return a->complete && fsq_limits_are_same(&a->limits_before, &a->limits_after)
		       ? FSQ_UNCHANGED
		       : FSQ_CHANGED;
}

void fsq_assignment_limits(const struct fsq_assignment *assignment, struct fsq_limits *before,
			   struct fsq_limits *after)
{
	*before = assignment->limits_before;
	*after = assignment->limits_after;
}

enum fsq_enforcement fsq_assignment_enforcement(const struct fsq_assignment *assignment)
{
	return assignment->enforcement;
}

uint64_t fsq_assignment_space(const struct fsq_assignment *assignment)
{
	return assignment->space;
}

enum fsq_store_relation fsq_assignment_store(const struct fsq_assignment *assignment)
{
	return assignment->store;
}

const struct fsq_budget *fsq_assignment_over_budget(const struct fsq_assignment *assignment)
{
	return assignment->over_budget;
}

/* Remove the added name, unless another directory has joined the project by it. */
static int remove_name(struct fsq_assignment *a, struct fsq_error *err)
{
	if (!a->named ||
	    (!a->nameless && fsq_project_edit_is_shared(a->edit, a->id, a->directory.path)))
		return 0;
	return fsq_project_edit_remove_names(a->edit, a->id, err);
}

/* First undo what was added under these locks, then what was added before. */
static int unregister(struct fsq_assignment *a, struct fsq_error *err)
{
	int rc = 0;

	if (!a->done)
		fsq_project_edit_rollback(a->edit);
	if (a->registered || a->named) {
		rc = fsq_project_edit_lock(a->edit, true, err);
		if (rc == 0)
			rc = remove_name(a, err);
		if (rc == 0 && a->registered)
			rc = fsq_project_edit_remove(a->edit, a->id, a->directory.path, false, err);
	}
	a->registered = a->named = false;
	return rc;
}

int fsq_assignment_rollback(struct fsq_assignment *a, struct fsq_error *err)
{
	int rc;

	if (a->done)
		fsq_project_edit_lock_tree(a->edit, a->directory.target.fd, a->directory.path, true,
					   NULL);
	rc = unregister(a, err);

	fsq_assignment_unset_limits(a);
	/*
	 * Files left in the tree belong to the directory as long as it has the ID: the next assign goes on
	 * from there.
	 */
	if (fsq_assignment_untag_tree(a) == 0)
		fsq_assignment_untag(a);
	fsq_tree_tag_free(a->tree);
	a->tree = NULL;
	unmake(a);
	fsq_project_edit_unlock(a->edit);
	if (a->done)
		fsq_project_edit_unlock_tree(a->edit);
	return rc;
}

void fsq_assignment_free(struct fsq_assignment *a)
{
	if (!a)
		return;
	fsq_project_edit_free(a->edit);
	fsq_tree_tag_free(a->tree);
	for (size_t i = 0; i < a->tag_request.other_count; i++)
		free(a->others[i]);
	free(a->others);
	free(a->unmade);
	fsq_entries_free(&a->tag_request.elsewhere);
	fsq_directory_keep(&a->making);
	fsq_handle_close(&a->directory);
	free(a);
}
