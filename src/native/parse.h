/* SPDX-License-Identifier: Apache-2.0 */
/* From the words of a command line to the options and operands of a command. */
#ifndef FSQ_PARSE_H
#define FSQ_PARSE_H

#include "command.h"

/**
 * @words    behind the command's name, ended by NULL; the operands are moved to its beginning
 * @options  to be filled, command->options_size bytes
 * @return   false when an option is wrong; an error was reported
 */
bool parse_words(struct session *session, const struct command *command, char **words,
		 struct invocation *invocation, void *options);

#endif
