/* SPDX-License-Identifier: Apache-2.0 */
/* A mounted file system, opened by any path on it, by its device or by its mount point. */
#ifndef FSQ_FILESYSTEM_H
#define FSQ_FILESYSTEM_H

#include "handle.h"

struct fsq_filesystem {
	struct fsq_handle handle; /* its mount point, or whatever it was opened by */
	struct fsq_filesystem_info info;
};

#endif
