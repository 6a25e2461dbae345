/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is mounted where. Nothing else reads a mount table. No function here touches a mount that
 * was not asked for, so that a dead network or FUSE mount cannot hang the caller.
 */
#ifndef FSQ_MOUNTS_H
#define FSQ_MOUNTS_H

#include "quota/fsquota.h"

/** @return  0; FSQ_E_FAILED no memory */
int fsq_mount_copy(struct fsq_mount *copy, const struct fsq_mount *mount, struct fsq_error *err);

/** Free what @mount points to. */
void fsq_mount_clear(struct fsq_mount *mount);

/**
 * Find the mount that an open file lies on.
 *
 * @fd       any descriptor, O_PATH will do
 * @path     what it was opened by, for @err
 * @mount    filled on success; clear it with fsq_mount_clear()
 * @return   0; FSQ_E_NOT_FOUND when our namespace does not have this mount; FSQ_E_FAILED. In a chroot
 *           whose root is no mount point, the mount of "/" has that directory
 * Source: statx(2), statmount(2); before Linux 6.8 one pass over proc_pid_mountinfo(5)
 */
int fsq_mount_of_fd(int fd, const char *path, struct fsq_mount *mount, struct fsq_error *err);

/**
 * Find a path in a mount table that the caller brings (xfs_quota's -t).
 *
 * @file     a file in fstab(5) format
 * @path     a mount point or device of the table, or any path below a mount point of it; where
 *           mounts are stacked the last line, which is the visible one, counts
 * @return   0; FSQ_E_NOT_FOUND with errno ENXIO when the table does not have it, else with the
 *           errno of opening @file or resolving @path
 * Source: fstab(5)
 */
int fsq_mount_in_table(const char *file, const char *path, struct fsq_mount *mount,
		       struct fsq_error *err);

/**
 * As fsq_mount_points_find().
 *
 * @return   the mount's ID, as fsq_mount.id, or 0 when the name does not tell
 */
uint64_t fsq_mount_points_find_id(const struct fsq_mount_points *points, const char *path);

#endif
