/* SPDX-License-Identifier: Apache-2.0 */
/* Commands read from standard input, one a line. */
#ifndef FSQ_FRONTEND_SHELL_H
#define FSQ_FRONTEND_SHELL_H

#include "command/session.h"

/** Read and run commands until the end of input or `quit`. */
void shell(struct session *session);

#endif
