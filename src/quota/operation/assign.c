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
 * A failure rolls back in the opposite order.
 */
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "allocate.h"
#include "enforcement.h"
#include "limits.h"
#include "make_directory.h"
#include "owner.h"
#include "quota/base/error.h"
#include "quota/kernel/fs_type.h"
#include "quota/kernel/space.h"
#include "tree_tag.h"

/* How often an ID that another process took at the same moment is given up for another one. */
#define ATTEMPTS 8
/* How many walks, while files in the tree are moved about. */
#define WALKS 8

struct fsq_assignment {
	const struct fsq_assign_request *request;
	struct fsq_place directory;
	struct fsq_project_edit *edit;
	bool done;
	uint32_t id;
	bool is_new;	     /* nobody had the ID before */
	bool listed;	     /* as the directory's */
	bool complete;	     /* it was registered, and so all had been done */
	bool joins;	     /* a project that others are in, but carried another's ID */
	bool looked, filled; /* is there something in the directory? */
	enum fsq_enforcement enforcement;
	uint64_t space;
	/* What has been changed, for the rollback: */
	bool tagged;
	bool limited;
	bool made; /* the directory */
	struct fsq_limits asked, limits_before, limits_after;
	struct fsq_tree_tag_request tag_request;
	char **others; /* of the request */
	struct fsq_tree_tag *tree;
	bool registered;
	bool named;
	bool nameless; /* until then, but with other directories */
};

/* --- which ID --- */

/* Is what is asked for what the directory has? */
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
	rc = fsq_allocate_id(&a->directory.target, a->edit, request->id ? &insisted : range, &a->id,
			     err);
	if (rc == FSQ_E_CONFLICT && request->id)
		rc = fsq_fail(err, FSQ_E_CONFLICT, 0, NULL, "project ID %u is in use", request->id);
	return fsq_add_path(err, a->directory.path, rc);
}

/* Locks both files. */
static int choose_id(struct fsq_assignment *a, const struct fsq_id_range *range,
		     struct fsq_error *err)
{
	const struct fsq_assign_request *request = a->request;
	const struct fsq_claim claim = { request->id, request->name };
	struct fsq_owner owner;
	int rc = fsq_owner_lock(&a->directory, a->edit, &claim, request->options, &owner, err);

	if (rc)
		return rc;
	a->is_new = false;
	a->id = owner.id;
	a->listed = owner.listed;
	if (a->id == 0) {
		rc = choose_new_id(a, range, err);
		a->joins = owner.disputed && !a->is_new;
		return rc;
	}
	a->complete = a->listed && a->directory.project.id == a->id && a->directory.project.inherit;
	return check_current(a, err);
}

/* --- steps, each of which can be undone --- */

static int tag(struct fsq_assignment *a, struct fsq_error *err)
{
	struct fsq_inode_project now = a->directory.project;
	int rc;

	if (now.id == a->id && now.inherit)
		return 0;
	rc = fsq_inode_project_set(a->directory.target.fd, &now, a->id, true);
	if (rc)
		return fsq_fail(err, fsq_error_kind_of(-rc), -rc, a->directory.path,
				"cannot set the project ID");
	a->tagged = true;
	return 0;
}

static void untag(struct fsq_assignment *a)
{
	const struct fsq_inode_project *was = &a->directory.project;
	struct fsq_inode_project now = *was;

	if (!a->tagged)
		return;
	now.id = a->id;
	now.inherit = true;
	fsq_inode_project_set(a->directory.target.fd, &now, was->id, was->inherit);
	a->tagged = false;
}

static int get_quota(struct fsq_assignment *a, struct fsq_dquot *dquot, struct fsq_error *err)
{
	int rc = fsq_limits_read(&a->directory.target, a->id, true, dquot, a->directory.path, err);

	if (rc)
		return rc;
	a->limits_before = fsq_limits_of(dquot);
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

static int set_limits(struct fsq_assignment *a, struct fsq_error *err)
{
	int rc = find_limits(a, err);

	if (rc || fsq_limits_are_same(&a->limits_before, &a->limits_after))
		return rc;
	rc = fsq_limits_set(&a->directory.target, a->id, &a->limits_after, a->request->dry_run,
			    a->directory.path, err);
	a->limited = rc == 0 && !a->request->dry_run;
	return rc;
}

static void unset_limits(struct fsq_assignment *a)
{
	if (a->limited)
		fsq_quotactl_set_limits(&a->directory.target, FSQ_PROJECT, a->id,
					&a->limits_before);
	a->limited = false;
}

/* Is there a tree to be tagged? Asked once: to read a directory moves on in it. */
static bool has_tree(struct fsq_assignment *a)
{
	if (!a->complete && !a->looked) {
		a->filled = !fsq_tree_is_empty(a->directory.target.fd);
		a->looked = true;
	}
	return !a->complete && a->filled;
}

/*
 * The ID on a registered directory says that all is done: where it was lost, it comes back when what
 * is in the directory has it. And while a directory carries another's ID, that is what is known of the
 * one that its contents may have.
 */
static bool comes_last(struct fsq_assignment *a)
{
	return (a->listed || a->joins) && has_tree(a);
}

/*
 * Take the ID: give it to the directory, and see that nobody else has done so.
 * @return   as fsq_assign(); 1 when somebody has
 */
static int claim(struct fsq_assignment *a, struct fsq_error *err)
{
	struct fsq_dquot dquot;
	int rc = 0;

	/* A known ID may have use already; a caller who may not ask may not set it either. */
	if (!a->is_new)
		rc = get_quota(a, &dquot, err);
	if (rc == 0 && !comes_last(a))
		rc = tag(a, err);
	if (rc == 0 && a->is_new) {
		rc = get_quota(a, &dquot, err);
		if (rc == 0 && dquot.form[FSQ_INODES].used > 1) {
			untag(a);
			return 1;
		}
	}
	return rc;
}

static bool wants_limits(const struct fsq_assign_request *request)
{
	return request->limits.mask != 0 || request->hard_percent || request->soft_percent;
}

/* What is asked for, with a part of the file system in basic blocks. */
static int find_asked(struct fsq_assignment *a, struct fsq_error *err)
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

/* Before anything is changed. */
static int check_enforcement(struct fsq_assignment *a, struct fsq_error *err)
{
	int rc;

	if (!wants_limits(a->request) && !a->request->require_enforced)
		return 0;
	rc = fsq_enforcement_get(&a->directory, &a->enforcement, &a->space, err);
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

static int choose_and_claim(struct fsq_assignment *a, struct fsq_error *err)
{
	struct fsq_id_range range = fsq_allocate_range(&a->request->range, a->request->registry);
	int rc = 1;

	for (int attempt = 0; attempt < ATTEMPTS && rc == 1; attempt++) {
		rc = choose_id(a, &range, err);
		if (rc == 0 && attempt == 0)
			rc = check_enforcement(a, err);
		if (rc)
			return rc;
		rc = claim(a, err);
		if (rc == 1 && (a->request->id || a->id >= range.last))
			break;
		range.first = a->id + 1;
	}
	if (rc == 1)
		return fsq_fail(err, FSQ_E_CONFLICT, 0, a->directory.path,
				"project ID %u was taken at the same moment", a->id);
	return rc;
}

/* The name, unless the ID has one; who registered it without, and has done all, wants none. */
static int register_name(struct fsq_assignment *a, struct fsq_error *err)
{
	const char *name = a->request->name;
	char default_name[32];
	uint32_t id;
	int rc;

	if (fsq_registry_or_default(a->request->registry)->none || (!name && a->complete) ||
	    fsq_project_edit_has_name(a->edit, a->id))
		return 0;
	snprintf(default_name, sizeof(default_name), "volume%u", a->id);
	/* Somebody else may be called so. */
	if (!name && fsq_project_edit_id_of_name(a->edit, default_name, &id))
		return 0;
	rc = fsq_project_edit_add_name(a->edit, a->id, name ? name : default_name, err);
	a->named = rc == 0;
	a->nameless = fsq_project_edit_is_shared(a->edit, a->id, a->directory.path);
	return rc;
}

static int register_it(struct fsq_assignment *a, struct fsq_error *err)
{
	int rc;

	if (fsq_registry_or_default(a->request->registry)->none)
		return 0;
	rc = register_name(a, err);
	if (rc || a->listed)
		return rc;
	rc = fsq_project_edit_add_directory(a->edit, a->id, a->directory.path, err);
	a->registered = rc == 0;
	return rc;
}

/*
 * A directory that is registered, but that its owner gave another ID: all in it is put right, but
 * for the directories in it that are registered themselves.
 */
static int request_reclaim(struct fsq_assignment *a, struct fsq_error *err)
{
	int rc = fsq_project_edit_below(a->edit, a->directory.path, &a->others,
					&a->tag_request.other_count);

	a->tag_request.rule = FSQ_TAG_RECLAIM;
	a->tag_request.others = a->others;
	return rc ? fsq_fail(err, FSQ_E_FAILED, -rc, a->directory.path, "cannot walk the tree") : 0;
}

static int request_tag(struct fsq_assignment *a, struct fsq_error *err)
{
	const struct fsq_inode_project *was = &a->directory.project;

	a->tag_request = (struct fsq_tree_tag_request){
		.fd = a->directory.target.fd,
		.path = a->directory.path,
		.rule = FSQ_TAG_CLAIM,
		.from = *was,
		.to = { .id = a->id, .inherit = true },
		.is_new = a->is_new,
		.options = a->request->options,
	};
	/* Somebody did not finish: what is left is that of the directory above, or has none. */
	if (was->id == a->id)
		fsq_place_read_above(&a->directory, &a->tag_request.from);
	return a->listed && was->id != 0 && was->id != a->id ? request_reclaim(a, err) : 0;
}

/*
 * Into a directory that hands on its ID the kernel lets nobody move what has another one. So what
 * others move about is met where we have not been yet; only a directory that was lost on the way
 * takes another walk.
 */
static int walk_until_all_is_tagged(struct fsq_assignment *a, struct fsq_error *err)
{
	struct fsq_tree_found found = { .lost = true };
	int rc = 0;

	for (int i = 0; i < WALKS && rc == 0 && found.lost; i++)
		rc = fsq_tree_tag_walk(a->tree, &found, err);
	if (rc == 0 && found.lost)
		rc = fsq_fail(err, FSQ_E_FAILED, 0, a->directory.path,
			      "cannot be walked while directories in it are moved about");
	return rc;
}

static int tag_contents(struct fsq_assignment *a, struct fsq_error *err)
{
	int rc = walk_until_all_is_tagged(a, err);

	if (rc || !comes_last(a))
		return rc;
	rc = tag(a, err);
	/* What was made in it meanwhile. */
	return rc ? rc : walk_until_all_is_tagged(a, err);
}

/* Called with the locks, which are dropped meanwhile: kubelet may want them. */
static int tag_tree(struct fsq_assignment *a, struct fsq_error *err)
{
	struct fsq_inode_project now;
	bool listed;
	uint32_t id = 0;
	int rc = request_tag(a, err);

	if (rc)
		return rc;
	a->tree = fsq_tree_tag_new(&a->tag_request);
	if (!a->tree)
		return fsq_fail(err, FSQ_E_FAILED, ENOMEM, a->directory.path,
				"cannot walk the tree");
	/* While the locks are open the ID must show in a file: others may be on other filesystems.
	 */
	rc = register_name(a, err);
	if (rc)
		return rc;
	fsq_project_edit_unlock(a->edit);
	rc = tag_contents(a, err);
	if (rc == 0)
		rc = fsq_project_edit_lock(a->edit, false, err);
	if (rc)
		return rc;
	listed = fsq_project_edit_id_of(a->edit, a->directory.path, &id);
	if ((listed && id != a->id) || fsq_inode_project_get(a->directory.target.fd, &now) ||
	    now.id != a->id || !now.inherit)
		return fsq_fail(err, FSQ_E_CONFLICT, 0, a->directory.path,
				"was given to another project at the same time");
	a->listed = listed;
	return 0;
}

/* In a dry run: is there something in the tree that cannot get the ID? Without the locks. */
static int check_tree(struct fsq_assignment *a, struct fsq_error *err)
{
	int rc;

	if (a->complete || a->made || fsq_tree_is_empty(a->directory.target.fd))
		return 0;
	rc = request_tag(a, err);
	if (rc)
		return rc;
	a->tag_request.dry_run = true;
	a->tree = fsq_tree_tag_new(&a->tag_request);
	if (!a->tree)
		return fsq_fail(err, FSQ_E_FAILED, ENOMEM, a->directory.path,
				"cannot walk the tree");
	fsq_project_edit_unlock(a->edit);
	return walk_until_all_is_tagged(a, err);
}

/* The dry run. */
static int plan(struct fsq_assignment *a, struct fsq_error *err)
{
	const struct fsq_id_range range =
		fsq_allocate_range(&a->request->range, a->request->registry);
	struct fsq_dquot dquot;
	int rc = choose_id(a, &range, err);

	if (rc == 0)
		rc = check_enforcement(a, err);
	if (rc == 0)
		rc = get_quota(a, &dquot, err);
	if (rc == 0)
		rc = set_limits(a, err);
	return rc ? rc : check_tree(a, err);
}

static int apply(struct fsq_assignment *a, struct fsq_error *err)
{
	int rc = choose_and_claim(a, err);

	if (rc == 0)
		rc = set_limits(a, err);
	if (rc == 0 && has_tree(a))
		rc = tag_tree(a, err);
	if (rc == 0)
		rc = register_it(a, err);
	if (rc == 0 && fsq_is_cancelled(a->request->options))
		rc = fsq_fail(err, FSQ_E_FAILED, EINTR, a->directory.path, "stopped");
	if (rc)
		fsq_assignment_rollback(a, NULL);
	return rc;
}

static void unmake(struct fsq_assignment *a)
{
	if (a->made && !a->request->dry_run)
		rmdir(a->directory.path);
	a->made = false;
}

static int assign(struct fsq_assignment *a, struct fsq_error *err)
{
	const struct fsq_assign_request *request = a->request;
	int rc;

	if (!fsq_registry_or_default(request->registry)->none && strchr(a->directory.path, '\n'))
		return fsq_fail(err, FSQ_E_USAGE, 0, request->directory,
				"cannot be registered: there is a newline in its path");
	a->edit = fsq_project_edit_new(request->registry, request->dry_run, request->options);
	if (!a->edit)
		return fsq_fail(err, FSQ_E_FAILED, ENOMEM, request->directory, "cannot go on");
	rc = request->dry_run ? plan(a, err) : apply(a, err);
	fsq_project_edit_unlock(a->edit);
	return fsq_place_explain(&a->directory, rc, err);
}

/* In a dry run the directory above stands for it: the ID would be a new one of that file system. */
static int open_above(struct fsq_assignment *a, struct fsq_error *err)
{
	char *copy = strdup(a->request->directory);
	int rc = copy ? fsq_place_open_directory(&a->directory, dirname(copy), err)
		      : fsq_fail(err, FSQ_E_FAILED, ENOMEM, a->request->directory, "cannot go on");

	free(copy);
	a->made = rc == 0;
	return rc;
}

static int make(struct fsq_assignment *a, struct fsq_error *err)
{
	const struct fsq_assign_request *request = a->request;
	const struct fsq_new_directory new = {
		.mode = request->mode ? request->mode : 0755,
		.owner = request->owner,
		.group = request->group,
	};
	int rc = fsq_directory_make(request->directory, &new);

	if (rc)
		return fsq_fail(err, fsq_error_kind_of(-rc), -rc, request->directory,
				"cannot be made");
	rc = fsq_place_open_directory(&a->directory, request->directory, err);
	a->made = rc == 0;
	if (rc)
		rmdir(request->directory);
	return rc;
}

static int open_or_make(struct fsq_assignment *a, struct fsq_error *err)
{
	int rc = fsq_place_open_directory(&a->directory, a->request->directory, err);

	if (rc != FSQ_E_NOT_FOUND || !a->request->make)
		return rc;
	return a->request->dry_run ? open_above(a, err) : make(a, err);
}

int fsq_assign(struct fsq_assignment **out, const struct fsq_assign_request *request,
	       struct fsq_error *err)
{
	int rc = fsq_check_size(request, request->size, sizeof(*request), err);
	struct fsq_assignment *a = rc ? NULL : calloc(1, sizeof(*a));

	if (!a)
		return rc ? rc
			  : fsq_fail(err, FSQ_E_FAILED, ENOMEM, request->directory, "cannot go on");
	a->request = request;
	rc = open_or_make(a, err);
	if (rc) {
		free(a);
		return rc;
	}
	rc = find_asked(a, err);
	if (rc == 0)
		rc = assign(a, err);
	if (rc)
		unmake(a);
	if (rc) {
		fsq_assignment_free(a);
		return rc;
	}
	a->done = true;
	*out = a;
	return 0;
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

/* The name that was added goes, unless another directory has joined the project by it. */
static int remove_name(struct fsq_assignment *a, struct fsq_error *err)
{
	if (!a->named ||
	    (!a->nameless && fsq_project_edit_is_shared(a->edit, a->id, a->directory.path)))
		return 0;
	return fsq_project_edit_remove_names(a->edit, a->id, err);
}

/* First what was added under these locks, then what was added before. */
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
	int rc = unregister(a, err);

	unset_limits(a);
	/* What is left in the tree belongs to it as long as it has the ID itself: the next one goes on
	 * from there. */
	if (fsq_tree_tag_rollback(a->tree) == 0)
		untag(a);
	fsq_tree_tag_free(a->tree);
	a->tree = NULL;
	unmake(a);
	fsq_project_edit_unlock(a->edit);
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
	fsq_place_close(&a->directory);
	free(a);
}
