/* SPDX-License-Identifier: Apache-2.0 */
#include "privilege.h"

#include <linux/capability.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "quota/fsquota.h"

bool fsq_in_user_namespace(void)
{
	unsigned long inside = 0, outside = 0, count = 0;
	FILE *map = fopen("/proc/self/uid_map", "re");
	int fields;

	if (!map)
		return false;
	fields = fscanf(map, "%lu %lu %lu", &inside, &outside, &count);
	fclose(map);
	return !(fields == 3 && inside == 0 && outside == 0 && count == 4294967295UL);
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
