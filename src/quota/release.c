/* SPDX-License-Identifier: Apache-2.0 */
#include "release.h"

#include <errno.h>
#include <stdlib.h>

#include "directory.h"
#include "interrupt.h"
#include "limits.h"
#include "project_edit.h"
#include "tree_tag.h"

struct release {
	const struct fsq_release_request *request;
	struct fsq_directory directory;
	struct fsq_project_edit *edit;
	uint32_t id;
	bool listed;
	struct fsq_inode_project after; /* what the directory belongs to then */
	/* What has been done: */
	struct fsq_inode_project now;
	struct fsq_tree_tag *tree;
	bool limits_off;
	struct fsq_limits limits_before;
};

static int find_id(struct release *r, struct fsq_error *err)
{
	int rc = fsq_assigned_id(&r->directory, r->edit, &r->listed, &r->id, err);

	if (rc || r->id)
		return rc;
	rc = fsq_fail(err, FSQ_E_NOT_FOUND, 0, r->directory.path, "has no quota of its own");
	if (err && r->directory.project.id)
		err->hint = "it belongs to the project of a directory above it";
	return rc;
}

static int tag(struct release *r, uint32_t id, bool inherit, struct fsq_error *err)
{
	int rc = fsq_inode_project_set(r->directory.fd, &r->now, id, inherit);

	if (rc)
		return fsq_fail(err, fsq_code_of_errno(-rc), -rc, r->directory.path,
				"cannot set the project ID");
	return 0;
}

/* Without the locks: kubelet may want them. */
static int untag_tree(struct release *r, struct fsq_error *err)
{
	const struct fsq_inode_project from = { .id = r->id, .inherit = true };
	uint32_t id = r->id;
	int rc;

	if (r->now.id == r->id) {
		rc = tag(r, r->id, false, err);
		if (rc)
			return rc;
	}
	fsq_project_edit_unlock(r->edit);
	rc = fsq_tree_tag(&r->tree, r->directory.fd, r->directory.path, &from, &r->after, false,
			  r->request->manner, err);
	if (rc)
		return rc;
	rc = fsq_project_edit_lock(r->edit, true, err);
	if (rc)
		return rc;
	rc = find_id(r, err);
	if (rc == 0 && (r->id != id || fsq_inode_project_get(r->directory.fd, &r->now) ||
			(r->now.id == id && r->now.inherit))) {
		r->id = id;
		rc = fsq_fail(err, FSQ_E_CONFLICT, 0, r->directory.path,
			      "was given to a project at the same time");
	}
	return rc;
}

static int take_limits_off(struct release *r, struct fsq_error *err)
{
	struct fsq_limits none = { 0 };
	struct fsq_dquot dquot;
	int rc;

	rc = fsq_kernel_get(&r->directory.target, FSQ_PROJECT, r->id, &dquot);
	if (rc == -ENOENT)
		return 0;
	if (rc)
		return fsq_fail(err, fsq_code_of_errno(-rc), -rc, r->directory.path,
				"cannot read the quota of project %u", r->id);
	/* Its other directories may be on other filesystems, where limits are others. */
	if (dquot.form[FSQ_INODES].used &&
	    fsq_project_edit_is_shared(r->edit, r->id, r->directory.path))
		return 0;
	r->limits_before = fsq_limits_of(&dquot);
	none.mask = r->limits_before.mask;
	if (fsq_limits_are_same(&r->limits_before, &none))
		return 0;
	rc = fsq_limits_set(&r->directory.target, r->id, &none, r->directory.path, err);
	r->limits_off = rc == 0;
	return rc;
}

static void undo(struct release *r)
{
	const struct fsq_inode_project *was = &r->directory.project;

	if (r->limits_off)
		fsq_kernel_set_limits(&r->directory.target, FSQ_PROJECT, r->id, &r->limits_before);
	fsq_inode_project_set(r->directory.fd, &r->now, was->id, was->inherit);
	fsq_tree_tag_undo(r->tree, r->directory.fd, r->directory.path);
	fsq_tree_tag_free(r->tree);
	r->tree = NULL;
	r->limits_off = false;
}

static int do_all(struct release *r, struct fsq_error *err)
{
	bool keep_tags = r->request->keep_tags;
	int rc = fsq_directory_read_project(&r->directory, err);

	if (rc == 0)
		rc = find_id(r, err);
	if (rc == 0 && r->request->dry_run)
		rc = fsq_directory_check(&r->directory, NULL, err);
	if (rc || r->request->dry_run)
		return rc;
	r->now = r->directory.project;
	fsq_directory_above(&r->directory, &r->after);
	if (!r->after.inherit || r->after.id == r->id)
		r->after = (struct fsq_inode_project){ 0 };
	if (r->listed)
		fsq_project_edit_clean(r->edit);
	if (!keep_tags && !fsq_tree_is_empty(r->directory.fd))
		rc = untag_tree(r, err);
	if (rc == 0 && !keep_tags)
		rc = tag(r, r->after.id, r->after.inherit, err);
	if (rc == 0)
		rc = take_limits_off(r, err);
	if (rc == 0 && fsq_interrupt_pending())
		rc = fsq_fail(err, FSQ_E_FAILED, EINTR, r->directory.path, "stopped");
	if (rc == 0 && r->listed && !r->request->registry.none)
		rc = fsq_project_edit_remove(r->edit, r->id, r->directory.path, true, err);
	if (rc)
		undo(r);
	return rc;
}

static int lock_and_do_all(struct release *r, struct fsq_error *err)
{
	int rc = fsq_project_edit_lock(r->edit, true, err);

	if (rc == 0)
		rc = do_all(r, err);
	fsq_project_edit_unlock(r->edit);
	return rc;
}

int fsq_release(const struct fsq_release_request *request, sigset_t *signals_before,
		struct fsq_error *err)
{
	const struct fsq_registry *registry = &request->registry;
	struct release r = { .request = request };
	int rc;

	fsq_interrupt_block(signals_before);
	rc = fsq_directory_open(&r.directory, request->directory, err);
	if (rc)
		return rc;
	r.edit = fsq_project_edit_new(registry->projects_file, registry->projid_file,
				      !registry->none && !request->dry_run);
	if (!r.edit)
		rc = fsq_fail(err, FSQ_E_FAILED, ENOMEM, request->directory, "cannot go on");
	else
		do {
			rc = lock_and_do_all(&r, err);
		} while (fsq_directory_retry(&r.directory, &rc, err));
	fsq_project_edit_free(r.edit);
	fsq_tree_tag_free(r.tree);
	fsq_directory_close(&r.directory);
	return rc;
}
