/* SPDX-License-Identifier: Apache-2.0 */
#include "shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "xfs_quota.h"

void shell(struct session *session)
{
	bool prompt = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	bool more = true;
	char *line = NULL;
	size_t size = 0;

	while (more) {
		ssize_t length;

		if (prompt) {
			write_text(session->out, session->program);
			write_text(session->out, "> ");
			session_flush(session);
		}
		length = getline(&line, &size, stdin);
		if (length < 0)
			break;
		if (length > 0 && line[length - 1] == '\n')
			line[length - 1] = '\0';
		more = xfs_quota_run_line(session, line);
		session_flush(session);
	}
	free(line);
}
