/* SPDX-License-Identifier: Apache-2.0 */
/* The xfs_quota door: its options, its table of paths, its way to run commands. */
#ifndef FSQ_FRONTEND_XFS_QUOTA_H
#define FSQ_FRONTEND_XFS_QUOTA_H

#include "command/session.h"

/** @return  the exit status of xfs_quota */
int xfs_quota_main(int argc, char **argv);

/**
 * Run one line of words on the current path, as the shell does.
 *
 * @line     is taken apart
 * @return   false when it says to quit
 */
bool xfs_quota_run_line(struct session *session, char *line);

#endif
