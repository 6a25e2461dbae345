/* SPDX-License-Identifier: Apache-2.0 */
#include "dispatch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command/parse.h"
#include "command/paths.h"

static bool may_run(struct session *session, const struct command *command)
{
	const struct path_entry *path;

	if ((command->flags & COMMAND_SHELL) || session->current_path < 0)
		return true;
	path = &session->paths[session->current_path];
	if (!path->foreign)
		return true;
	if (session->native && (command->flags & COMMAND_FOREIGN_NATIVE))
		return true;
	if (!(command->flags & COMMAND_FOREIGN)) {
		session_error(session, ERROR_BARE | ERROR_STATUS_0, FSQ_E_NOT_SUPPORTED, 0, NULL,
			      "%s: command is for XFS filesystems only", command->name);
		return false;
	}
	if (!session->foreign_allowed) {
		session_error(session, ERROR_BARE | ERROR_STATUS_0, FSQ_E_USAGE, 0, NULL,
			      "%s: foreign filesystem. Invoke xfs_quota with -f to enable.",
			      command->name);
		return false;
	}
	return true;
}

static bool right_count(struct session *session, const struct command *command, const char *name,
			int words)
{
	bool no_words = command->flags & COMMAND_NO_WORDS;
	int min = command->min_words;
	int max = command->max_words || no_words ? command->max_words : -1;

	if (words >= min && (max < 0 || words <= max))
		return true;
	if (max < 0)
		session_error(session, ERROR_BARE | ERROR_STATUS_0, FSQ_E_USAGE, 0, NULL,
			      "bad argument count %d to %s, expected at least %d arguments", words,
			      name, min);
	else if (min == max)
		session_error(session, ERROR_BARE | ERROR_STATUS_0, FSQ_E_USAGE, 0, NULL,
			      "bad argument count %d to %s, expected %d arguments", words, name,
			      min);
	else
		session_error(session, ERROR_BARE | ERROR_STATUS_0, FSQ_E_USAGE, 0, NULL,
			      "bad argument count %d to %s, expected between %d and %d arguments",
			      words, name, min, max);
	return false;
}

/* getopt(3) sorts the words it is given, and a command may run more than once. */
static void parse_and_run(struct session *session, const struct call *call)
{
	const struct command *command = call->command;
	size_t size = ((size_t)call->argc + 1) * sizeof(*call->argv);
	char **argv = malloc(size);
	void *options = calloc(1, command->options_size + 1);
	struct invocation invocation;

	if (!argv || !options) {
		session_errno(session, 0, ENOMEM, NULL, "cannot go on");
		session->quit = true;
	} else {
		memcpy(argv, call->argv, size);
		if (parse_letters(session, command, call->argc, argv, &invocation, options))
			command->run(session, &invocation);
		if (command->clear_options)
			command->clear_options(options);
	}
	free(options);
	free(argv);
}

void dispatch(struct session *session, const struct call *call)
{
	const char *name = call->argv ? call->argv[0] : call->command->name;

	if (!may_run(session, call->command) ||
	    !right_count(session, call->command, name, call->argc - 1))
		return;
	if (call->argv)
		parse_and_run(session, call);
	else
		call->command->run(session, call->invocation);
}

void dispatch_all(struct session *session, const struct call *call)
{
	session->home_path = session->current_path;
	session->pass = 0;
	for (int i = 0; i < (int)session->path_count && !session->quit; i++) {
		const struct path_entry *path = &session->paths[i];

		if (path->is_project || (path->foreign && !session->foreign_allowed))
			continue;
		/* The same filesystem under another name has been visited already. */
		if (paths_find_dev(session, path->info->dev) < i)
			continue;
		session->current_path = i;
		dispatch(session, call);
		/* Wrong words are no better for the next. */
		if (session->native && session->status == session_exit_code(FSQ_E_USAGE))
			session->quit = true;
		session->pass++;
		/* A command that loads the projects moves what comes after them. */
		i = session->current_path;
	}
	session->current_path = session->home_path;
	session->pass = 0;
}
