/* SPDX-License-Identifier: Apache-2.0 */
/* Which kind of file system an open file is on. */
#ifndef FSQ_FS_TYPE_H
#define FSQ_FS_TYPE_H

#include <linux/magic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/statfs.h>

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

/** @return  whether it is a tmpfs or the like, which is asked for its size, not for its quota */
static inline bool fsq_is_in_memory(const struct statfs *sfs)
{
	return sfs->f_type == TMPFS_MAGIC || sfs->f_type == RAMFS_MAGIC ||
	       sfs->f_type == HUGETLBFS_MAGIC;
}

/**
 * @return   whether another file system answers for it, of a server, of the host of a virtual machine or of an overlay's
 *           upper layer: with the limit of a project there, where the directory that is asked about has one
 * Source: statfs(2), nfs(5)
 */
static inline bool fsq_is_answered_for(const struct statfs *sfs)
{
	switch ((uint32_t)sfs->f_type) {
	case NFS_SUPER_MAGIC:
	case OVERLAYFS_SUPER_MAGIC:
	case SMB_SUPER_MAGIC:
	case CIFS_SUPER_MAGIC:
	case SMB2_SUPER_MAGIC:
	case V9FS_MAGIC:
	case CEPH_SUPER_MAGIC:
		return true;
	default:
		return false;
	}
}

/** @return  whether file systems of a type, as the mount table names it, can have project quotas */
static inline bool fsq_type_has_projects(const char *type)
{
	return strcmp(type, "xfs") == 0 || strcmp(type, "ext4") == 0 || strcmp(type, "f2fs") == 0;
}

/** @return  whether it is XFS. Source: fstatfs(2) */
static inline bool fsq_is_xfs(int fd)
{
	struct statfs sfs;

	return fstatfs(fd, &sfs) == 0 && sfs.f_type == XFS_SUPER_MAGIC;
}

/** @return  whether it is f2fs. Source: fstatfs(2) */
static inline bool fsq_is_f2fs(int fd)
{
	struct statfs sfs;

	return fstatfs(fd, &sfs) == 0 && sfs.f_type == F2FS_SUPER_MAGIC;
}

#endif
