/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines of both doors, up to the options: nothing is run. */
#include "parse_command.h"

#include "frontend/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct request request;
	char *line = text_of(data, size);
	const struct command *command;

	if (!request_parse(&request, line, size) && request.count > 0) {
		command = command_find(request.words[0]);
		if (command)
			parse_command(command, request.count, request.words,
				      !(command->flags & COMMAND_XFS_QUOTA) || size % 2);
	}
	free(line);
	return 0;
}
