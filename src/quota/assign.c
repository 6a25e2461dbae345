/* SPDX-License-Identifier: Apache-2.0 */
#include "assign.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "directory.h"
#include "interrupt.h"
#include "limits.h"
#include "project_edit.h"
#include "tree_tag.h"

/* So often an ID that somebody else took at the same moment is given up for another. */
#define ATTEMPTS 8

struct fsq_assignment {
	const struct fsq_assign_request *request;
	struct fsq_directory directory;
	struct fsq_project_edit *edit;
	sigset_t signals_before;
	bool signals_blocked;
	bool done;
	uint32_t id;
	bool is_new;   /* nobody had the ID before */
	bool complete; /* it was registered, and so all had been done */
	/* What there was before, and has been changed: */
	bool tagged;
	bool limited;
	struct fsq_limits limits_before;
	struct fsq_tree_tag *tree;
	bool listed;
	bool registered;
	bool named;
};

/* --- which ID --- */

int fsq_assigned_id(const struct fsq_directory *directory, const struct fsq_project_edit *edit,
		    bool *listed, uint32_t *id, struct fsq_error *err)
{
	uint32_t carried = directory->project.id, of_list = 0;
	struct fsq_inode_project above;

	*listed = fsq_project_edit_id_of(edit, directory->path, &of_list);
	if (carried && carried != of_list) {
		fsq_directory_above(directory, &above);
		if (above.id == carried)
			carried = 0;
	}
	if (*listed && carried && carried != of_list)
		return fsq_fail(err, FSQ_E_CONFLICT, 0, directory->path,
				"is registered as project %u but carries %u", of_list, carried);
	*id = *listed ? of_list : carried;
	return 0;
}

/* Is what is asked for what the directory has? */
static int check_current(const struct fsq_assignment *a, struct fsq_error *err)
{
	const struct fsq_assign_request *request = a->request;
	const char *path = a->directory.path, *name;
	uint32_t id;

	if (request->has_id && request->id != a->id)
		return fsq_fail(err, FSQ_E_CONFLICT, 0, path, "has project ID %u already", a->id);
	if (!request->name)
		return 0;
	if (fsq_project_edit_id_of_name(a->edit, request->name, &id)) {
		if (id == a->id)
			return 0;
		return fsq_fail(err, FSQ_E_CONFLICT, 0, path,
				"has project ID %u already, and \"%s\" is %u", a->id, request->name,
				id);
	}
	name = fsq_project_edit_name_of(a->edit, a->id);
	if (name)
		return fsq_fail(err, FSQ_E_CONFLICT, 0, path, "belongs to project \"%s\" already",
				name);
	return 0;
}

static int choose_id(struct fsq_assignment *a, const struct fsq_id_range *range,
		     struct fsq_error *err)
{
	const struct fsq_assign_request *request = a->request;
	const struct fsq_id_range insisted = { request->id, request->id };
	int rc;

	a->is_new = false;
	rc = fsq_assigned_id(&a->directory, a->edit, &a->listed, &a->id, err);
	if (rc)
		return rc;
	if (a->id) {
		a->complete = a->listed && a->directory.project.id == a->id &&
			      a->directory.project.inherit;
		return check_current(a, err);
	}
	if (request->name && fsq_project_edit_id_of_name(a->edit, request->name, &a->id)) {
		if (request->has_id && request->id != a->id)
			return fsq_fail(err, FSQ_E_CONFLICT, 0, a->directory.path,
					"cannot be project %u: \"%s\" is %u", request->id,
					request->name, a->id);
		return 0;
	}
	a->is_new = true;
	rc = fsq_allocate_id(&a->directory.target, a->edit, request->has_id ? &insisted : range,
			     &a->id, err);
	if (rc == FSQ_E_CONFLICT && request->has_id)
		rc = fsq_fail(err, FSQ_E_CONFLICT, 0, NULL, "project ID %u is in use", request->id);
	if (rc && err && !err->path[0])
		strncat(err->path, a->directory.path, sizeof(err->path) - 1);
	return rc;
}

/* --- steps, each of which can be undone --- */

static int tag(struct fsq_assignment *a, struct fsq_error *err)
{
	struct fsq_inode_project now = a->directory.project;
	int rc;

	if (now.id == a->id && now.inherit)
		return 0;
	rc = fsq_inode_project_set(a->directory.fd, &now, a->id, true);
	if (rc)
		return fsq_fail(err, fsq_code_of_errno(-rc), -rc, a->directory.path,
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
	fsq_inode_project_set(a->directory.fd, &now, was->id, was->inherit);
	a->tagged = false;
}

/* What there is of the ID; a record that does not exist has neither use nor limits. */
static int get_quota(struct fsq_assignment *a, struct fsq_dquot *dquot, struct fsq_error *err)
{
	int rc = fsq_kernel_get(&a->directory.target, FSQ_PROJECT, a->id, dquot);

	if (rc == -ENOENT)
		*dquot = (struct fsq_dquot){ .id = a->id };
	else if (rc)
		return fsq_fail(err, fsq_code_of_errno(-rc), -rc, a->directory.path,
				"cannot read the quota of project %u", a->id);
	a->limits_before = fsq_limits_of(dquot);
	return 0;
}

static int set_limits(struct fsq_assignment *a, struct fsq_error *err)
{
	const struct fsq_assign_request *request = a->request;
	const struct fsq_limits limits = fsq_limits_wanted(&a->limits_before, &request->limits,
							   request->unlimited, a->directory.fd);
	int rc;

	if (fsq_limits_are_same(&a->limits_before, &limits))
		return 0;
	rc = fsq_limits_set(&a->directory.target, a->id, &limits, a->directory.path, err);
	a->limited = rc == 0;
	return rc;
}

static void unset_limits(struct fsq_assignment *a)
{
	if (a->limited)
		fsq_kernel_set_limits(&a->directory.target, FSQ_PROJECT, a->id, &a->limits_before);
	a->limited = false;
}

/*
 * Take the ID: give it to the directory, and see that nobody else has done so.
 * @return   as fsq_assign(); 1 when somebody has
 */
static int claim(struct fsq_assignment *a, struct fsq_error *err)
{
	struct fsq_dquot dquot;
	int rc = 0;

	/* What carries a known ID already belongs to it; who may not ask may not set either. */
	if (!a->is_new)
		rc = get_quota(a, &dquot, err);
	if (rc == 0)
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

/* Nothing is changed; limits and tree are not looked at. */
static int do_nothing(struct fsq_assignment *a, struct fsq_error *err)
{
	int rc = fsq_project_edit_lock(a->edit, false, err);

	if (rc == 0)
		rc = fsq_directory_read_project(&a->directory, err);
	return rc ? rc : choose_id(a, &a->request->range, err);
}

static int choose_and_claim(struct fsq_assignment *a, struct fsq_error *err)
{
	struct fsq_id_range range = a->request->range;
	int rc = 1;

	for (int attempt = 0; attempt < ATTEMPTS && rc == 1; attempt++) {
		rc = choose_id(a, &range, err);
		if (rc)
			return rc;
		rc = claim(a, err);
		if (rc == 1 && (a->request->has_id || a->id >= range.last))
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
	int rc;

	if (a->request->registry.none || (!name && a->complete) ||
	    fsq_project_edit_name_of(a->edit, a->id))
		return 0;
	snprintf(default_name, sizeof(default_name), "volume%u", a->id);
	rc = fsq_project_edit_add_name(a->edit, a->id, name ? name : default_name, err);
	a->named = rc == 0;
	return rc;
}

static int register_it(struct fsq_assignment *a, struct fsq_error *err)
{
	int rc;

	if (a->request->registry.none)
		return 0;
	rc = register_name(a, err);
	if (rc || a->listed)
		return rc;
	rc = fsq_project_edit_add_directory(a->edit, a->id, a->directory.path, err);
	a->registered = rc == 0;
	return rc;
}

/* With the locks, which are let go meanwhile: kubelet may want them. */
static int tag_tree(struct fsq_assignment *a, struct fsq_error *err)
{
	const struct fsq_inode_project to = { .id = a->id, .inherit = true };
	struct fsq_inode_project from = a->directory.project, now;
	bool listed;
	uint32_t id = 0;
	int rc;

	/* Somebody did not finish: what is left is that of the directory above, or has none. */
	if (from.id == a->id)
		fsq_directory_above(&a->directory, &from);
	/* While the locks are open the ID must show in a file: others may be on other filesystems.
	 */
	rc = register_name(a, err);
	if (rc)
		return rc;
	fsq_project_edit_unlock(a->edit);
	rc = fsq_tree_tag(&a->tree, a->directory.fd, a->directory.path, &from, &to, true,
			  a->request->manner, err);
	if (rc)
		return rc;
	rc = fsq_project_edit_lock(a->edit, true, err);
	if (rc)
		return rc;
	listed = fsq_project_edit_id_of(a->edit, a->directory.path, &id);
	if ((listed && id != a->id) || fsq_inode_project_get(a->directory.fd, &now) ||
	    now.id != a->id || !now.inherit)
		return fsq_fail(err, FSQ_E_CONFLICT, 0, a->directory.path,
				"was given to another project at the same time");
	a->listed = listed;
	return 0;
}

static int do_all(struct fsq_assignment *a, struct fsq_error *err)
{
	int rc;

	if (!a->signals_blocked)
		fsq_interrupt_block(&a->signals_before);
	a->signals_blocked = true;
	rc = fsq_project_edit_lock(a->edit, true, err);
	if (rc)
		return rc;
	/* Under the lock: somebody may have been before us. */
	rc = fsq_directory_read_project(&a->directory, err);
	if (rc == 0)
		rc = choose_and_claim(a, err);
	if (rc == 0)
		rc = set_limits(a, err);
	if (rc == 0 && !a->complete && !fsq_tree_is_empty(a->directory.fd))
		rc = tag_tree(a, err);
	if (rc == 0 && a->listed)
		fsq_project_edit_clean(a->edit);
	if (rc == 0)
		rc = register_it(a, err);
	if (rc == 0 && fsq_interrupt_pending())
		rc = fsq_fail(err, FSQ_E_FAILED, EINTR, a->directory.path, "stopped");
	if (rc)
		fsq_assignment_undo(a);
	return rc;
}

int fsq_assign(struct fsq_assignment **out, const struct fsq_assign_request *request,
	       struct fsq_error *err)
{
	const struct fsq_registry *registry = &request->registry;
	struct fsq_assignment *a = calloc(1, sizeof(*a));
	int rc;

	*out = a;
	if (!a)
		return fsq_fail(err, FSQ_E_FAILED, ENOMEM, request->directory, "cannot go on");
	a->request = request;
	rc = fsq_directory_open(&a->directory, request->directory, err);
	if (rc) {
		*out = NULL;
		free(a);
		return rc;
	}
	a->edit = fsq_project_edit_new(registry->projects_file, registry->projid_file,
				       !registry->none && !request->dry_run);
	if (!registry->none && strchr(a->directory.path, '\n'))
		rc = fsq_fail(err, FSQ_E_USAGE, 0, request->directory,
			      "cannot be registered: there is a newline in its path");
	else if (!a->edit)
		rc = fsq_fail(err, FSQ_E_FAILED, ENOMEM, request->directory, "cannot go on");
	else
		do {
			rc = request->dry_run ? do_nothing(a, err) : do_all(a, err);
		} while (fsq_directory_retry(&a->directory, &rc, err));
	if (rc == 0)
		fsq_project_edit_unlock(a->edit);
	a->done = rc == 0;
	return rc;
}

uint32_t fsq_assignment_id(const struct fsq_assignment *assignment)
{
	return assignment->id;
}

void fsq_assignment_undo(struct fsq_assignment *a)
{
	/* What was added under these locks, and then what was before. */
	if (!a->done)
		fsq_project_edit_undo(a->edit);
	if ((a->registered || a->named) && fsq_project_edit_lock(a->edit, false, NULL) == 0)
		fsq_project_edit_remove(a->edit, a->id, a->registered ? a->directory.path : NULL,
					a->named, NULL);
	a->registered = a->named = false;
	unset_limits(a);
	fsq_tree_tag_undo(a->tree, a->directory.fd, a->directory.path);
	fsq_tree_tag_free(a->tree);
	a->tree = NULL;
	untag(a);
	fsq_project_edit_unlock(a->edit);
}

void fsq_assignment_free(struct fsq_assignment *a)
{
	if (!a)
		return;
	fsq_project_edit_free(a->edit);
	fsq_tree_tag_free(a->tree);
	fsq_directory_close(&a->directory);
	if (a->signals_blocked)
		fsq_interrupt_restore(&a->signals_before);
	free(a);
}
