/* SPDX-License-Identifier: Apache-2.0 */
#include "line_editor.h"

#include <editline/readline.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "shared/load_library.h"

LIBRARY_NOTE_EDIT;

#define HISTORY_LINES 100

/* libedit's functions under their own names; completion callbacks take no argument of ours. */
static struct editor {
	char *(*readline)(const char *prompt);
	int (*add_history)(const char *line);
	void (*using_history)(void);
	void (*stifle_history)(int lines);
	char **(*rl_completion_matches)(const char *text, rl_compentry_func_t *generator);
	rl_completion_func_t **rl_attempted_completion_function;
	const char **rl_readline_name;
	struct session *session;
} edit;

/* Each command counts twice: with its name, and with its alias. */
static char *next_command(const char *text, int state)
{
	const struct command *command;
	static size_t at;

	if (state == 0)
		at = 0;
	while ((command = command_at(at / 2))) {
		const char *name = at++ % 2 ? command->alias : command->name;

		if (name && strncmp(name, text, strlen(text)) == 0 &&
		    command_is_allowed(edit.session, command))
			return strdup(name);
	}
	return NULL;
}

/* Of the names that begin with @text the one behind @skip others. */
struct wanted {
	const char *text;
	int skip;
	char *name;
};

static enum fsq_visit match_name(uint32_t id, const char *name, void *arg)
{
	struct wanted *wanted = arg;

	(void)id;
	if (strncmp(name, wanted->text, strlen(wanted->text)) != 0 || wanted->skip-- > 0)
		return FSQ_VISIT_CONTINUE;
	wanted->name = strdup(name);
	return FSQ_VISIT_STOP;
}

static char *next_project(const char *text, int state)
{
	static int found;
	struct wanted wanted = { .text = text };

	found = state == 0 ? 0 : found + 1;
	wanted.skip = found;
	fsq_project_names_each(session_names(edit.session), match_name, &wanted);
	return wanted.name;
}

/* The first word is a command; a path is completed by libedit itself; others are projects. */
static char **complete(const char *text, int start, int end)
{
	(void)end;
	if (start == 0)
		return edit.rl_completion_matches(text, next_command);
	return strchr(text, '/') ? NULL : edit.rl_completion_matches(text, next_project);
}

bool line_editor_start(struct session *session)
{
	static const struct library_symbol symbols[] = {
		LIBRARY_SYMBOL(readline, editor, readline),
		LIBRARY_SYMBOL(add_history, editor, add_history),
		LIBRARY_SYMBOL(using_history, editor, using_history),
		LIBRARY_SYMBOL(stifle_history, editor, stifle_history),
		LIBRARY_SYMBOL(rl_completion_matches, editor, rl_completion_matches),
		LIBRARY_SYMBOL(rl_attempted_completion_function, editor,
			       rl_attempted_completion_function),
		LIBRARY_SYMBOL(rl_readline_name, editor, rl_readline_name),
	};

	if (!load_library(LIBRARY_EDIT, symbols, sizeof(symbols) / sizeof(symbols[0]), &edit))
		return false;
	edit.session = session;
	*edit.rl_readline_name = session->program;
	*edit.rl_attempted_completion_function = complete;
	edit.using_history();
	edit.stifle_history(HISTORY_LINES);
	return true;
}

char *line_editor_read(const char *prompt)
{
	char *line = edit.readline(prompt);

	if (line && *line)
		edit.add_history(line);
	return line;
}
