/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forbid ERRNO CALL[,CALL...] COMMAND...: run a command with a seccomp filter that fails these system
 * calls with this errno: ENOSYS as an older kernel does, EPERM as container engines do.
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../lib/trace.h"
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

/* @names    is taken apart */
static void forbid(int error, char *names)
{
	unsigned int numbers[sizeof(calls) / sizeof(calls[0])];
	size_t count = 0;
	char *rest = NULL;

	for (char *name = strtok_r(names, ",", &rest);
	     name && count < sizeof(numbers) / sizeof(numbers[0]);
	     name = strtok_r(NULL, ",", &rest))
		numbers[count++] = (unsigned int)number_of(name);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    filter_calls(numbers, count, SECCOMP_RET_ERRNO | (unsigned int)error)) {
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
