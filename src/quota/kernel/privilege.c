/* SPDX-License-Identifier: Apache-2.0 */
#include "privilege.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "quota/fsquota.h"

bool fsq_in_user_namespace(void)
{
	unsigned long inside = 0, outside = 0, count = 0;
	int fd = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
	/* Not by stdio, which needs memory. */
	char map[128];
	ssize_t length;

	if (fd < 0)
		return false;
	length = read(fd, map, sizeof(map) - 1);
	close(fd);
	map[length > 0 ? length : 0] = '\0';
	return !(sscanf(map, "%lu %lu %lu", &inside, &outside, &count) == 3 && inside == 0 &&
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
	FILE *status = fopen("/proc/self/status", "re");
	char line[256];
	int mode = 0;

	if (!status)
		return false;
	while (fgets(line, sizeof(line), status))
		if (sscanf(line, "Seccomp: %d", &mode) == 1)
			break;
	fclose(status);
	return mode == 2;
}
