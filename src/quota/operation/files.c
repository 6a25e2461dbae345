/* SPDX-License-Identifier: Apache-2.0 */
/* Project IDs and flags of single files, and of those in a tree, one after the other. */
#include <errno.h>
#include <fcntl.h>

#include "quota/base/error.h"
#include "quota/walk/tree_walk.h"

struct one_file {
	bool set;
	struct fsq_inode_project project, wanted;
	int errnum;
	bool is_special;
};

/* The walk reaches one file, and opens no special one. */
static enum fsq_visit visit_one(const struct fsq_walk_entry *entry, struct fsq_walk_event *event,
				void *arg)
{
	struct one_file *file = arg;

	(void)event;
	file->errnum = entry->errnum;
	if (entry->has_project)
		file->errnum = -fsq_walk_project_get(entry, &file->project);
	file->is_special =
		entry->kind == FSQ_WALK_SPECIAL && (!entry->has_project || file->errnum == ENOTTY);
	if (file->set && entry->has_project && file->errnum == 0)
		file->errnum = -fsq_walk_project_set(
			entry, &file->project, file->wanted.id,
			file->wanted.inherit && fsq_walk_is_directory(entry, &file->project));
	return FSQ_VISIT_CONTINUE;
}

static int reach(const char *path, struct one_file *file, struct fsq_error *err)
{
	struct fsq_walk walk = {
		.root = path,
		.root_fd = -1,
		.access = FSQ_ACCESS_PROJECT,
		.alone = true,
		.visit = visit_one,
		.arg = file,
	};
	int rc = fsq_tree_walk(&walk, err);

	if (rc)
		return rc;
	if (file->is_special)
		return fsq_fail(err, FSQ_E_NOT_SUPPORTED, 0, path,
				"the kernel tells project IDs of files and directories only");
	if (file->errnum)
		return fsq_fail(err, fsq_error_kind_of(file->errnum), file->errnum, path,
				file->set ? "cannot set the project ID"
					  : "cannot read the project ID");
	return 0;
}

int fsq_file_get_project(const char *path, uint32_t *id, bool *inherit, struct fsq_error *err)
{
	struct one_file file = { 0 };
	int rc = reach(path, &file, err);

	*id = file.project.id;
	*inherit = file.project.inherit;
	return rc;
}

int fsq_fd_get_project(int fd, uint32_t *id, bool *inherit)
{
	struct fsq_inode_project project;
	int rc = fsq_inode_project_get(fd, &project);

	if (rc)
		return rc;
	*id = project.id;
	*inherit = project.inherit;
	return 0;
}

int fsq_file_set_project(const char *path, uint32_t id, bool inherit, struct fsq_error *err)
{
	struct one_file file = { .set = true, .wanted = { .id = id, .inherit = inherit } };

	return reach(path, &file, err);
}

struct each {
	fsq_attributes_visitor visit;
	void *arg;
};

static void visit_mount(const char *path, void *arg)
{
	const struct fsq_attributes attributes = { .kind = FSQ_FILE_MOUNT, .path = path };
	const struct each *each = arg;

	each->visit(&attributes, each->arg);
}

static enum fsq_visit visit_attributes(const struct fsq_walk_entry *entry,
				       struct fsq_walk_event *event, void *arg)
{
	static const enum fsq_file_kind kinds[] = {
		[FSQ_WALK_FILE] = FSQ_FILE_REGULAR,    [FSQ_WALK_DIRECTORY] = FSQ_FILE_DIRECTORY,
		[FSQ_WALK_SPECIAL] = FSQ_FILE_SPECIAL, [FSQ_WALK_NO_STAT] = FSQ_FILE_UNKNOWN,
		[FSQ_WALK_NO_OPEN] = FSQ_FILE_UNKNOWN, [FSQ_WALK_LEAVE] = FSQ_FILE_LEAVE,
	};
	const struct each *each = arg;
	struct fsq_attributes attributes = {
		.kind = kinds[entry->kind],
		.path = entry->path,
		.depth = entry->depth,
		.errnum = entry->errnum,
		.project_errnum = entry->errnum,
	};
	struct fsq_inode_project project;

	(void)event;
	if (entry->fd >= 0) {
		attributes.errnum = -fsq_inode_flags_get(entry->fd, &attributes.flags);
		attributes.project_errnum = -fsq_inode_project_get(entry->fd, &project);
		if (attributes.project_errnum == 0) {
			attributes.project_id = project.id;
			attributes.inherit = project.inherit;
		}
	}
	if (entry->kind == FSQ_WALK_SPECIAL) {
		/* The path that was given is in no directory of the walk. */
		attributes.project_errnum =
			-(entry->name ? fsq_walk_project_get(entry, &project)
				      : fsq_inode_project_get_at(AT_FDCWD, entry->path, &project));
		if (attributes.project_errnum == 0)
			attributes.project_id = project.id;
	}
	return each->visit(&attributes, each->arg);
}

int fsq_attributes_each(const char *path, int max_depth, fsq_attributes_visitor visit, void *arg,
			struct fsq_error *err)
{
	struct each each = { visit, arg };
	const struct fsq_call_options options = { .size = sizeof(options),
						  .arg = &each,
						  .mount_skipped = visit_mount };
	struct fsq_walk walk = {
		.root = path,
		.root_fd = -1,
		.max_depth = max_depth,
		.access = FSQ_ACCESS_OPEN,
		.alone = true,
		.options = &options,
		.visit = visit_attributes,
		.arg = &each,
	};

	return fsq_tree_walk(&walk, err);
}
