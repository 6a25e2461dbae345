/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mount of an open file, which costs the same however many there are, and what was asked about it;
 * and a mount table that the caller brings. All mounts of the system are in mount_table.h. No function
 * touches a mount that was not asked for: a dead network or FUSE mount would hang the caller.
 */
#ifndef FSQ_MOUNT_H
#define FSQ_MOUNT_H

#include "quota/fsquota.h"
#include "quota/kernel/quotactl.h"

struct fsq_mount {
	char *device;	 /* the source in the mount table, e.g. /dev/sda1 or tmpfs */
	char *directory; /* the mount point */
	uint64_t id;	 /* the kernel's mount ID, 0 when the table has none */
	dev_t dev;	 /* device number of the file system, 0 when not known */
	/* Each NULL or 0 where the table does not have it: */
	char *type; /* xfs, ext4, ... */
	char *root; /* what of the file system is mounted, / for all */
	char *options;
	char *super_options; /* of the file system, where these are the mount's own */
	uint64_t parent;     /* id of the mount that it lies on */
	uint64_t line;	     /* of fstab(5), from 1 on */
	bool is_local; /* no network, FUSE or autofs mount, and its path leads over none: it cannot hang */
};

typedef enum fsq_visit (*fsq_mount_visitor)(const struct fsq_mount *mount, void *arg);

struct fsq_mount_points;

#define FSQ_MOUNTINFO "/proc/self/mountinfo"

/** Copy a mount, with its strings. @return  0; FSQ_E_FAILED no memory */
int fsq_mount_copy(struct fsq_mount *copy, const struct fsq_mount *mount, struct fsq_error *err);

/** Free the strings of a mount that one of the functions here filled. */
void fsq_mount_clear(struct fsq_mount *mount);

/**
 * Find the mount that an open file lies on.
 *
 * @fd       any descriptor, O_PATH will do
 * @path     what it was opened by, for @err
 * @mount    filled on success: device, directory, id and dev, perhaps more; clear it with
 *           fsq_mount_clear()
 * @return   0; FSQ_E_NOT_FOUND when our namespace does not have this mount; FSQ_E_FAILED. In a chroot
 *           whose root is no mount point, the mount of "/" has that directory
 * Source: statx(2), statmount(2); before Linux 6.8 one pass over proc_pid_mountinfo(5)
 */
int fsq_mount_of_fd(int fd, const char *path, struct fsq_mount *mount, struct fsq_error *err);

/**
 * Find the line of mountinfo of an open file, whose options have the table's octal escapes.
 *
 * @mount    all is filled on success; clear it with fsq_mount_clear()
 * @return   0 or a negative errno: -ENXIO when our namespace does not have the mount
 * Source: statx(2), proc_pid_mountinfo(5)
 */
int fsq_mount_line_of_fd(int fd, struct fsq_mount *mount);

/**
 * Find out whether anything is mounted below a directory. What is mounted at it does not count.
 *
 * @directory absolute, without symlinks
 * @return   1 or 0, or a negative errno
 * Source: proc_pid_mountinfo(5)
 */
int fsq_mount_any_below(const char *directory);

/**
 * Find a path in a mount table that the caller brings (xfs_quota's -t).
 *
 * @file     a file in fstab(5) format
 * @path     a mount point or device of the table, or any path below a mount point of it; where
 *           mounts are stacked the last line, which is the visible one, counts
 * @mount    filled on success: device, directory, type and options
 * @return   0; FSQ_E_NOT_FOUND with errno ENXIO when the table does not have it, else with the
 *           errno of opening @file or resolving @path
 * Source: fstab(5)
 */
int fsq_mount_in_file(const char *file, const char *path, struct fsq_mount *mount,
		      struct fsq_error *err);

/** Visit the lines of such a table, but for autofs. @return  0; as fsq_mounts_each() */
int fsq_mount_each_in_file(const char *file, fsq_mount_visitor visit, void *arg,
			   struct fsq_error *err);

#define FSQ_FSTAB "/etc/fstab"

/**
 * Visit the lines of a file in fstab(5) format.
 *
 * @visit    gets directories without "//", "/./" and a slash at the end; the device may be a tag, as
 *           UUID=...
 * @return   0, also without the file; FSQ_E_PERMISSION; FSQ_E_FAILED
 * Source: fstab(5)
 */
int fsq_fstab_each(const char *file, fsq_mount_visitor visit, void *arg, struct fsq_error *err);

/**
 * @point    a mount point of fstab(5)
 * @mounted  the mount point of what is mounted at or above @path now
 * @return   whether what is mounted at @point would hide @path, or be it
 */
bool fsq_mount_point_hides(const char *point, const char *mounted, const char *path);

/* A mount that was found, and what was asked of its file system. */
struct fsq_known_mount {
	struct fsq_known_mount *next;
	uint64_t id; /* of statx(2), or 0: not to be found again */
	struct fsq_mount mount;
	bool has_no_quota; /* in memory, another one answers for it, or not known */
	bool state_known;  /* since the last check */
	struct fsq_state state;
	int state_rc; /* of asking for it */
};

/* Mounts that were found, as long as no mount changes. */
struct fsq_mount_cache {
	int table; /* the mount table, for poll(2); nothing is read from it. -1: there is none */
	struct fsq_known_mount *first;
};

void fsq_mount_cache_open(struct fsq_mount_cache *cache);
void fsq_mount_cache_close(struct fsq_mount_cache *cache);

/**
 * Have mounts been made, moved or taken away since this, or poll(2), was asked last?
 *
 * @fd       of FSQ_MOUNTINFO
 * Source: proc_pid_mountinfo(5), poll(2)
 */
bool fsq_mounts_have_changed(int fd);

/**
 * Forget what may have changed: all mounts, if any has been made, moved or taken away.
 *
 * Source: proc_pid_mountinfo(5), poll(2)
 */
void fsq_mount_cache_check(struct fsq_mount_cache *cache);

/**
 * Find the mount that an open file lies on.
 *
 * @known    set; it holds until the next check
 * @return   as fsq_mount_of_fd()
 */
int fsq_mount_cache_find(struct fsq_mount_cache *cache, int fd, const char *path,
			 struct fsq_known_mount **known, struct fsq_error *err);

#endif
