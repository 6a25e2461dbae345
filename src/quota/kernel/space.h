/* SPDX-License-Identifier: Apache-2.0 */
/* How large a file system is, and how full. */
#ifndef FSQ_SPACE_H
#define FSQ_SPACE_H

#include "quota/fsquota.h"

/** As fsq_filesystem_space(). @is_xfs: whether @directory is on XFS */
int fsq_space_get(const char *directory, bool is_xfs, struct fsq_space space[FSQ_FORMS]);

/**
 * @directory on an XFS
 * @return   whether it has ever been mounted with quota, and so may have records
 * Source: ioctl_xfs_fsgeometry(2)
 */
bool fsq_xfs_has_records(const char *directory);

#endif
