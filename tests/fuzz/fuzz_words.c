/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines of both doors, up to the options: nothing is run. */
#include "session.h"

#include "command/command.h"
#include "command/parse.h"
#include "frontend/request.h"

static void parse(const struct command *command, int count, char **words, bool native)
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct request request;
	char *line = text_of(data, size);
	const struct command *command;

	if (!request_parse(&request, line, size) && request.count > 0) {
		command = command_find(request.words[0]);
		if (command)
			parse(command, request.count, request.words,
			      !(command->flags & COMMAND_XFS_QUOTA) || size % 2);
	}
	free(line);
	return 0;
}
