/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The project of a directory tree: check, set or clear it, as "project" does. And project IDs and flags of
 * single files, and of the files in a tree.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "project_tree.h"
#include "quota/base/error.h"
#include "quota/base/inode_map.h"
#include "quota/kernel/privilege.h"
#include "quota/kernel/quotactl.h"
#include "quota/kernel/superblock.h"
#include "quota/mounts/handle.h"
#include "quota/mounts/lookup.h"
#include "quota/walk/tree_walk.h"

/* How many more walks, while other processes move files in the tree. */
#define WALKS 32

struct tree_run {
	const struct fsq_tree_request *request;
	atomic_bool changed;	    /* something was set, or may have been missed */
	atomic_uint_fast64_t count; /* how many were changed, or would be */
	/* In a dry run: */
	int refused; /* the negative errno of any change, or 0 */
	bool owner_only;
	pthread_mutex_t lock;	    /* of the links */
	struct fsq_inode_map links; /* counted files with several links */
	struct timespec began;	    /* the start of the repeated walk */
	bool again;		    /* do not emit the events of the first walk again */
	uint64_t specials;	    /* skipped files, which may keep their IDs */
	bool stopped;		    /* by the caller */
};

/* Directories and regular files have a project ID wherever there are any. */
static bool is_special(const struct fsq_walk_entry *entry)
{
	struct stat st;

	return fsq_walk_stat(entry, &st) || !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

/* @return   1 it would be changed, 0 another link was counted already, or a negative errno */
static int count_change(struct tree_run *run, const struct fsq_walk_entry *entry)
{
	struct fsq_inode_note note = { 0 };
	struct stat st;
	int rc = run->refused ? run->refused : fsq_walk_stat(entry, &st);

	if (rc)
		return rc;
	if (run->owner_only && st.st_uid != geteuid())
		return -EPERM;
	if (S_ISDIR(st.st_mode) || st.st_nlink == 1)
		return 1;
	note.ino = st.st_ino;
	pthread_mutex_lock(&run->lock);
	rc = fsq_inode_map_add(&run->links, &note);
	pthread_mutex_unlock(&run->lock);
	return rc;
}

static int set(struct tree_run *run, const struct fsq_walk_entry *entry,
	       struct fsq_inode_project *project, uint32_t id, bool inherit)
{
	int rc;

	if (project->id == id && project->inherit == inherit)
		return 0;
	atomic_store(&run->changed, true);
	if (run->request->dry_run) {
		rc = count_change(run, entry);
	} else {
		rc = fsq_walk_project_set(entry, project, id, inherit);
		rc = rc ? rc : 1;
	}
	if (rc > 0)
		atomic_fetch_add(&run->count, 1);
	return rc < 0 ? rc : 0;
}

static int change(struct tree_run *run, const struct fsq_walk_entry *entry,
		  struct fsq_inode_project *project, struct fsq_walk_event *event)
{
	const struct fsq_tree_request *request = run->request;
	bool is_directory = fsq_walk_is_directory(entry, project), inherit;

	switch (request->action) {
	case FSQ_TREE_CHECK:
		event->id = project->id;
		event->what = (project->id != request->id ? FSQ_TREE_WRONG_ID : 0) |
			      (is_directory && !project->inherit ? FSQ_TREE_NO_INHERITANCE : 0);
		return 0;
	case FSQ_TREE_SET:
		/* The name may lead to a directory by now, which must hand on its ID. */
		inherit = is_directory || (entry->by_name && project->id != request->id);
		return set(run, entry, project, request->id, inherit);
	case FSQ_TREE_CLEAR:
		return set(run, entry, project, 0, false);
	}
	return 0;
}

static void visit_project(struct tree_run *run, const struct fsq_walk_entry *entry,
			  struct fsq_walk_event *event)
{
	struct fsq_inode_project project;
	int rc = fsq_walk_project_get(entry, &project);

	if (rc == 0) {
		rc = change(run, entry, &project, event);
		if (rc == -ENOTTY && is_special(entry))
			event->what = FSQ_TREE_SPECIAL_FILE;
		else if (rc)
			event->what = FSQ_TREE_CANNOT_CHANGE;
		/* As ioctl(2) says it, which sets the ID of a directory. */
		if (rc == -ENOTTY)
			rc = -EOPNOTSUPP;
	} else if (rc == -ENOTTY) {
		/* Another process may have replaced it before it was opened. */
		event->what = is_special(entry) ? FSQ_TREE_SPECIAL_FILE : FSQ_TREE_NO_PROJECT;
	} else {
		event->what =
			rc == -ENOENT && entry->fd < 0 ? FSQ_TREE_CANNOT_STAT : FSQ_TREE_CANNOT_GET;
	}
	event->errnum = -rc;
}

/* Called by any thread. */
static enum fsq_visit visit_tree(const struct fsq_walk_entry *entry, struct fsq_walk_event *event,
				 void *arg)
{
	struct tree_run *run = arg;

	switch (entry->kind) {
	case FSQ_WALK_FILE:
	case FSQ_WALK_DIRECTORY:
	case FSQ_WALK_SPECIAL:
		if (entry->has_project)
			visit_project(run, entry, event);
		else
			event->what = FSQ_TREE_SPECIAL_FILE;
		break;
	case FSQ_WALK_NO_STAT:
	case FSQ_WALK_NO_OPEN:
		event->what = entry->kind == FSQ_WALK_NO_STAT ? FSQ_TREE_CANNOT_STAT
							      : FSQ_TREE_CANNOT_OPEN;
		event->errnum = entry->errnum;
		break;
	case FSQ_WALK_LEAVE:
		if (run->again && !atomic_load(&run->changed) &&
		    fsq_walk_changed_since(entry, &run->began))
			atomic_store(&run->changed, true);
		break;
	}
	/* It was moved before it was opened, perhaps into a directory that the walk had left. */
	if (event->errnum == ENOENT || event->errnum == ESTALE)
		atomic_store(&run->changed, true);
	return FSQ_VISIT_CONTINUE;
}

static enum fsq_visit emit(const struct fsq_walk_event *found, void *arg)
{
	struct tree_run *run = arg;
	struct fsq_tree_event event = {
		.kind = (unsigned int)found->what,
		.path = found->path,
		.id = found->id,
		.error = fsq_error_kind_of(found->errnum),
		.errnum = found->errnum,
	};

	if (run->again)
		return FSQ_VISIT_CONTINUE;
	run->specials += event.kind == FSQ_TREE_SPECIAL_FILE;
	/* In a user namespace the kernel says EINVAL. */
	if (event.kind == FSQ_TREE_CANNOT_CHANGE && event.errnum == EINVAL &&
	    fsq_in_user_namespace())
		event.error = FSQ_E_PERMISSION;
	run->stopped = run->request->emit(&event, run->request->arg) == FSQ_VISIT_STOP;
	return run->stopped ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

static struct fsq_walk walk_of(struct tree_run *run)
{
	return (struct fsq_walk){
		.root = run->request->directory,
		.root_fd = -1,
		.max_depth = run->request->max_depth,
		.access = FSQ_ACCESS_PROJECT_BY_NAME,
		/* What is printed for each file has the order of the entries. */
		.alone = run->request->action == FSQ_TREE_CHECK,
		.options = run->request->options,
		.visit = visit_tree,
		.emit = emit,
		.arg = run,
	};
}

/*
 * Nothing had to be set, so all attributes may have come from the cache of a filesystem that has failed: ask
 * fsync(2).
 */
static void ask(struct tree_run *run)
{
	struct fsq_walk_event event = { .what = FSQ_TREE_CANNOT_CHANGE,
					.path = run->request->directory };
	int fd;

	if (run->request->action == FSQ_TREE_CHECK || run->stopped ||
	    (atomic_load(&run->changed) && !run->request->dry_run))
		return;
	fd = fsq_lookup(fsq_mounts_of(run->request->options), event.path,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW, NULL);
	if (fd < 0 ? fd == -EIO : fsync(fd) && errno != EINVAL) {
		event.errnum = fd < 0 ? -fd : errno;
		emit(&event, run);
	}
	if (fd >= 0)
		close(fd);
}

/* Does the kernel count more files with the ID than were skipped? */
static bool may_be_left(struct tree_run *run)
{
	struct fsq_target target = { .fd = -1 };
	struct fsq_dquot dquot;
	bool left = false;

	if (!atomic_load(&run->changed) || run->stopped)
		return false;
	target.fd = fsq_lookup(fsq_mounts_of(run->request->options), run->request->directory,
			       O_PATH | O_NOFOLLOW, NULL);
	if (target.fd < 0)
		return false;
	if (fsq_quotactl_get(&target, FSQ_PROJECT, run->request->id, &dquot) == 0)
		left = dquot.form[FSQ_INODES].used > run->specials;
	close(target.fd);
	return left;
}

/*
 * A walk that clears IDs can miss files that are moved meanwhile. A walk that sets them cannot: the kernel
 * refuses to move a file with another ID into a directory that hands on its own. So repeat the walk as long
 * as the kernel counts files with the ID and the last walk found some, or may have missed some.
 */
static int clear_again(struct tree_run *run, struct fsq_error *err)
{
	const struct fsq_tree_request *request = run->request;
	struct fsq_walk_event busy = { .what = FSQ_TREE_CANNOT_CHANGE,
				       .errnum = EBUSY,
				       .path = request->directory };
	struct fsq_walk walk = walk_of(run);
	int rc = 0;

	if (request->action != FSQ_TREE_CLEAR || request->max_depth != FSQ_DEPTH_INFINITE ||
	    request->dry_run)
		return 0;
	run->again = walk.mounts_known = true;
	for (int i = 0; i < WALKS && rc == 0 && may_be_left(run); i++) {
		atomic_store(&run->changed, false);
		fsq_walk_time(&run->began, i > 0);
		rc = fsq_tree_walk(&walk, err);
	}
	run->again = false;
	if (rc == 0 && request->last && may_be_left(run))
		emit(&busy, run);
	return rc;
}

/* The errno with which a filesystem refuses every project ID, for it lacks the feature, or 0. */
static int find_refusal(const struct fsq_tree_request *request)
{
	struct fsq_features features = { .project = true };
	struct fsq_handle handle;
	struct stat st;

	if (fsq_handle_open_directory(&handle, request->directory, fsq_mounts_of(request->options),
				      NULL))
		return 0;
	if (fstat(handle.target.fd, &st) == 0 && fsq_handle_find_mount(&handle, NULL) == 0 &&
	    fsq_superblock_f2fs(st.st_dev, &features.project) &&
	    fsq_superblock_of_mount(handle.mount.device, st.st_dev, &features))
		features.project = true;
	fsq_handle_close(&handle);
	return features.project ? 0 : EOPNOTSUPP;
}

int fsq_project_tree(const struct fsq_tree_request *request, uint64_t *entries,
		     struct fsq_error *err)
{
	if (!request)
		return fsq_fail_null(err);

	struct tree_run run = { .request = request, .lock = PTHREAD_MUTEX_INITIALIZER };
	struct fsq_walk walk = walk_of(&run);
	struct statvfs vfs;
	uint64_t unwanted;
	int rc = fsq_check_size(request, request->size, sizeof(*request), err);

	entries = entries ? entries : &unwanted;
	*entries = 0;
	if (rc == 0)
		rc = fsq_check_parts(NULL, request->options, err);
	if (rc == 0 && (!request->directory || !request->emit))
		rc = fsq_fail_null(err);
	if (rc == 0 && (unsigned int)request->action > FSQ_TREE_CLEAR)
		rc = fsq_fail(err, FSQ_E_USAGE, EINVAL, request->directory, "no such action");
	if (rc == 0 && request->changed)
		*request->changed = 0;
	if (rc)
		return rc;
	/* Predict the error of every change, and whether the kernel requires the owner of a file. */
	if (request->dry_run) {
		run.owner_only = !fsq_has_capability(CAP_FOWNER);
		int fd = fsq_lookup(fsq_mounts_of(request->options), request->directory, O_PATH,
				    NULL);

		if (fd >= 0 && fstatvfs(fd, &vfs) == 0 && (vfs.f_flag & ST_RDONLY))
			run.refused = -EROFS;
		else if (fsq_in_user_namespace())
			run.refused = -EINVAL;
		else if (request->action == FSQ_TREE_SET && request->id)
			run.refused = -find_refusal(request);
		if (fd >= 0)
			close(fd);
	}
	rc = fsq_tree_walk(&walk, err);
	*entries = walk.entries;
	if (rc == 0) {
		ask(&run);
		rc = clear_again(&run, err);
	}
	if (request->changed)
		*request->changed = atomic_load(&run.count);
	fsq_inode_map_free(&run.links);
	return rc;
}

/* --- single files --- */

struct one_file {
	bool set;
	struct fsq_inode_project project, wanted;
	int errnum;
	bool is_special;
};

/* The walk visits a single file, and does not open a special one. */
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
	if (!path || !id || !inherit)
		return fsq_fail_null(err);

	struct one_file file = { 0 };
	int rc = reach(path, &file, err);

	*id = file.project.id;
	*inherit = file.project.inherit;
	return rc;
}

int fsq_fd_get_project(int fd, uint32_t *id, bool *inherit)
{
	if (!id || !inherit)
		return -EINVAL;

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
	if (!path)
		return fsq_fail_null(err);

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
		attributes.project_errnum = -fsq_walk_project_get(entry, &project);
		if (attributes.project_errnum == 0)
			attributes.project_id = project.id;
	}
	return each->visit(&attributes, each->arg);
}

int fsq_attributes_each(const char *path, int max_depth, fsq_attributes_visitor visit, void *arg,
			struct fsq_error *err)
{
	if (!path || !visit)
		return fsq_fail_null(err);

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
