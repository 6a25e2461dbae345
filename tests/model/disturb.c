/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs programs for the model, and disturbs each at one system call.
 *
 *   disturb STDIN STDOUT STDERR
 *
 * Orders come on standard input, one a line, of words that tabs separate:
 *
 *   HOW COUNT PROGRAM ARGUMENT...
 *
 * COUNT says at which system call of those below: 1 is the first. HOW is none; kill; stop; or the
 * number of an errno with which the call fails without being made. The output files are made anew.
 *
 * Each is answered with "ended STATUS": as a shell has it, 128 and the signal. At stop there is the
 * line "stopped CALL" before it when the call is about to be made, and the next line of input lets the
 * program go on, or "kill" kills it. Whether a call was disturbed "ended" says last: "ended STATUS yes CALL".
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/trace.h"

#define WORDS 64
/* Numbers of calls that the headers may lack; the same on every architecture but alpha. */
#define OPEN_TREE 428
#define OPENAT2 437
#define QUOTACTL_FD 443
#define FILE_GETATTR 468
#define FILE_SETATTR 469

/* Those that see or change something others have to do with. close is not among them: the kernel
 * closes whatever it says. */
static const unsigned int calls[] = {
	SYS_openat,   SYS_flock,   SYS_ioctl,	  SYS_quotactl,	  SYS_getdents64,
	SYS_pwrite64, SYS_write,   SYS_ftruncate, SYS_fsync,	  SYS_fdatasync,
	SYS_read,     SYS_pread64, SYS_fcntl,	  SYS_unlink,	  SYS_rename,
	SYS_mkdir,    SYS_mkdirat, SYS_rmdir,	  SYS_newfstatat, SYS_statx,
	OPEN_TREE,    OPENAT2,	   QUOTACTL_FD,	  FILE_GETATTR,	  FILE_SETATTR,
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

struct order {
	bool kill, stop;
	int error;
	unsigned long count;
	char **command;
};

static const char *in_name, *out_name, *err_name;

static void die(const char *what)
{
	perror(what);
	exit(99);
}

static bool parse(char *line, struct order *order)
{
	static char *words[WORDS + 1];
	size_t count = 0;

	for (char *word = strtok(line, "\t\n"); word && count < WORDS; word = strtok(NULL, "\t\n"))
		words[count++] = word;
	words[count] = NULL;
	if (count < 3)
		return false;
	*order = (struct order){ .kill = strcmp(words[0], "kill") == 0,
				 .stop = strcmp(words[0], "stop") == 0,
				 .error = atoi(words[0]),
				 .count = strtoul(words[1], NULL, 10),
				 .command = words + 2 };
	if (!order->kill && !order->stop && !order->error)
		order->count = 0;
	return true;
}

static void be_program(const struct order *order)
{
	int out = open(out_name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int err = open(err_name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int in = open(in_name, O_RDONLY | O_CLOEXEC);

	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		_exit(125);
	if (order->count) {
		trace_me();
		if (filter_calls(calls, CALLS, SECCOMP_RET_TRACE))
			_exit(125);
	}
	execv(order->command[0], order->command);
	_exit(127);
}

/* It is stopped before the call. @return  the number of the call */
static unsigned long disturb(pid_t program, pid_t pid, const struct order *order)
{
	struct ptrace_syscall_info info;
	char line[16];

	if (!trace_ask(pid, &info))
		die("ptrace");
	if (order->kill && kill(program, SIGKILL))
		die("kill");
	if (order->stop) {
		printf("stopped %lu\n", (unsigned long)info.entry.nr);
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			exit(0);
		if (strcmp(line, "kill\n") == 0 && kill(program, SIGKILL))
			die("kill");
	}
	if (order->error && !trace_fail_call(pid, order->error))
		die("ptrace");
	return (unsigned long)info.entry.nr;
}

static pid_t start(const struct order *order)
{
	pid_t pid = order->count ? fork() : vfork();

	if (pid < 0)
		die("fork");
	if (pid == 0)
		be_program(order);
	if (order->count == 0)
		return pid;
	if (!trace_begin(pid, PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK |
				      PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE) ||
	    ptrace(PTRACE_CONT, pid, NULL, 0L))
		die("the program does not start");
	return pid;
}

static void run(const struct order *order)
{
	unsigned long seen = 0, call = 0;
	int status, result = 0, signal;
	pid_t pid, program = start(order);

	/* Until nobody of it is left. */
	while ((pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		if (pid == program && !WIFSTOPPED(status))
			result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		if (pid < 0 || !WIFSTOPPED(status))
			continue;
		signal = WSTOPSIG(status);
		if (status >> 16 == PTRACE_EVENT_SECCOMP && ++seen == order->count)
			call = disturb(program, pid, order);
		/* New ones begin with a stop. */
		if (status >> 16 || signal == SIGSTOP || signal == SIGTRAP)
			signal = 0;
		ptrace(PTRACE_CONT, pid, NULL, (long)signal);
	}
	printf("ended %d %s %lu\n", result, order->count && seen >= order->count ? "yes" : "no",
	       call);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct order order;
	char line[32768];

	if (argc != 4)
		return 2;
	in_name = argv[1];
	out_name = argv[2];
	err_name = argv[3];
	while (fgets(line, sizeof(line), stdin)) {
		if (!parse(line, &order)) {
			fprintf(stderr, "disturb: no order: %s\n", line);
			return 99;
		}
		run(&order);
	}
	return 0;
}
