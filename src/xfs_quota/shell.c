/* SPDX-License-Identifier: Apache-2.0 */
/* Commands from standard input, one a line; at a terminal libedit edits them. */
#include "command.h"

#include <editline/readline.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shared/load_library.h"
#include "shared/read_file.h"

LIBRARY_NOTE_EDIT;

#define HISTORY_LINES 100

/* What of libedit is used. */
/* clang-format off */
#define SYMBOLS(DO) \
	DO(readline) DO(add_history) DO(using_history) DO(stifle_history) DO(rl_completion_matches) \
	DO(rl_attempted_completion_function) DO(rl_readline_name)
#define POINTER(name) typeof(name) *name;
#define SYMBOL(name) LIBRARY_SYMBOL(name, editor, name),
/* clang-format on */

/* A global, since its callbacks take no argument. */
static struct editor {
	SYMBOLS(POINTER)
	struct state *state;
} edit;

/* Visit each command twice: first its name, then its alias. */
static char *next_command(const char *text, int is_next)
{
	const struct command *command;
	static size_t at;

	if (!is_next)
		at = 0;
	while ((command = xq_command_at(at / 2))) {
		const char *name = at++ % 2 ? command->alias : command->name;

		if (name && strncmp(name, text, strlen(text)) == 0 &&
		    xq_command_is_allowed(edit.state, command))
			return strdup(name);
	}
	return NULL;
}

/* The name that begins with @text, after skipping @skip such names. */
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

static char *next_project(const char *text, int is_next)
{
	static int found;
	struct wanted wanted = { .text = text };

	found = is_next ? found + 1 : 0;
	wanted.skip = found;
	fsq_project_names_each(xq_project_names(edit.state), match_name, &wanted);
	return wanted.name;
}

/* Complete the first word as a command, others as projects. NULL leaves paths to libedit. */
static char **complete(const char *text, int start, int end)
{
	(void)end;
	if (start == 0)
		return edit.rl_completion_matches(text, next_command);
	return strchr(text, '/') ? NULL : edit.rl_completion_matches(text, next_project);
}

/* @return   false when libedit is not installed */
static bool start_editor(struct state *state)
{
	static const struct library_symbol symbols[] = { SYMBOLS(SYMBOL) };

	if (!load_library(LIBRARY_EDIT, symbols, sizeof(symbols) / sizeof(symbols[0]), &edit))
		return false;
	edit.state = state;
	*edit.rl_readline_name = state->program;
	*edit.rl_attempted_completion_function = complete;
	edit.using_history();
	edit.stifle_history(HISTORY_LINES);
	return true;
}

static char *edit_line(const char *prompt)
{
	char *line = edit.readline(prompt);

	if (line && *line)
		edit.add_history(line);
	return line;
}

/* Read a line without libedit: from a pipe or a file, or if it is not installed. */
static char *read_line(struct state *state, const char *prompt)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t length;

	if (prompt) {
		write_text(state->out, prompt);
		xq_flush(state);
	}
	length = fsq_read_line(stdin, &line, &size);
	if (length >= 0)
		return line;
	free(line);
	if (length == -EFBIG || length == -ENOMEM)
		xq_errno(state, 0, (int)-length, "cannot read a command");
	return NULL;
}

void xq_shell(struct state *state)
{
	bool is_terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	bool editing = is_terminal && start_editor(state);
	char *prompt = NULL, *line;

	if (is_terminal && asprintf(&prompt, "%s> ", state->program) < 0) {
		xq_out_of_memory(state);
		return;
	}
	while (!state->quit && (line = editing ? edit_line(prompt) : read_line(state, prompt))) {
		xq_run_line(state, line, false);
		free(line);
		xq_flush_terminal(state);
	}
	xq_flush(state);
	free(prompt);
}
