/* SPDX-License-Identifier: Apache-2.0 */
/* How large a whole filesystem is and how full. */
#ifndef FSQ_SPACE_H
#define FSQ_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel.h"

struct fsq_space {
	uint64_t total; /* bytes, or inodes for FSQ_INODES */
	uint64_t free;
};

/**
 * Size and free space as seen from a directory. Below one with a project quota the kernel answers
 * with the quota's hard limits in place of the filesystem's size; but on XFS the blocks are always
 * those of the filesystem.
 *
 * @directory  where to look
 * @is_xfs     whether it is on XFS
 * @space      one for each form; realtime is 0 where there is none
 * @return     0 or a negative errno
 * Source: statfs(2); on XFS ioctl_xfs_fsgeometry(2) and ioctl_xfs_fscounts(2)
 */
int fsq_space_get(const char *directory, bool is_xfs, struct fsq_space space[FSQ_FORMS]);

#endif
