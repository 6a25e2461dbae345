/* SPDX-License-Identifier: Apache-2.0 */
/* Is all that has a project ID in one tree? Then the ID is that tree's, and nobody else's. */
#ifndef FSQ_TREE_ACCOUNT_H
#define FSQ_TREE_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "directory.h"
#include "error.h"
#include "tree_walk.h"

/**
 * Hold the kernel's count of an ID against the inodes of a tree that carry it.
 *
 * The owner of the tree may change its files and their IDs meanwhile, and must not make it look as
 * if files of others were his. So an inode counts only if it has not changed since the kernel was
 * asked, which its change time tells: nobody can set that back.
 *
 * @all      set: every inode with the ID is in the tree. While files are written it may be false
 *           though they are
 * @elsewhere set to how many inodes were not accounted for
 * @return   0; FSQ_E_FAILED, with EINTR when a signal waits (interrupt.h); FSQ_E_PERMISSION
 * Source: quotactl(2), Q_XGETQUOTA; statx(2), stx_ctime
 */
int fsq_tree_account(const struct fsq_directory *directory, uint32_t id,
		     const struct fsq_walk_manner *manner, bool *all, uint64_t *elsewhere,
		     struct fsq_error *err);

#endif
