/* SPDX-License-Identifier: Apache-2.0 */
/* How large a file system is, and how full; and of an XFS all inodes and its features. */
#ifndef FSQ_SPACE_H
#define FSQ_SPACE_H

#include <sys/types.h>

#include "quota/fsquota.h"

struct fsq_space {
	uint64_t total; /* bytes; inodes for FSQ_INODES */
	uint64_t free;
};

struct fsq_inode {
	uint32_t owner[FSQ_TYPES]; /* user, group and project ID */
	mode_t mode;
	uint64_t bytes; /* of its blocks */
	int64_t read;	/* atime, in seconds since 1970 */
	ino_t ino;
	uint64_t size;	/* bytes */
	uint32_t links; /* names; 0: it is deleted, and still open */
};

typedef enum fsq_visit (*fsq_inode_visitor)(const struct fsq_inode *inode, void *arg);

/** As fsq_filesystem_space(). @fd  open for reading; @is_xfs  it is on XFS */
int fsq_space_get(int fd, bool is_xfs, struct fsq_space space[FSQ_FORMS]);

/**
 * @fd       on an XFS, open for reading
 * @return   whether it has ever been mounted with quota, and so may have records
 * Source: ioctl_xfs_fsgeometry(2)
 */
bool fsq_xfs_has_records(int fd);

/** @return  whether an open file is on an XFS of version 4. Source: ioctl_xfs_fsgeometry(2) */
bool fsq_xfs_is_version_4(int fd);

/**
 * Count the inodes that an XFS has in use.
 *
 * @fd       of any file, open for reading
 * @return   0 or a negative errno: -ENOTTY no XFS
 * Source: ioctl_xfs_fscounts(2)
 */
int fsq_xfs_inodes(int fd, uint64_t *count);

/**
 * Visit every inode, as fsq_filesystem_each_inode().
 *
 * @fd       of any file or directory, open for reading
 * @return   0 or a negative errno: -ENOTTY no XFS, -EPERM
 */
int fsq_bulkstat(int fd, fsq_inode_visitor visit, void *arg);

/**
 * Read the project ID of one inode of any type.
 *
 * @fd       of any file
 * @return   0 or a negative errno: -ENOTTY no XFS, -EPERM, -ENOENT there is no such inode
 * Source: ioctl_xfs_bulkstat(2)
 */
int fsq_bulkstat_project(int fd, ino_t ino, uint32_t *id);

/** The same of all that fsq_bulkstat() visits with. @fd: open for reading */
int fsq_bulkstat_inode(int fd, ino_t ino, struct fsq_inode *inode);

/**
 * Add up the extents of a file that it shares with other files, or with itself: reflinks.
 *
 * @fd       of a regular file, open for reading
 * @bytes    set on success
 * @return   0 or a negative errno
 * Source: kernel documentation, "Fiemap Ioctl"
 */
int fsq_shared_bytes(int fd, uint64_t *bytes);

#endif
