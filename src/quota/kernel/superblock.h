/* SPDX-License-Identifier: Apache-2.0 */
/* What the superblock of a file system says of it, which no system call tells. */
#ifndef FSQ_SUPERBLOCK_H
#define FSQ_SUPERBLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct fsq_ext4_features {
	bool quota;	     /* quota records in hidden files */
	bool project;	     /* inodes have a project ID */
	unsigned inode_size; /* bytes; project IDs need more than 128 */
};

/**
 * Read the features of a mounted ext4.
 *
 * @device   its block device
 * @dev      st_dev of its files: another device is not read
 * @return   0 or a negative errno: -ENOENT or -ENXIO no device node, -EACCES, -EPERM (a device
 *           cgroup), -EINVAL no ext4
 * Source: ext4(5), and the kernel's documentation "ext4 Data Structures: The Super Block"
 */
int fsq_superblock_ext4(const char *device, dev_t dev, struct fsq_ext4_features *features);

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
