/* SPDX-License-Identifier: Apache-2.0 */
/* Run a command of the table, where it may run and with as many words as it takes. */
#ifndef FSQ_FRONTEND_DISPATCH_H
#define FSQ_FRONTEND_DISPATCH_H

#include "command/command.h"

/** Run a command on the current path. @argv may be reordered. */
enum command_result dispatch(struct session *session, const struct command *command, int argc,
			     char **argv);

/** Run a command on each filesystem of the table; the current path is left as it was. */
enum command_result dispatch_all(struct session *session, const struct command *command, int argc,
				 char **argv);

#endif
