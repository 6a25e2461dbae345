/* SPDX-License-Identifier: Apache-2.0 */
/* A mounted file system, opened by any path on it, by its device or by its mount point. */
#ifndef FSQ_FILESYSTEM_H
#define FSQ_FILESYSTEM_H

#include "handle.h"

struct fsq_filesystem {
	struct fsq_handle handle; /* its mount point, or whatever it was opened by */
	struct fsq_filesystem_info info;
};

/**
 * Find the device that a tag means: the one that is mounted, or if none is, any. A copy of a filesystem has the same tags.
 *
 * @tag      see fsq_is_tag()
 * @device   set on success, for free(3)
 * @return   as fsq_device_of_tag(); FSQ_E_CONFLICT several that are mounted have the tag
 */
int fsq_filesystem_device_of_tag(const char *tag, char **device, struct fsq_error *err);

#endif
