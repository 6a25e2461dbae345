/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a command, up to its options: nothing is run. */
#include "session.h"

#include "native/cli/command.h"

static void parse_command(char **words)
{
	struct session session = fuzz_session();
	const struct command *command = command_find(&session, words[0]);
	void *options = command ? calloc(1, command->options_size + 1) : NULL;
	struct invocation invocation;

	if (command) {
		MUST(options);
		session.rows = command->rows;
		parse_words(&session, command, words + 1, &invocation, options);
		if (command->clear_options)
			command->clear_options(options);
		free(options);
	}
	session_end(&session);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct request request;
	char *line = text_of(data, size);

	if (!request_parse(&request, line, size) && request.count > 0)
		parse_command(request.words);
	free(line);
	return 0;
}
