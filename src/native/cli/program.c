/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

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
	rc = posix_spawnattr_setsigmask(&attributes, &none);
	if (rc == 0)
		rc = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	if (rc == 0 && input >= 0)
		rc = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	else if (rc == 0)
		rc = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY,
						      0);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
	if (rc == 0)
		rc = posix_spawnp(process, words[0], &actions, &attributes, arguments, environment);
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
