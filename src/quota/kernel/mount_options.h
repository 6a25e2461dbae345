/* SPDX-License-Identifier: Apache-2.0 */
/* Would the kernel mount with these options? */
#ifndef FSQ_MOUNT_OPTIONS_H
#define FSQ_MOUNT_OPTIONS_H

#include <stdbool.h>

/* A filesystem of a type that is being configured, and is never made. */
struct fsq_mount_trial {
	const char *type;
	int fd; /* negative: the kernel cannot be asked, and a table answers */
};

/**
 * Begin to ask. The kernel answers a caller with CAP_SYS_ADMIN, from Linux 5.2 on, if the filesystem uses its parser:
 * ext4 from 5.17 on. Otherwise a table answers, with the options of other types.
 *
 * @type     stays the caller's
 * Source: fsopen(2)
 */
void fsq_mount_trial_begin(struct fsq_mount_trial *trial, const char *type);

/**
 * Would a filesystem of this type take an option?
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
