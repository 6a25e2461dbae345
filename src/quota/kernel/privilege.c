/* SPDX-License-Identifier: Apache-2.0 */
#include "privilege.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "quota/fsquota.h"

/* Not by stdio, which needs memory. @return  whether it can be opened; a namespace without a map has an empty one */
static bool read_text(const char *file, char *text, size_t size)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		return false;
	length = read(fd, text, size - 1);
	close(fd);
	text[length > 0 ? length : 0] = '\0';
	return true;
}

bool fsq_in_user_namespace(void)
{
	unsigned long inside = 0, outside = 0, count = 0;
	char map[128];

	return read_text("/proc/self/uid_map", map, sizeof(map)) &&
	       !(sscanf(map, "%lu %lu %lu", &inside, &outside, &count) == 3 && inside == 0 &&
		 outside == 0 && count == 4294967295UL);
}

bool fsq_has_capability(unsigned int capability)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	return syscall(SYS_capget, &header, data) == 0 &&
	       (data[capability / 32].effective & (1U << (capability % 32)));
}

bool fsq_is_privileged(void)
{
	return fsq_has_capability(CAP_SYS_ADMIN) && !fsq_in_user_namespace();
}

bool fsq_has_seccomp_filter(void)
{
	char status[4096];

	return read_text("/proc/self/status", status, sizeof(status)) &&
	       strstr(status, "\nSeccomp:\t2");
}
