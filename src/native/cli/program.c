/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session.h"
#include "shared/read_file.h"

int program_start(const char *const *words, int input, int output, char *const *environment,
		  pid_t *process)
{
	/* posix_spawn(3) does not change them. */
	char *const *arguments = (char *const *)(uintptr_t)words;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int rc;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	rc = posix_spawnattr_setsigmask(&attributes, &none) ?:
	     posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK) ?:
	     (input >= 0 ? posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
			 : posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
							    O_RDONLY, 0)) ?:
	     posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) ?:
	     posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO) ?:
	     posix_spawnp(process, words[0], &actions, &attributes, arguments, environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

int program_wait(pid_t process)
{
	int status = 0;

	while (waitpid(process, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Cut the last line that is not empty out of what a program has printed. @return  for free(3), or NULL */
static char *last_line(int output)
{
	char *text, *line;
	size_t length;

	if (lseek(output, 0, SEEK_SET) < 0 || fsq_read_fd(output, &text, &length))
		return NULL;
	while (length && (text[length - 1] == '\n' || text[length - 1] == ' '))
		text[--length] = '\0';
	line = strrchr(text, '\n');
	line = strdup(line ? line + 1 : text);
	free(text);
	return line;
}

bool program_run(struct session *session, const char *const *words, int input, int most)
{
	int output = memfd_create("output", MFD_CLOEXEC), status = 0, rc;
	char *line = NULL;
	pid_t process;

	if (output < 0)
		return session_errno(session, 0, errno, words[0], "cannot run %s", words[0]);
	rc = program_start(words, input, output, environ, &process);
	if (rc == 0)
		status = program_wait(process);
	if (rc) {
		session_errno(session, ERROR_OF_FILE, rc, words[0], "cannot run %s", words[0]);
	} else if (status > most) {
		line = last_line(output);
		session_error(session, ERROR_OF_FILE, FSQ_E_FAILED, 0, words[0],
			      "%s failed with status %d%s%s", words[0], status,
			      line && *line ? ": " : "", line ? line : "");
		rc = -1;
	}
	free(line);
	close(output);
	return rc == 0;
}
