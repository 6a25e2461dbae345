/* SPDX-License-Identifier: Apache-2.0 */
/* What is behind a mounted filesystem, for the library alone. */
#ifndef FSQ_FILESYSTEM_HANDLE_H
#define FSQ_FILESYSTEM_HANDLE_H

#include "filesystem.h"
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
