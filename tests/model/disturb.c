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
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

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
	SYS_openat,	SYS_flock,     SYS_ioctl,  SYS_quotactl,  SYS_getdents64, SYS_pwrite64,
	SYS_write,	SYS_ftruncate, SYS_fsync,  SYS_fdatasync, SYS_read,	  SYS_pread64,
	SYS_fcntl,	SYS_unlink,    SYS_rename, SYS_mkdir,	  SYS_mkdirat,	  SYS_rmdir,
	SYS_newfstatat, SYS_statx,     OPEN_TREE,  OPENAT2,	  QUOTACTL_FD,	  FILE_GETATTR,
	FILE_SETATTR,	SYS_renameat2,
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

struct order {
	bool kill, stop;
	int error;
	unsigned long count;
	char **command;
	/* When it runs: how many of the calls there were, and the number of the one that was disturbed. */
	pid_t program;
	unsigned long seen, call;
};

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

/* It is stopped before one of the calls. */
static void disturb(pid_t pid, void *arg)
{
	struct order *order = arg;
	struct ptrace_syscall_info info;
	char line[16];

	if (++order->seen != order->count)
		return;
	if (!trace_ask(pid, &info))
		die("ptrace");
	order->call = (unsigned long)info.entry.nr;
	if (order->kill && kill(order->program, SIGKILL))
		die("kill");
	if (order->stop) {
		printf("stopped %lu\n", order->call);
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			exit(0);
		if (strcmp(line, "kill\n") == 0 && kill(order->program, SIGKILL))
			die("kill");
	}
	if (order->error && !trace_fail_call(pid, order->error))
		die("ptrace");
}

static void run(struct order *order, const char *const streams[3])
{
	int status;

	order->program = trace_start(order->command, streams, calls, order->count ? CALLS : 0);
	if (order->program < 0)
		die("the program does not start");
	status = trace_run(order->program, disturb, order);
	printf("ended %d %s %lu\n", status,
	       order->count && order->seen >= order->count ? "yes" : "no", order->call);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct order order;
	char line[32768];

	if (argc != 4)
		return 2;
	while (fgets(line, sizeof(line), stdin)) {
		if (!parse(line, &order)) {
			fprintf(stderr, "disturb: no order: %s\n", line);
			return 99;
		}
		run(&order, (const char *const *)argv + 1);
	}
	return 0;
}
