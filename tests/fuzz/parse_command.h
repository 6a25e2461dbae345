/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a command, up to its options: nothing is run. */
#ifndef FSQ_FUZZ_PARSE_COMMAND_H
#define FSQ_FUZZ_PARSE_COMMAND_H

#include "session.h"

#include "command/command.h"
#include "command/parse.h"

static inline void parse_command(const struct command *command, int count, char **words,
				 bool native)
{
	struct session session = fuzz_session();
	void *options = calloc(1, command->options_size + 1);
	struct invocation invocation;
	int word_count;

	MUST(options);
	session.native = native;
	if (native)
		parse_words(&session, command, count, words, &invocation, options, &word_count);
	else
		parse_letters(&session, command, count, words, &invocation, options);
	if (command->clear_options)
		command->clear_options(options);
	free(options);
	session_end(&session);
}

#endif
