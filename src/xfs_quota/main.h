/* SPDX-License-Identifier: Apache-2.0 */
/* The xfs_quota door: its options, its table of paths, its way to run commands. */
#ifndef FSQ_FRONTEND_XFS_QUOTA_H
#define FSQ_FRONTEND_XFS_QUOTA_H

/** @return  the exit status of xfs_quota */
int xfs_quota_main(int argc, char **argv);

#endif
