/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded where valgrind(1) watches: it does not know what quotactl(2) fills in, and would take the
 * answers of the kernel for memory that nobody has set.
 */
#include <dlfcn.h>
#include <linux/dqblk_xfs.h>
#include <linux/quota.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

#include "quota/kernel/compat.h"

static long (*real)(long number, ...);

__attribute__((constructor)) static void start(void)
{
	*(void **)&real = dlsym(RTLD_NEXT, "syscall");
}

long syscall(long number, ...)
{
	unsigned int command;
	long given[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		given[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_quotactl || number == SYS_quotactl_fd) {
		command = (unsigned int)given[number == SYS_quotactl_fd] >> SUBCMDSHIFT;
		if (command == Q_XGETQUOTA || command == Q_XGETNEXTQUOTA)
			memset((void *)given[3], 0, sizeof(struct fs_disk_quota));
	}
	return real(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}
