/* SPDX-License-Identifier: Apache-2.0 */
#include "shell.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "line_editor.h"
#include "xfs_quota.h"

/* The next line from a pipe or file, or without libedit; its end needs no newline. */
static char *read_plainly(void)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t length = getline(&line, &size, stdin);

	if (length < 0) {
		free(line);
		return NULL;
	}
	if (length > 0 && line[length - 1] == '\n')
		line[length - 1] = '\0';
	return line;
}

static char *read_line(struct session *session, const char *prompt, bool editing)
{
	if (editing)
		return line_editor_read(prompt);
	if (prompt) {
		write_text(session->out, prompt);
		session_flush(session);
	}
	return read_plainly();
}

void shell(struct session *session)
{
	bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	bool editing = terminal && line_editor_start(session);
	char *prompt = NULL, *line;
	bool more = true;

	if (terminal && asprintf(&prompt, "%s> ", session->program) < 0) {
		session_complain(session, 1, ENOMEM, "cannot go on");
		return;
	}
	while (more && (line = read_line(session, prompt, editing))) {
		more = xfs_quota_run_line(session, line);
		free(line);
		session_flush_terminal(session);
	}
	session_flush(session);
	free(prompt);
}
