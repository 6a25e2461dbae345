/* SPDX-License-Identifier: Apache-2.0 */
#include "shell.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "line.h"
#include "line_editor.h"
#include "shared/read_file.h"

/* The next line from a pipe or file, or without libedit. */
static char *read_plainly(struct session *session)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t length = fsq_read_line(stdin, &line, &size);

	if (length >= 0)
		return line;
	free(line);
	if (length == -EFBIG || length == -ENOMEM)
		session_errno(session, 0, (int)-length, NULL, "cannot read a command");
	return NULL;
}

static char *read_line(struct session *session, const char *prompt, bool editing)
{
	if (editing)
		return line_editor_read(prompt);
	if (prompt) {
		write_text(session->out, prompt);
		session_flush(session);
	}
	return read_plainly(session);
}

void shell(struct session *session)
{
	bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	bool editing = terminal && line_editor_start(session);
	char *prompt = NULL, *line;

	if (terminal && asprintf(&prompt, "%s> ", session->program) < 0) {
		session_errno(session, 0, ENOMEM, NULL, "cannot go on");
		return;
	}
	while (!session->quit && (line = read_line(session, prompt, editing))) {
		line_run(session, line, false);
		free(line);
		session_flush_terminal(session);
	}
	session_flush(session);
	free(prompt);
}
