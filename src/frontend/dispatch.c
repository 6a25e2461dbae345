/* SPDX-License-Identifier: Apache-2.0 */
#include "dispatch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command/paths.h"

static bool may_run(struct session *session, const struct command *command)
{
	const struct path_entry *path;

	if ((command->flags & COMMAND_ANYWHERE) || session->current_path < 0)
		return true;
	path = &session->paths[session->current_path];
	if (!path->foreign)
		return true;
	if (!(command->flags & COMMAND_FOREIGN)) {
		session_complain_bare(session, 0, FSQ_E_NOT_SUPPORTED,
				      "%s: command is for XFS filesystems only", command->name);
		return false;
	}
	if (!session->foreign_allowed) {
		session_complain_bare(session, 0, FSQ_E_USAGE,
				      "%s: foreign filesystem. Invoke xfs_quota with -f to enable.",
				      command->name);
		return false;
	}
	return true;
}

static bool right_count(struct session *session, const struct command *command, const char *name,
			int words)
{
	int min = command->min_words, max = command->max_words;

	if (words >= min && (max < 0 || words <= max))
		return true;
	if (max < 0)
		session_complain_bare(session, 0, FSQ_E_USAGE,
				      "bad argument count %d to %s, expected at least %d arguments",
				      words, name, min);
	else if (min == max)
		session_complain_bare(session, 0, FSQ_E_USAGE,
				      "bad argument count %d to %s, expected %d arguments", words,
				      name, min);
	else
		session_complain_bare(
			session, 0, FSQ_E_USAGE,
			"bad argument count %d to %s, expected between %d and %d arguments", words,
			name, min, max);
	return false;
}

enum command_result dispatch(struct session *session, const struct command *command, int argc,
			     char **argv)
{
	if (!may_run(session, command) || !right_count(session, command, argv[0], argc - 1))
		return COMMAND_NEXT;
	return command->run(session, command, argc, argv);
}

/* getopt(3) sorts the words it is given, and a command may run more than once. */
static enum command_result run_copy(struct session *session, const struct command *command,
				    int argc, char **argv)
{
	size_t size = ((size_t)argc + 1) * sizeof(*argv);
	char **copy = malloc(size);
	enum command_result result;

	if (!copy) {
		session_complain(session, 1, ENOMEM, "cannot go on");
		return COMMAND_QUIT;
	}
	memcpy(copy, argv, size);
	result = dispatch(session, command, argc, copy);
	free(copy);
	return result;
}

/* Once for each filesystem; the user's current path is left as it was. */
enum command_result dispatch_all(struct session *session, const struct command *command, int argc,
				 char **argv)
{
	enum command_result result = COMMAND_NEXT;

	session->home_path = session->current_path;
	session->pass = 0;
	for (int i = 0; i < (int)session->path_count && result == COMMAND_NEXT; i++) {
		const struct path_entry *path = &session->paths[i];

		if (path->is_project || (path->foreign && !session->foreign_allowed))
			continue;
		/* The same filesystem under another name has been visited already. */
		if (paths_find_dev(session, path->fs->dev) < i)
			continue;
		session->current_path = i;
		result = run_copy(session, command, argc, argv);
		/* Wrong words are no better for the next. */
		if (session->native && session->status == session_exit_code(FSQ_E_USAGE))
			result = COMMAND_QUIT;
		session->pass++;
		/* A command that loads the projects moves what comes after them. */
		i = session->current_path;
	}
	session->current_path = session->home_path;
	session->pass = 0;
	return result;
}
