/* SPDX-License-Identifier: Apache-2.0 */
/* A line of words, as -c and the shell of xfs_quota have it. */
#ifndef FSQ_FRONTEND_LINE_H
#define FSQ_FRONTEND_LINE_H

#include <stdbool.h>

#include "command/session.h"

/**
 * Cut a line at its blanks; there is no quoting.
 *
 * @line     is taken apart; the words are in it
 * @count    set
 * @return   the words and a NULL, for free(3); NULL: no memory
 */
char **line_split(char *line, int *count);

/**
 * Run the command of a line.
 *
 * @line     is taken apart
 * @all      on each filesystem of the table, else on the current path
 */
void line_run(struct session *session, char *line, bool all);

#endif
