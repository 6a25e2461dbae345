/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is mounted where: the only room that reads a mount table. No function here touches a mount
 * that was not asked for, so that a dead network or FUSE mount can hang nobody.
 */
#ifndef FSQ_MOUNTS_H
#define FSQ_MOUNTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"

/* Of what is on no filesystem that is mounted. */
#define FSQ_HINT_UNMOUNTED "name a directory of a mounted filesystem, or its device"

struct fsq_mount {
	char *device;	 /* the source as the table has it, e.g. /dev/sda1 or tmpfs */
	char *directory; /* the mount point, unescaped */
	uint64_t id;	 /* the kernel's mount ID, 0 when the table has none */
	dev_t dev;	 /* device number of the filesystem, 0 when not known */
};

/** Free what @mount points to. */
void fsq_mount_clear(struct fsq_mount *mount);

/**
 * Find the mount that an open file lies on.
 *
 * @fd       any descriptor, O_PATH will do
 * @path     what it was opened by, to be named in @err
 * @mount    filled on success; clear it with fsq_mount_clear()
 * @return   0; FSQ_E_NOT_FOUND when this mount is not to be seen in our namespace; FSQ_E_FAILED
 * Source: statx(2), statmount(2); before Linux 6.8 one pass over proc_pid_mountinfo(5)
 */
int fsq_mount_of_fd(int fd, const char *path, struct fsq_mount *mount, struct fsq_error *err);

/**
 * Find a path in a mount table that the caller brings (xfs_quota's -t).
 *
 * @file     a file in fstab(5) format
 * @path     a mount point or device of the table, or any path below a mount point of it; where
 *           mounts are stacked the last line, which is the one to be seen, counts
 * @return   0; FSQ_E_NOT_FOUND with errno ENXIO when the table does not have it, else with the
 *           errno of opening @file or resolving @path
 * Source: fstab(5)
 */
int fsq_mount_in_table(const char *file, const char *path, struct fsq_mount *mount,
		       struct fsq_error *err);

/** Called for each mount; a value other than 0 ends the iteration and is returned from it. */
typedef int (*fsq_mount_visitor)(const struct fsq_mount *mount, void *arg);

/**
 * Visit every mount that can hold local quotas.
 *
 * @file     a file in fstab(5) format of which every line but autofs is visited; NULL for the
 *           system's mounts, of which network, FUSE and autofs mounts, and whatever the path to
 *           which leads over one, are left out
 * @return   0, what @visit returned, or FSQ_E_NOT_FOUND when the table cannot be read
 * Source: fstab(5), libmount; without it proc_pid_mountinfo(5)
 */
int fsq_mounts_each(const char *file, fsq_mount_visitor visit, void *arg, struct fsq_error *err);

#endif
