/* SPDX-License-Identifier: Apache-2.0 */
/* Is everything that has a project ID in one tree? Then the ID is that tree's, and nobody else's.
 */
#ifndef FSQ_TREE_ACCOUNT_H
#define FSQ_TREE_ACCOUNT_H

#include "quota/mounts/place.h"

/**
 * Compare the kernel's count of an ID with the inodes of a tree that carry it.
 *
 * The owner of the tree may change its files and their IDs meanwhile, and must not make files of
 * others look like his own. So an inode counts only if it has not changed since the kernel was
 * asked: its change time tells, which nobody can set back.
 *
 * @all      set: every inode with the ID is in the tree; while files are written it may be false
 *           although they are
 * @elsewhere set to how many inodes were not accounted for
 * @return   0; FSQ_E_FAILED, with EINTR when cancelled; FSQ_E_PERMISSION
 * Source: quotactl(2), Q_XGETQUOTA; statx(2), stx_ctime
 */
int fsq_tree_account(struct fsq_place *directory, uint32_t id,
		     const struct fsq_call_options *options, bool *all, uint64_t *elsewhere,
		     struct fsq_error *err);

#endif
