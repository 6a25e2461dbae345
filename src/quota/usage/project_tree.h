/* SPDX-License-Identifier: Apache-2.0 */
/* Project IDs of files, and of all files of a tree. */
#ifndef FSQ_PROJECT_TREE_H
#define FSQ_PROJECT_TREE_H

#include "quota/fsquota.h"
#include "quota/walk/tree_walk.h"

/**
 * Read the project ID of a file of any type. A symlink is not followed.
 *
 * @return   0; FSQ_E_NOT_SUPPORTED files of this type or on this file system have none, or the
 *           kernel does not tell it (special files before Linux 6.17); FSQ_E_NOT_FOUND;
 *           FSQ_E_PERMISSION; FSQ_E_FAILED
 * Source: ioctl_xfs_fsgetxattr(2), file_getattr(2)
 */
int fsq_file_get_project(const char *path, uint32_t *id, bool *inherit, struct fsq_error *err);

/**
 * Read the project ID of an open file.
 *
 * @fd       opened for reading, not with O_PATH
 * @return   0 or a negative errno: -ENOTTY or -EOPNOTSUPP where files have no project ID
 * Source: ioctl_xfs_fsgetxattr(2)
 */
int fsq_fd_get_project(int fd, uint32_t *id, bool *inherit);

/**
 * Set the project ID of a file of any type, and whether what is created in it gets the ID.
 *
 * @inherit  of a directory; ignored for others
 * @return   as fsq_file_get_project(); FSQ_E_PERMISSION also in a user namespace
 * Source: ioctl_xfs_fssetxattr(2), file_setattr(2)
 */
int fsq_file_set_project(const char *path, uint32_t id, bool inherit, struct fsq_error *err);

enum fsq_file_kind {
	FSQ_FILE_REGULAR,
	FSQ_FILE_DIRECTORY,
	FSQ_FILE_SPECIAL, /* symlink, FIFO, socket or device; never opened */
	FSQ_FILE_UNKNOWN, /* it could not be opened */
	FSQ_FILE_LEAVE,	  /* the end of a directory that was entered */
	FSQ_FILE_MOUNT,	  /* a mount, which is not entered; only the path is set */
};

struct fsq_attributes {
	enum fsq_file_kind kind;
	const char *path; /* that was given, and the names below it */
	int depth;	  /* 0: the path that was given */
	int errnum;	  /* why the flags are not known, or 0 */
	uint32_t flags;	  /* FS_IOC_GETFLAGS */
	/* Why the project is not known, or 0. Of a special file it is since Linux 6.17. */
	int project_errnum;
	uint32_t project_id;
	bool inherit;
};

/** May return FSQ_VISIT_PRUNE for a directory. */
typedef enum fsq_visit (*fsq_attributes_visitor)(const struct fsq_attributes *attributes,
						 void *arg);

/**
 * Visit a file, and below a directory every file on the same mount, in the order of the
 * directories. Symlinks are not followed and special files not opened.
 *
 * @max_depth 0: the path alone; 1: what is in it, too; FSQ_DEPTH_INFINITE
 * @return   0; FSQ_E_FAILED no memory
 * Source: openat2(2), getdents64(2), ioctl_iflags(2)
 */
int fsq_attributes_each(const char *path, int max_depth, fsq_attributes_visitor visit, void *arg,
			struct fsq_error *err);

enum fsq_tree_action {
	FSQ_TREE_CHECK, /* emit what does not carry the ID, or does not hand it on */
	FSQ_TREE_SET,	/* set the ID; directories hand it on */
	FSQ_TREE_CLEAR, /* set ID 0; directories hand nothing on */
};

/* Bits, of which an event has one, or the first two. */
enum fsq_tree_event_kind {
	FSQ_TREE_WRONG_ID = 1,
	FSQ_TREE_NO_INHERITANCE = 2, /* a directory does not hand its ID on */
	FSQ_TREE_SPECIAL_FILE = 4,   /* passed over: the kernel does not let us */
	FSQ_TREE_NO_PROJECT = 8,     /* a file or directory has no project ID here; errnum ENOTTY */
	FSQ_TREE_CANNOT_STAT = 16,
	FSQ_TREE_CANNOT_OPEN = 32,
	FSQ_TREE_CANNOT_GET = 64,
	FSQ_TREE_CANNOT_CHANGE =
		128, /* in a user namespace error is FSQ_E_PERMISSION, errnum EINVAL */
};

struct fsq_tree_event {
	unsigned int kind; /* enum fsq_tree_event_kind */
	const char *path;
	uint32_t id; /* that it carries, with FSQ_TREE_WRONG_ID */
	enum fsq_error_kind error;
	int errnum;
};

typedef enum fsq_visit (*fsq_tree_handler)(const struct fsq_tree_event *event, void *arg);

struct fsq_tree_request {
	size_t size;
	const char *directory; /* or one file */
	uint32_t id;
	enum fsq_tree_action action;
	int max_depth; /* 0: the directory alone; FSQ_DEPTH_INFINITE */
	bool dry_run;  /* change nothing, only find out what would change */
	/* No other directory is known to have the ID: where it is cleared, what the kernel still counts
	 * is of this one. */
	bool last;
	/* Called for each event, one at a time; in the order of the directories' entries with FSQ_TREE_CHECK, and
	 * where options->threads is 1. */
	fsq_tree_handler emit;
	void *arg;
	const struct fsq_call_options *options; /* or NULL */
	/* Set, also on failure, if not NULL: how many files and directories were changed, or would
	 * be. */
	uint64_t *changed;
};

/**
 * Check, set or clear the project of a directory tree, on one mount and without following symlinks.
 * A large tree is walked by several threads, unless it is only checked. Where IDs are cleared while files
 * are moved about, it is walked again, at most 32 times; behind that FSQ_TREE_CANNOT_CHANGE with EBUSY says
 * of the last directory that files still have the ID.
 *
 * @entries  set, also on failure: how many files and directories were visited; or NULL
 * @return   0, also when @emit stopped it; FSQ_E_FAILED no memory, or with EINTR cancelled
 * Source: openat2(2), getdents64(2), ioctl_xfs_fssetxattr(2), file_setattr(2), open_tree(2)
 */
int fsq_project_tree(const struct fsq_tree_request *request, uint64_t *entries,
		     struct fsq_error *err);

#endif
