/* SPDX-License-Identifier: Apache-2.0 */
/* Inodes of an XFS by their number. */
#ifndef FSQ_BULKSTAT_H
#define FSQ_BULKSTAT_H

#include <sys/types.h>

#include "quota/fsquota.h"

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

#endif
