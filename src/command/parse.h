/* SPDX-License-Identifier: Apache-2.0 */
/* From the words of a command line to the options and operands of a command. */
#ifndef FSQ_PARSE_H
#define FSQ_PARSE_H

#include "command.h"

/**
 * Parse as xfs_quota does: letters alone, with getopt(3)'s own messages.
 *
 * @options  to be filled, command->options_size bytes
 * @argv     sorted: options first
 * @return   false when an option is wrong; an error was reported
 */
bool parse_letters(struct session *session, const struct command *command, int argc, char **argv,
		   struct invocation *invocation, void *options);

/**
 * Parse as the native door does: long options, too, and those that all commands have.
 *
 * @word_count  set: how many words the command's own options take
 * @return      false when an option is wrong; an error was reported
 */
bool parse_words(struct session *session, const struct command *command, int argc, char **argv,
		 struct invocation *invocation, void *options, int *word_count);

#endif
