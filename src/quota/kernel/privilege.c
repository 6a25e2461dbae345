/* SPDX-License-Identifier: Apache-2.0 */
#include "privilege.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "quota/fsquota.h"

bool fsq_in_user_namespace(void)
{
	unsigned long inside = 0, outside = 0, count = 0;
	/* Not by stdio, which needs memory. */
	int fd = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
	char map[128];
	ssize_t length;

	if (fd < 0)
		return false;
	length = read(fd, map, sizeof(map) - 1);
	close(fd);
	/* A namespace without a map has an empty one. */
	map[length > 0 ? length : 0] = '\0';
	return sscanf(map, "%lu %lu %lu", &inside, &outside, &count) != 3 || inside != 0 ||
	       outside != 0 || count != 4294967295UL;
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
	return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER;
}
