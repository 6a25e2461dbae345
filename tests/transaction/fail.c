/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a program again and again, and disturbs one system call of each run, as strace -f -e inject does.
 * A filter stops the program at that call only; to all others it runs at full speed, and no tool starts
 * but the program.
 *
 * Orders come on standard input, one a line, of words; for a space in one stands a tab:
 *
 *   CALL COUNT HOW SECONDS STDIN STDOUT STDERR [VARIABLE=VALUE...] PROGRAM ARGUMENT...
 *
 * CALL is the number of a system call, or "any" or "changes" for those below; COUNT which of these in the run
 * (of all its threads and children), from 1 on; 0: none is disturbed. HOW is error=EIO, ENOSPC,
 * EPERM or EINTR: the call is not made, and fails; signal=TERM or INT: the thread has got it when
 * the call is made; signal=KILL: the process ends there; stop: it waits before the call, "stopped"
 * is printed, and the next line of input lets it go on. power=MOUNT: the power of that filesystem
 * fails before the call, and the process is killed. sync=MOUNT: what was changed there is written
 * to its disk before the call, and the power fails when the program has ended. SECONDS after which
 * the program is killed, 0: never. The latter two files are made anew. The variables stay in its
 * environment and in those that follow; the path of the program is absolute.
 *
 * Each is answered with one line: the exit status as a shell has it (128 and the signal), whether
 * the call came: yes or no, and the number of the one that was disturbed.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../lib/trace.h"

#define WORDS 64
/* Numbers of calls that the headers may lack; the same on every architecture but alpha. */
#define OPEN_TREE 428
#define OPENAT2 437
#define QUOTACTL_FD 443
#define FILE_GETATTR 468
#define FILE_SETATTR 469

/* Those that change something others have to do with. */
static const unsigned int changes[] = {
	SYS_openat,    SYS_flock,     SYS_ioctl,   SYS_quotactl, SYS_pwrite64,	SYS_write,
	SYS_ftruncate, SYS_fsync,     SYS_unlink,  SYS_rename,	 SYS_mkdir,	SYS_mkdirat,
	SYS_rmdir,     SYS_fdatasync, QUOTACTL_FD, FILE_SETATTR, SYS_renameat2,
};

/* Those, and those that see it. close is not among them: the kernel closes whatever it says. */
static const unsigned int any_calls[] = {
	SYS_openat,	SYS_flock,     SYS_ioctl,  SYS_quotactl,  SYS_getdents64, SYS_pwrite64,
	SYS_write,	SYS_ftruncate, SYS_fsync,  SYS_fdatasync, SYS_read,	  SYS_pread64,
	SYS_fcntl,	SYS_unlink,    SYS_rename, SYS_mkdir,	  SYS_mkdirat,	  SYS_rmdir,
	SYS_newfstatat, SYS_statx,     OPEN_TREE,  OPENAT2,	  QUOTACTL_FD,	  FILE_GETATTR,
	FILE_SETATTR,	SYS_renameat2,
};

static const struct {
	const char *name;
	int error, signal;
} ways[] = {
	{ "error=EIO", EIO, 0 },       { "error=ENOSPC", ENOSPC, 0 },
	{ "error=EPERM", EPERM, 0 },   { "error=EINTR", EINTR, 0 },
	{ "signal=TERM", 0, SIGTERM }, { "signal=INT", 0, SIGINT },
	{ "signal=KILL", 0, SIGKILL }, { "stop", 0, 0 },
};

/* XFS_IOC_GOINGDOWN, EXT4_IOC_SHUTDOWN and F2FS_IOC_SHUTDOWN: without what is only in memory. */
#define SHUTDOWN _IOR('X', 125, uint32_t)
#define WITHOUT_MEMORY 2

struct order {
	unsigned int call;
	const unsigned int *calls; /* it alone, or some */
	size_t call_count;
	unsigned long count, seen; /* which one, and how many there were */
	unsigned long disturbed;   /* its number */
	int error, signal;
	const char *power, *sync; /* mount points */
	unsigned int seconds;
	const char *streams[3];
	char **command;
};

static volatile pid_t program;

static void die(const char *what)
{
	perror(what);
	exit(99);
}

static void on_alarm(int signal)
{
	(void)signal;
	kill(program, SIGKILL);
}

static bool parse(char *line, struct order *order)
{
	static char *words[WORDS + 1];
	size_t count = 0;

	for (char *word = strtok(line, " \n"); word && count < WORDS; word = strtok(NULL, " \n")) {
		for (char *tab = strchr(word, '\t'); tab; tab = strchr(tab, '\t'))
			*tab = ' ';
		words[count++] = word;
	}
	words[count] = NULL;
	if (count < 8)
		return false;
	*order = (struct order){ .call = (unsigned int)atoi(words[0]),
				 .calls = &order->call,
				 .call_count = 1,
				 .count = strtoul(words[1], NULL, 10),
				 .seconds = (unsigned int)atoi(words[3]),
				 .streams = { words[4], words[5], words[6] },
				 .command = words + 7 };
	if (strcmp(words[0], "any") == 0)
		order->calls = any_calls,
		order->call_count = sizeof(any_calls) / sizeof(any_calls[0]);
	if (strcmp(words[0], "changes") == 0)
		order->calls = changes, order->call_count = sizeof(changes) / sizeof(changes[0]);
	for (; order->command[1] && order->command[0][0] != '/'; order->command++) {
		char *value = strchr(order->command[0], '=');

		if (!value)
			return false;
		*value = '\0';
		setenv(order->command[0], value + 1, 1);
	}
	if (order->count == 0)
		return true;
	if (strncmp(words[2], "power=", 6) == 0)
		order->power = words[2] + 6;
	else if (strncmp(words[2], "sync=", 5) == 0)
		order->sync = words[2] + 5;
	if (order->power || order->sync)
		return true;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(ways[i].name, words[2]) != 0)
			continue;
		order->error = ways[i].error;
		order->signal = ways[i].signal;
		return true;
	}
	return false;
}

static void fail_power(const char *mount)
{
	uint32_t how = WITHOUT_MEMORY;
	int fd = open(mount, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, SHUTDOWN, &how))
		die(mount);
	close(fd);
}

static void sync_mount(const char *mount)
{
	int fd = open(mount, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || syncfs(fd))
		die(mount);
	close(fd);
}

/* It is stopped before such a call. */
static void disturb(pid_t pid, void *arg)
{
	struct order *order = arg;
	struct ptrace_syscall_info info;
	char line[16];

	if (++order->seen != order->count)
		return;
	if (!trace_ask(pid, &info))
		die("ptrace");
	order->disturbed = (unsigned long)info.entry.nr;
	if (order->sync) {
		sync_mount(order->sync);
	} else if (order->power) {
		fail_power(order->power);
		kill(program, SIGKILL);
	} else if (order->signal) {
		if (syscall(SYS_tgkill, program, pid, order->signal) &&
		    syscall(SYS_tkill, pid, order->signal))
			die("kill");
	} else if (order->error) {
		if (!trace_fail_call(pid, order->error))
			die("ptrace");
	} else {
		puts("stopped");
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			die("no line to go on");
	}
}

static void run(struct order *order)
{
	int status;

	program = trace_start(order->command, order->streams, order->calls,
			      order->count ? order->call_count : 0);
	if (program < 0)
		die("the program does not start");
	alarm(order->seconds);
	status = trace_run(program, disturb, order);
	alarm(0);
	if (order->sync)
		fail_power(order->sync);
	printf("%d %s %lu\n", status, order->count && order->seen >= order->count ? "yes" : "no",
	       order->disturbed);
	fflush(stdout);
}

int main(void)
{
	struct sigaction on = { .sa_handler = on_alarm };
	struct order order;
	char line[32768];

	sigaction(SIGALRM, &on, NULL);
	while (fgets(line, sizeof(line), stdin)) {
		if (!parse(line, &order)) {
			fprintf(stderr, "fail: no order: %s\n", line);
			return 99;
		}
		run(&order);
	}
	return 0;
}
