/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The project ID that an inode carries. Nothing else calls the FSXATTR ioctls, and file_getattr(2)
 * and file_setattr(2), which reach symlinks and special files, too, and open nothing.
 */
#ifndef FSQ_INODE_PROJECT_H
#define FSQ_INODE_PROJECT_H

#include <stdbool.h>
#include <stdint.h>

struct fsq_inode_project {
	uint32_t id;
	bool inherit; /* what is created in the directory gets its ID */
	/* Kept when the ID is set: */
	uint64_t other_flags;
	uint32_t extent_size;
	uint32_t cow_extent_size;
};

/**
 * Read the project ID and inheritance flag of an open file.
 *
 * @fd       opened for reading, not with O_PATH
 * @return   0 or a negative errno: -ENOTTY or -EOPNOTSUPP where files carry no project ID
 * Source: ioctl_xfs_fsgetxattr(2)
 */
int fsq_inode_project_get(int fd, struct fsq_inode_project *project);

/**
 * Set the project ID and inheritance flag of an open file, all other attributes unchanged.
 * Nothing is written where nothing changes.
 *
 * @project  as fsq_inode_project_get() read it; brought up to date
 * @return   0 or a negative errno: -EPERM not the owner or in a user namespace, -EINVAL the
 *           filesystem has no project IDs, -EOPNOTSUPP inheritance on what is no directory (ext4,
 *           f2fs), -EROFS, -EDQUOT or -ENOSPC beyond a limit, and as fsq_inode_project_get()
 * Source: ioctl_xfs_fssetxattr(2)
 */
int fsq_inode_project_set(int fd, struct fsq_inode_project *project, uint32_t id, bool inherit);

/**
 * The same by a name in a directory, of a file of any type, which is not opened and not followed.
 *
 * @dirfd, @name  a directory and a name in it; or an O_PATH descriptor and ""
 * @return   as above; -ENOTTY where files of this type carry no project ID; -ENOSYS before
 *           Linux 6.17; -ENOENT it is gone
 * Source: file_getattr(2), file_setattr(2)
 */
int fsq_inode_project_get_at(int dirfd, const char *name, struct fsq_inode_project *project);
int fsq_inode_project_set_at(int dirfd, const char *name, struct fsq_inode_project *project,
			     uint32_t id, bool inherit);

/**
 * @fd       of any file on the filesystem
 * @return   1 when the kernel has these two, no seccomp filter forbids them, and /proc is there; 0
 *           otherwise; a negative errno when that cannot be found out
 */
int fsq_inode_project_has_at(int fd);

/**
 * Read the flags that lsattr(1) shows.
 *
 * @return   0 or a negative errno
 * Source: ioctl_iflags(2), FS_IOC_GETFLAGS
 */
int fsq_inode_flags_get(int fd, uint32_t *flags);

#endif
