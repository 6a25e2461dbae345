/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a command, up to its options: nothing is run. */
#include "session.h"

#include "native/command.h"
#include "native/parse.h"
#include "native/request.h"

static void parse_command(const struct command *command, int count, char **words)
{
	struct session session = fuzz_session();
	void *options = calloc(1, command->options_size + 1);
	struct invocation invocation;

	MUST(options);
	session.rows = command->rows;
	parse_words(&session, command, count, words, &invocation, options);
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
			parse_command(command, request.count, request.words);
	}
	free(line);
	return 0;
}
