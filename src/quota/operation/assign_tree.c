/* SPDX-License-Identifier: Apache-2.0 */
/* The ID of an assignment: on its directory, and on all that is in it. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assignment.h"
#include "limits.h"
#include "quota/base/error.h"
#include "quota/base/path.h"
#include "quota/kernel/openat2.h"

/* How many walks, while other processes move files in the tree. */
#define WALKS 8

int fsq_assignment_tag(struct fsq_assignment *a, struct fsq_error *err)
{
	struct fsq_inode_project now = a->directory.project;
	int rc;

	if ((now.id == a->id && now.inherit) || a->request->dry_run)
		return 0;
	rc = fsq_inode_project_set(a->directory.target.fd, &now, a->id, true);
	if (rc)
		return fsq_fail_errno(err, -rc, a->directory.path, "cannot set the project ID");
	a->tagged = true;
	return 0;
}

static void set_back(struct fsq_assignment *a, uint32_t id, bool inherit)
{
	struct fsq_inode_project now = a->directory.project;

	now.id = a->id;
	now.inherit = true;
	fsq_inode_project_set(a->directory.target.fd, &now, id, inherit);
}

void fsq_assignment_untag(struct fsq_assignment *a)
{
	if (a->tagged)
		set_back(a, a->directory.project.id, a->directory.project.inherit);
	a->tagged = false;
}

int fsq_assignment_untag_tree(struct fsq_assignment *a)
{
	/* Files made after the walk has passed must not inherit the ID any more. */
	if (a->tagged)
		set_back(a, a->id, false);
	/* Before any walk, only files made in the directory meanwhile have the ID. */
	if (!a->tree && a->tagged && a->is_new) {
		a->tag_request = (struct fsq_tree_tag_request){
			.fd = a->directory.target.fd,
			.path = a->directory.path,
			.from = a->directory.project,
			.to = { .id = a->id, .inherit = true },
			.is_new = true,
			.options = a->request->options,
		};
		a->tree = fsq_tree_tag_new(&a->tag_request);
		if (a->tree)
			fsq_tree_tag_restore(a->tree);
		return 0;
	}
	return fsq_tree_tag_rollback(a->tree);
}

bool fsq_assignment_has_tree(struct fsq_assignment *a)
{
	if (!a->complete && !a->looked) {
		a->filled = !fsq_tree_is_empty(a->directory.target.fd) ||
			    fsq_assign_plan_below(a->plan, a->directory.path, 0);
		a->looked = true;
	}
	return !a->complete && a->filled;
}

/*
 * The ID on a registered directory says that its contents have the ID. So a directory that has lost it gets
 * it back last, and one that carries another project's ID keeps that until then: its contents may have it,
 * too.
 */
bool fsq_assignment_comes_last(struct fsq_assignment *a)
{
	return (a->listed || a->joins) && fsq_assignment_has_tree(a);
}

/* Directories registered inside a registered directory stay, even if the outer one has lost its ID. */
static int spare_others(struct fsq_assignment *a, struct fsq_error *err)
{
	int rc = fsq_project_edit_below(a->edit, a->directory.path, &a->others,
					&a->tag_request.other_count);

	a->tag_request.others = a->others;
	fsq_project_edit_elsewhere(a->edit, a->directory.path, a->id, &a->tag_request.elsewhere);
	return rc ? fsq_fail(err, FSQ_E_FAILED, -rc, a->directory.path, "cannot walk the tree") : 0;
}

/*
 * An unregistered directory cannot get a quota around a registered one, even if that has lost its ID to a
 * project above both.
 */
static int refuse_others(struct fsq_assignment *a, struct fsq_error *err)
{
	const char *path = a->directory.path;
	char **others;
	size_t count;
	int rc = fsq_project_edit_below(a->edit, path, &others, &count);

	rc = rc ? fsq_fail(err, FSQ_E_FAILED, -rc, path, "cannot walk the tree") : 0;
	for (size_t i = 0; i < count; i++) {
		const char *below = fsq_path_below(path, others[i], strlen(others[i]));
		uint32_t id = 0;
		int fd = -1;

		fsq_project_edit_id_of(a->edit, others[i], &id);
		if (rc == 0 && id != a->id)
			fd = fsq_openat2(a->directory.target.fd, below,
					 O_PATH | O_DIRECTORY | O_CLOEXEC,
					 RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
		if (fd >= 0) {
			close(fd);
			rc = fsq_fail(err, FSQ_E_CONFLICT, 0, others[i],
				      "belongs to project %u already", id);
		}
		free(others[i]);
	}
	free(others);
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
		.dry_run = a->request->dry_run,
		.options = a->request->options,
	};
	/* An unfinished assignment: its files have the ID of the directory above, or none. */
	rc = was->id == a->id ? fsq_handle_read_above(&a->directory, &a->tag_request.from) : 0;
	if (rc)
		return fsq_fail_errno(err, -rc, a->directory.path,
				      "cannot find the project of the directory above");
	if (!a->listed)
		return refuse_others(a, err);
	/* The owner has changed the ID of the directory, so its contents may have any. */
	if (was->id != 0 && was->id != a->id)
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
	if (rc || !fsq_assignment_comes_last(a))
		return rc;
	/* Its owner may have changed or removed the ID meanwhile. */
	fsq_inode_project_get(a->directory.target.fd, &a->directory.project);
	rc = fsq_assignment_tag(a, err);
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

/* Does the tree hold anything that cannot get the ID? */
static int check_contents(struct fsq_assignment *a, struct fsq_error *err)
{
	const struct fsq_planned *other = NULL;
	int rc = walk_until_all_is_tagged(a, err);

	if (rc == 0 && a->tag_request.rule == FSQ_TAG_CLAIM)
		other = fsq_assign_plan_below(a->plan, a->directory.path, a->id);
	return other ? fsq_fail(err, FSQ_E_CONFLICT, 0, other->path,
				"belongs to project %u already", other->id)
		     : rc;
}

int fsq_assignment_planned(const struct fsq_assignment *a, int rc, struct fsq_error *err)
{
	return rc ? fsq_fail(err, FSQ_E_FAILED, -rc, a->request->directory, "cannot go on") : 0;
}

int fsq_assignment_register_name(struct fsq_assignment *a, struct fsq_error *err)
{
	const char *name = a->request->name;
	char default_name[32];
	uint32_t id;
	int rc;

	if (fsq_registry_or_default(a->request->registry)->none || (!name && a->complete) ||
	    fsq_project_edit_has_name(a->edit, a->id))
		return 0;
	snprintf(default_name, sizeof(default_name), "volume%u", a->id);
	/* Another project may have the name. */
	if (!name && fsq_project_edit_id_of_name(a->edit, default_name, &id))
		return 0;
	name = name ? name : default_name;
	if (a->request->dry_run)
		return fsq_assignment_planned(a, fsq_assign_plan_add_name(a->plan, a->id, name),
					      err);
	rc = fsq_project_edit_add_name(a->edit, a->id, name, err);
	a->named = rc == 0;
	a->nameless = fsq_project_edit_is_shared(a->edit, a->id, a->directory.path);
	return rc;
}

int fsq_assignment_tag_tree(struct fsq_assignment *a, struct fsq_error *err)
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
	if (a->request->dry_run)
		return check_contents(a, err);
	/*
	 * Register the name while the locks are open, so that the ID is in a file: other programs may look on
	 * other filesystems.
	 */
	rc = fsq_assignment_register_name(a, err);
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
