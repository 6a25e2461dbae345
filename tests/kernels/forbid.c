/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forbid ERRNO CALL[,CALL...] COMMAND...: run a command with a seccomp filter that fails these system
 * calls with this errno: ENOSYS as an older kernel does, EPERM as container engines do.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "quota/kernel/compat.h"

static const struct {
	const char *name;
	long number;
} calls[] = {
	{ "close_range", SYS_close_range },
	{ "file_getattr", SYS_file_getattr },
	{ "file_setattr", SYS_file_setattr },
	{ "open_tree", SYS_open_tree },
	{ "openat2", SYS_openat2 },
	{ "quotactl", SYS_quotactl },
	{ "quotactl_fd", SYS_quotactl_fd },
	{ "statmount", SYS_statmount },
	{ "statx", SYS_statx },
};

static const struct {
	const char *name;
	int number;
} errors[] = { { "ENOSYS", ENOSYS }, { "EPERM", EPERM } };

static long number_of(const char *call)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(calls[i].name, call) == 0)
			return calls[i].number;
	fprintf(stderr, "forbid: %s is not known here\n", call);
	exit(125);
}

static int error_of(const char *name)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (strcmp(errors[i].name, name) == 0)
			return errors[i].number;
	fprintf(stderr, "forbid: %s is neither ENOSYS nor EPERM\n", name);
	exit(125);
}

static void add(struct sock_fprog *program, struct sock_filter line)
{
	program->filter[program->len++] = line;
}

/* @names    is taken apart */
static void forbid(int error, char *names)
{
	static struct sock_filter lines[2 * sizeof(calls) / sizeof(calls[0]) + 2];
	struct sock_fprog program = { .filter = lines };
	char *rest = NULL;

	add(&program, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						   offsetof(struct seccomp_data, nr)));
	for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
		__u32 number = (__u32)number_of(name), answer = SECCOMP_RET_ERRNO | (__u32)error;

		add(&program,
		    (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
		add(&program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer));
	}
	add(&program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("forbid: no seccomp filter");
		exit(125);
	}
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: forbid ENOSYS|EPERM CALL[,CALL...] COMMAND...\n");
		return 2;
	}
	forbid(error_of(argv[1]), argv[2]);
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 127;
}
