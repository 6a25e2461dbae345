/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a program again and again, with fail_nth in it.
 *
 *   without_memory FAIL_NTH DIRECTORY PROGRAM ARGUMENT...
 *
 * Orders come on standard input, one a line, of two words: which allocation is to fail, 0 for none, or
 * quit; and one, or rest if those behind it fail as well. The program reads DIRECTORY/stdin. Each is answered with
 * the exit status as a shell has it (128 and the signal; 124 after 15 seconds), and whether it came to
 * that allocation: yes or no. What the program has said is in DIRECTORY/stdout and stderr, who wanted the memory
 * in DIRECTORY/who.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static volatile pid_t program;
static volatile sig_atomic_t late;

static void on_alarm(int signal)
{
	(void)signal;
	late = 1;
	kill(program, SIGKILL);
}

static void die(const char *what)
{
	fprintf(stderr, "without_memory: %s: %s\n", what, strerror(errno));
	exit(99);
}

static int run(char **command)
{
	posix_spawn_file_actions_t files;
	int status;
	pid_t pid = 0;

	posix_spawn_file_actions_init(&files);
	if (posix_spawn_file_actions_addopen(&files, 0, "stdin", O_RDONLY, 0) ||
	    posix_spawn_file_actions_addopen(&files, 1, "stdout", O_WRONLY | O_CREAT | O_TRUNC,
					     0666) ||
	    posix_spawn_file_actions_addopen(&files, 2, "stderr", O_WRONLY | O_CREAT | O_TRUNC,
					     0666) ||
	    posix_spawn(&pid, command[0], &files, NULL, command, environ))
		die(command[0]);
	posix_spawn_file_actions_destroy(&files);
	program = pid;
	late = 0;
	alarm(15);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			die("waitpid");
	alarm(0);
	if (late)
		return 124;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	char line[64], *who;
	struct sigaction on = { .sa_handler = on_alarm };

	if (argc < 4 || argv[1][0] != '/' || chdir(argv[2]) ||
	    asprintf(&who, "%s/who", argv[2]) < 0)
		die("an absolute LIBRARY, DIRECTORY and PROGRAM are wanted");
	sigaction(SIGALRM, &on, NULL);
	setenv("FSQ_FAIL_REPORT", who, 1);
	/* Not its real path: that may have a blank, which separates names here. */
	setenv("LD_PRELOAD", argv[1], 1);
	while (fgets(line, sizeof(line), stdin)) {
		char number[32], word[32];
		int status;

		if (sscanf(line, "%31s %31s", number, word) != 2)
			die(line);
		if (strcmp(number, "quit") == 0)
			break;
		setenv("FSQ_FAIL_AT", number, 1);
		if (strcmp(word, "rest") == 0)
			setenv("FSQ_FAIL_REST", "", 1);
		else
			unsetenv("FSQ_FAIL_REST");
		unlink(who);
		status = run(argv + 3);
		printf("%d %s\n", status, access(who, F_OK) == 0 ? "yes" : "no");
		fflush(stdout);
	}
	return 0;
}
