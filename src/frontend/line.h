/* SPDX-License-Identifier: Apache-2.0 */
/* A line of words, as -c and the shell of xfs_quota have it. */
#ifndef FSQ_FRONTEND_LINE_H
#define FSQ_FRONTEND_LINE_H

#include <stdbool.h>

#include "command/session.h"

/**
 * Run the command of a line.
 *
 * @line     is taken apart
 * @all      on each filesystem of the table, else on the current path
 */
void line_run(struct session *session, char *line, bool all);

#endif
