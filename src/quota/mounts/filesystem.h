/* SPDX-License-Identifier: Apache-2.0 */
/* A mounted file system, opened by any path on it, by its device or by its mount point. */
#ifndef FSQ_FILESYSTEM_H
#define FSQ_FILESYSTEM_H

#include "mount.h"
#include "quota/fsquota.h"
#include "quota/kernel/quotactl.h"
#include "quota/kernel/space.h"

/* A mounted file system. */
struct fsq_filesystem;

/* Owned by the file system, and valid until it is closed. */
struct fsq_filesystem_info {
	const char *device;    /* the source in the mount table */
	const char *directory; /* the mount point */
	dev_t dev;	       /* st_dev of its files */
	bool is_xfs;
	bool has_device; /* @device exists; false for tmpfs, and for most in a container */
	/* @device is asked when the kernel wants one: false for a source such as "tmpfs". */
	bool asks_device;
};

enum fsq_open_flags {
	/* With a table whose device is not the one mounted there: ask the mount point, not it. */
	FSQ_OPEN_ASK_MOUNT_POINT = 1,
	/* LABEL=data and the like are paths, too. */
	FSQ_OPEN_NO_TAG = 2,
};

/**
 * Open the file system that a path stands for.
 *
 * @fs       set on success; close it with fsq_filesystem_close()
 * @path     a mount point, a mounted block device, a tag of one (see fsq_is_tag()), or any file or
 *           directory; the file system that is visible at the path is opened, not one that it hides
 * @table    a mount table in fstab(5) format that replaces the system's, or NULL
 * @flags    enum fsq_open_flags
 * @return   0; FSQ_E_NOT_FOUND with ENOENT and the like when @path or @table does not exist, with
 *           ENXIO when the table does not have it; FSQ_E_PERMISSION; FSQ_E_FAILED
 * Source: open(2) with O_PATH, statx(2), statmount(2); blkid_evaluate_tag() of libblkid
 */
int fsq_filesystem_open(struct fsq_filesystem **fs, const char *path, const char *table,
			unsigned int flags, struct fsq_error *err);

/**
 * Open the file system of a mount that fsq_mounts_each() visits.
 *
 * @return   as fsq_filesystem_open(); FSQ_E_NOT_FOUND with ENXIO also when another mount hides it
 */
int fsq_filesystem_open_mount(struct fsq_filesystem **fs, const struct fsq_mount *mount,
			      unsigned int flags, struct fsq_error *err);

/**
 * Address a file system by its block device alone. Nothing is opened; fsq_quota_ functions fail
 * when it is no device of a mounted file system.
 *
 * @return   0 or FSQ_E_FAILED
 */
int fsq_filesystem_of_device(struct fsq_filesystem **fs, const char *device, struct fsq_error *err);

/** Close a file system and free it; NULL is ignored. */
void fsq_filesystem_close(struct fsq_filesystem *fs);

const struct fsq_filesystem_info *fsq_filesystem_get_info(const struct fsq_filesystem *fs);

/**
 * Read size and free space as a directory sees them. Below a directory with a project quota the
 * kernel gives the hard limits of the project instead, but on XFS for inodes only.
 *
 * @points   to look @directory up in, see fsq_lookup(); or NULL
 * @directory on this file system
 * @space    filled on success, one for each form; realtime is 0 where there is none
 * @return   0 or a negative errno
 * Source: statfs(2); on XFS ioctl_xfs_fsgeometry(2) and ioctl_xfs_fscounts(2)
 */
int fsq_filesystem_space(const struct fsq_filesystem *fs, const struct fsq_mount_points *points,
			 const char *directory, struct fsq_space space[FSQ_FORMS]);

/**
 * Visit every inode of an XFS in the order of the disk, without walking directories.
 *
 * @return   0; FSQ_E_NOT_SUPPORTED no XFS; FSQ_E_PERMISSION without CAP_SYS_ADMIN;
 *           FSQ_E_NOT_FOUND; FSQ_E_FAILED
 * Source: ioctl_xfs_bulkstat(2), Linux 5.4
 */
int fsq_filesystem_each_inode(const struct fsq_filesystem *fs, fsq_inode_visitor visit, void *arg,
			      struct fsq_error *err);

/**
 * Read use and limits of one ID.
 *
 * @id       0 to FSQ_ID_MAX
 * @dquot    filled on success
 * @return   0 or a negative errno: -ENOENT XFS has no record of @id (ext4 and f2fs answer zeros);
 *           -ESRCH the type is off; -ENOSYS the file system has no quota, or seccomp forbids it;
 *           -EPERM without CAP_SYS_ADMIN, and not the caller's own; -ENOTBLK the device is none
 * Source: quotactl(2), Q_XGETQUOTA
 */
int fsq_quota_get(struct fsq_filesystem *fs, enum fsq_type type, uint32_t id,
		  struct fsq_dquot *dquot);

/**
 * Read use and limits of the first ID from @id on that has a record.
 *
 * @dquot    filled on success; its id is the ID found
 * @return   as fsq_quota_get(); -ENOENT there is none; -EINVAL or -ENOSYS before Linux 4.6
 * Source: quotactl(2), Q_XGETNEXTQUOTA
 */
int fsq_quota_get_next(struct fsq_filesystem *fs, enum fsq_type type, uint32_t id,
		       struct fsq_dquot *dquot);

/**
 * Read what is switched on, and the grace times of one type.
 *
 * @return   0 or a negative errno: -ENOSYS the file system has no quota
 * Source: quotactl(2), Q_XGETQSTATV, Q_XGETQSTAT
 */
int fsq_quota_state(struct fsq_filesystem *fs, enum fsq_type type, struct fsq_state *state);

/**
 * Set the limits in @limits->mask and nothing else. Use is never written back.
 *
 * @return   0 or a negative errno: -EPERM without CAP_SYS_ADMIN; -ERANGE above
 *           FSQ_LIMIT_BLOCKS_MAX, or more than the file system can hold; -EINVAL a realtime limit
 *           on ext4 or f2fs; as fsq_quota_get()
 * Source: quotactl(2), Q_XSETQLIM
 */
int fsq_quota_set_limits(struct fsq_filesystem *fs, enum fsq_type type, uint32_t id,
			 const struct fsq_limits *limits);

/**
 * Set grace times: when they end for one ID, or with ID 0 how long they are for every ID.
 *
 * @return   as fsq_quota_set_limits(); -EINVAL realtime on ext4 or f2fs
 * Source: quotactl(2), Q_XSETQLIM
 */
int fsq_quota_set_timers(struct fsq_filesystem *fs, enum fsq_type type, uint32_t id,
			 const struct fsq_timers *timers);

/**
 * Set the number of warnings issued, for the forms in @set.
 *
 * @return   as fsq_quota_set_limits(); -EINVAL from every kernel since 5.19
 * Source: quotactl(2), Q_XSETQLIM
 */
int fsq_quota_set_warnings(struct fsq_filesystem *fs, enum fsq_type type, uint32_t id,
			   const bool set[FSQ_FORMS], uint16_t warnings);

/**
 * Switch quota of some types on or off.
 *
 * @types    which; for FSQ_REMOVE only one
 * @return   0 or a negative errno: -EEXIST it is so already; -EINVAL accounting is off (or, to
 *           remove, on); -ENOSYS no XFS, or no quota
 * Source: quotactl(2), Q_XQUOTAON, Q_XQUOTAOFF, Q_XQUOTARM
 */
int fsq_quota_switch(struct fsq_filesystem *fs, enum fsq_switch what, const bool types[FSQ_TYPES]);

/**
 * Write pending use to the quota records.
 *
 * @return   0 or a negative errno: -EROFS a read-only mount
 * Source: quotactl(2), Q_XQUOTASYNC
 */
int fsq_quota_sync(struct fsq_filesystem *fs, enum fsq_type type);

#endif
