/* SPDX-License-Identifier: Apache-2.0 */
/* Would the kernel mount with these options? */
#ifndef FSQ_MOUNT_OPTIONS_H
#define FSQ_MOUNT_OPTIONS_H

#include <stdbool.h>

/* A filesystem of a type that is being configured, and is never made. */
struct fsq_mount_trial {
	int fd;
};

/**
 * Begin to ask.
 *
 * @return   0 or a negative errno: -EPERM without CAP_SYS_ADMIN; -ENODEV the kernel does not have the type; -ENOSYS
 *           before Linux 5.2
 * Source: fsopen(2)
 */
int fsq_mount_trial_begin(struct fsq_mount_trial *trial, const char *type);

/**
 * Does the kernel know an option? Filesystems that do not use the kernel's parser for this, such as ext4 before
 * Linux 5.17, say yes to everything.
 *
 * @option   one of the filesystem, not of the mount: "errors" or "prjquota"
 * @value    or NULL
 * @return   false: mount(2) with it fails
 * Source: fsconfig(2), FSCONFIG_SET_FLAG, FSCONFIG_SET_STRING
 */
bool fsq_mount_trial_takes(const struct fsq_mount_trial *trial, const char *option,
			   const char *value);

void fsq_mount_trial_end(struct fsq_mount_trial *trial);

#endif
