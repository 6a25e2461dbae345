/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file or directory held open, so that it stays the same whatever its owner does, and the way to
 * ask the kernel about the quota of its file system.
 */
#ifndef FSQ_HANDLE_H
#define FSQ_HANDLE_H

#include "mount.h"
#include "quota/kernel/inode_project.h"
#include "quota/kernel/quotactl.h"
#include "quota/kernel/space.h"

struct fsq_handle {
	struct fsq_target target; /* with the descriptor; the device is looked for when asked for */
	char *path;		  /* as opened; of a directory absolute and without symlinks */
	const struct fsq_mount_points *points; /* to keep to, or NULL: see fsq_lookup() */
	bool is_canonical; /* the path is absolute and without symlinks, whatever it leads to */
	struct fsq_mount_cache *mounts;	  /* to find the mount in, or NULL */
	struct fsq_known_mount *known;	  /* what was found there */
	struct fsq_mount mount;		  /* empty until fsq_handle_find_mount() */
	struct fsq_inode_project project; /* as fsq_handle_read_project() read it last */
};

/**
 * Open a file or directory for reading.
 *
 * @handle    must not move in memory; close it with fsq_handle_close()
 * @path, @points  as of fsq_lookup(); not a symlink
 * @return   0; FSQ_E_NOT_FOUND; FSQ_E_USAGE it is a symlink; FSQ_E_CONFLICT it leads over a symlink that is not
 *           followed; FSQ_E_NOT_SUPPORTED it is on a mount that may hang; FSQ_E_PERMISSION; FSQ_E_FAILED
 */
int fsq_handle_open(struct fsq_handle *handle, const char *path,
		    const struct fsq_mount_points *points, struct fsq_error *err);

/**
 * Open a directory, and find its canonical path.
 *
 * @return   as fsq_handle_open(); FSQ_E_USAGE also when it is no directory; FSQ_E_CONFLICT when it is renamed meanwhile
 */
int fsq_handle_open_directory(struct fsq_handle *handle, const char *path,
			      const struct fsq_mount_points *points, struct fsq_error *err);

/** Take what is open already, with its descriptor and path. */
void fsq_handle_take_directory(struct fsq_handle *handle, int fd, char *path);

void fsq_handle_close(struct fsq_handle *handle);

/**
 * Check that the path still leads to it: its owner can rename, replace or delete it while it is open.
 *
 * @return   0; FSQ_E_CONFLICT
 * Source: proc_pid_fd(5)
 */
int fsq_handle_check_path(const struct fsq_handle *handle, struct fsq_error *err);

/** Find its mount, unless that is known. @return  as fsq_mount_of_fd() */
int fsq_handle_find_mount(struct fsq_handle *handle, struct fsq_error *err);

/**
 * Read size and free space of its filesystem. It is asked at the mount point: below a directory with a project the
 * kernel shows the limit of that.
 *
 * @return   0; FSQ_E_FAILED; as fsq_mount_of_fd()
 */
int fsq_handle_space(struct fsq_handle *handle, struct fsq_space space[FSQ_FORMS],
		     struct fsq_error *err);

/** As fsq_quota_state(), of projects; asked once where the mount is in a cache. */
int fsq_handle_state(struct fsq_handle *handle, struct fsq_state *state);

/**
 * Read the project that it belongs to.
 *
 * @return   0; FSQ_E_NOT_SUPPORTED with a hint: there are no project IDs here; FSQ_E_FAILED
 * Source: ioctl_xfs_fsgetxattr(2)
 */
int fsq_handle_read_project(struct fsq_handle *handle, struct fsq_error *err);

/**
 * Check that project quota is on, on its file system.
 *
 * @enforced set on success: are limits enforced? May be NULL
 * @return   0; FSQ_E_NOT_SUPPORTED with a hint; FSQ_E_PERMISSION; FSQ_E_FAILED
 * Source: quotactl(2), Q_XGETQSTATV
 */
int fsq_handle_check_quota(struct fsq_handle *handle, bool *enforced, struct fsq_error *err);

/**
 * Look for a better reason of a failure: there is no quota here.
 *
 * @rc       0, or the failure in @err
 * @return   @rc, or FSQ_E_NOT_SUPPORTED
 */
int fsq_handle_explain(struct fsq_handle *handle, int rc, struct fsq_error *err);

/**
 * Write what was changed on its filesystem to the disk. Never with the locks: it can take long.
 *
 * @return   0; FSQ_E_FAILED
 * Source: syncfs(2)
 */
int fsq_handle_sync(const struct fsq_handle *handle, struct fsq_error *err);

/**
 * Read the project of the directory above a directory.
 *
 * @above    filled in any case: without an ID if it is on another file system or cannot be read
 * @return   0, or the negative errno with which it cannot be read
 * Source: ioctl_xfs_fsgetxattr(2)
 */
int fsq_handle_read_above(const struct fsq_handle *handle, struct fsq_inode_project *above);

#endif
