/* SPDX-License-Identifier: Apache-2.0 */
#include "mount_options.h"

#include <errno.h>
#include <unistd.h>

#include "compat.h"

/* Of linux/mount.h, which does not go with sys/mount.h. */
#define OPEN_CLOEXEC 1
#define SET_FLAG 0
#define SET_STRING 1

int fsq_mount_trial_begin(struct fsq_mount_trial *trial, const char *type)
{
	trial->fd = (int)syscall(SYS_fsopen, type, OPEN_CLOEXEC);
	return trial->fd < 0 ? -errno : 0;
}

bool fsq_mount_trial_takes(const struct fsq_mount_trial *trial, const char *option,
			   const char *value)
{
	return syscall(SYS_fsconfig, trial->fd, value ? SET_STRING : SET_FLAG, option, value, 0) ==
		       0 ||
	       errno != EINVAL;
}

void fsq_mount_trial_end(struct fsq_mount_trial *trial)
{
	close(trial->fd);
}
