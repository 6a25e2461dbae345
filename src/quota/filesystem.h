/* SPDX-License-Identifier: Apache-2.0 */
/* One mounted filesystem, opened by any path on it, by its device or by its mount point. */
#ifndef FSQ_FILESYSTEM_H
#define FSQ_FILESYSTEM_H

#include <stdbool.h>
#include <sys/types.h>

#include "error.h"
#include "kernel.h"
#include "mounts.h"

/* To be read by anybody, changed by nobody. */
struct fsq_filesystem {
	char *device;	 /* the source as the mount table has it */
	char *directory; /* the mount point */
	dev_t dev;	 /* st_dev of what lies on it */
	bool is_xfs;
	bool has_device;	  /* is @device there? Not of tmpfs, nor of much in a container */
	struct fsq_target target; /* for the calls of kernel.h */
};

/**
 * Open the filesystem a path stands for.
 *
 * @fs       set on success, to be closed with fsq_filesystem_close()
 * @path     a mount point, a block device that is mounted, or any file or directory; the
 *           filesystem that is to be seen at the path is opened, not one hidden below it
 * @table    a mount table that replaces the system's (as xfs_quota's -t), or NULL
 * @return   0; FSQ_E_NOT_FOUND with errno ENOENT etc. when @path or @table is not there, with
 *           ENXIO when it is on no filesystem of the table;
 *           FSQ_E_PERMISSION; FSQ_E_FAILED
 * Source: open(2) with O_PATH, statx(2), mounts.h
 */
int fsq_filesystem_open(struct fsq_filesystem **fs, const char *path, const char *table,
			struct fsq_error *err);

/**
 * Open the filesystem of one line of a mount table.
 *
 * @mount    from fsq_mounts_each()
 * @return   as fsq_filesystem_open(); FSQ_E_NOT_FOUND with ENXIO also when another mount hides it
 */
int fsq_filesystem_open_mount(struct fsq_filesystem **fs, const struct fsq_mount *mount,
			      struct fsq_error *err);

/**
 * Does a directory lie on this filesystem, below its mount point? Other mounts are not touched, so
 * that none can hang; a directory that is gone lies where it would lie.
 *
 * Source: openat2(2), RESOLVE_NO_XDEV
 */
bool fsq_filesystem_holds(const struct fsq_filesystem *fs, const char *directory);

void fsq_filesystem_close(struct fsq_filesystem *fs);

/**
 * How many inodes of the filesystem of a directory have a project ID, as the kernel counts them?
 *
 * @return   0 also where it does not tell
 * Source: quotactl(2), Q_XGETQUOTA
 */
uint64_t fsq_filesystem_inodes_of(const char *directory, uint32_t id);

/**
 * Is a file on XFS (and a directory or regular file)? The xfs_quota door calls all else foreign.
 *
 * @fd       open file, O_PATH will do
 * Source: fstatfs(2)
 */
bool fsq_filesystem_is_xfs(int fd);

/**
 * Ask whether a filesystem can still be written to, by fsync(2): attributes are read from memory
 * also after it was shut down.
 *
 * @return   0, also where @directory is none; or a negative errno, as -EIO
 */
int fsq_filesystem_ask(const char *directory);

#endif
