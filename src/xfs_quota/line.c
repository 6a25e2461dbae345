/* SPDX-License-Identifier: Apache-2.0 */
#include "line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/dispatch.h"

char **line_split(char *line, int *count)
{
	size_t words = strlen(line) / 2 + 2;
	char **argv = calloc(words, sizeof(*argv));
	char *rest = NULL;

	*count = 0;
	if (!argv)
		return NULL;
	for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		argv[(*count)++] = word;
	return argv;
}

static void run_words(struct session *session, const struct call *call, bool all)
{
	if (!call->command || !command_is_allowed(session, call->command))
		session_error(session, ERROR_BARE | ERROR_STATUS_0, FSQ_E_USAGE, 0, NULL,
			      "command \"%s\" not found", call->argv[0]);
	else if (all && !(call->command->flags & COMMAND_ONE_SHOT))
		dispatch_all(session, call);
	else
		dispatch(session, call);
}

void line_run(struct session *session, char *line, bool all)
{
	struct call call = { 0 };

	call.argv = line_split(line, &call.argc);
	if (!call.argv) {
		session_errno(session, 0, ENOMEM, NULL, "cannot go on");
		session->quit = true;
		return;
	}
	if (call.argc > 0) {
		call.command = command_find(call.argv[0]);
		run_words(session, &call, all);
	}
	free(call.argv);
}
