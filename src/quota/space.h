/* SPDX-License-Identifier: Apache-2.0 */
/* How large a whole filesystem is and how full. */
#ifndef FSQ_SPACE_H
#define FSQ_SPACE_H

#include <stdint.h>

#include "filesystem.h"

struct fsq_space {
	uint64_t total; /* bytes, or inodes for FSQ_INODES */
	uint64_t free;
};

/**
 * Size and free space of a filesystem, regardless of any project quota on its root directory.
 *
 * @space    one for each form; realtime is 0 where there is none
 * @return   0 or a negative errno
 * Source: statfs(2); on XFS ioctl_xfs_fsgeometry(2) and ioctl_xfs_fscounts(2)
 */
int fsq_space_get(const struct fsq_filesystem *fs, struct fsq_space space[FSQ_FORMS]);

#endif
