/* SPDX-License-Identifier: Apache-2.0 */
/* The entry point of the program that imitates xfs_quota(8). */
#ifndef FSQ_XFS_QUOTA_MAIN_H
#define FSQ_XFS_QUOTA_MAIN_H

/** @return  the exit status of xfs_quota */
int xfs_quota_main(int argc, char **argv);

#endif
