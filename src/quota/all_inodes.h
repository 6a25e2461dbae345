/* SPDX-License-Identifier: Apache-2.0 */
/* Every inode of an XFS in the order of the disk, without walking its directories. */
#ifndef FSQ_ALL_INODES_H
#define FSQ_ALL_INODES_H

#include <stdint.h>
#include <sys/types.h>

#include "filesystem.h"

struct fsq_inode {
	uint32_t owner[FSQ_TYPES]; /* user, group and project ID */
	mode_t mode;
	uint64_t bytes; /* of the blocks it holds */
	int64_t read;	/* when it was last read, in seconds since 1970 */
};

/**
 * Call @visit for every inode.
 *
 * @return   0; FSQ_E_NOT_SUPPORTED when the filesystem is no XFS; FSQ_E_PERMISSION without
 *           CAP_SYS_ADMIN; FSQ_E_NOT_FOUND or FSQ_E_FAILED
 * Source: ioctl_xfs_bulkstat(2), Linux 5.4
 */
int fsq_all_inodes(const struct fsq_filesystem *fs,
		   void (*visit)(const struct fsq_inode *inode, void *arg), void *arg,
		   struct fsq_error *err);

/**
 * The project ID of one inode of an XFS, of any type.
 *
 * @fd       of any file of it
 * @return   0 or a negative errno: -ENOTTY no XFS, -EPERM, -ENOENT there is no such inode
 * Source: ioctl_xfs_bulkstat(2)
 */
int fsq_xfs_project_of(int fd, ino_t ino, uint32_t *id);

#endif
