/* SPDX-License-Identifier: Apache-2.0 */
/* Lines typed at a terminal: libedit with history and completion, loaded on first use. */
#ifndef FSQ_FRONTEND_LINE_EDITOR_H
#define FSQ_FRONTEND_LINE_EDITOR_H

#include "command/session.h"

/**
 * Get ready to edit lines; words of commands and projects of @session are completed.
 *
 * @return   false when libedit is not installed: then lines are to be read plainly
 * Source: editline(3), its interface of readline
 */
bool line_editor_start(struct session *session);

/** @return  the next line without its newline, for free(3), or NULL at the end of input */
char *line_editor_read(const char *prompt);

#endif
