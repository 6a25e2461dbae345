/* SPDX-License-Identifier: Apache-2.0 */
/* What the superblock of a file system says of it, which no system call tells. */
#ifndef FSQ_SUPERBLOCK_H
#define FSQ_SUPERBLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What project quotas take. */
struct fsq_features {
	bool quota;   /* quota records in hidden files, with those of projects; true but on ext4 */
	bool project; /* inodes have a project ID */
	unsigned inode_size; /* of ext4, in bytes; project IDs need more than 128 */
	unsigned version;    /* of XFS, 5 or less; 0 of others */
	/* Of ext4: what each mount has before its own options, see -E mount_opts of tune2fs(8). */
	char mount_options[64 + 1];
};

/**
 * Read the features of an XFS, ext4 or f2fs.
 *
 * @fd       a device or an image of one, open for reading
 * @return   0 or a negative errno: -EINVAL it is none of them
 * Source: ext4(5); the kernel's documentation "ext4 Data Structures: The Super Block", "XFS Self
 *         Describing Metadata", and its linux/f2fs_fs.h
 */
int fsq_superblock_features(int fd, struct fsq_features *features);

/**
 * Open the device of a mounted file system.
 *
 * @device   its block device
 * @dev      st_dev of its files: another device is not opened
 * @return   a file descriptor for reading, or a negative errno: -ENOENT or -ENXIO no device node, -EACCES, -EPERM (a
 *           device cgroup)
 */
int fsq_superblock_open(const char *device, dev_t dev);

/** Read the features of a mounted file system. @return  as fsq_superblock_open() and fsq_superblock_features() */
int fsq_superblock_of_mount(const char *device, dev_t dev, struct fsq_features *features);

/**
 * Can a mounted f2fs have project quota?
 *
 * @dev      st_dev of its files
 * @project  set to whether it has the feature project_quota
 * @return   0 or a negative errno: there is no sysfs(5)
 * Source: the kernel's Documentation/ABI/testing/sysfs-fs-f2fs, features
 */
int fsq_superblock_f2fs(dev_t dev, bool *project);

#endif
