/* SPDX-License-Identifier: Apache-2.0 */
/* A mounted file system, opened by any path on it, by its device or by its mount point. */
#ifndef FSQ_FILESYSTEM_H
#define FSQ_FILESYSTEM_H

#include "place.h"

struct fsq_filesystem {
	struct fsq_place place; /* its mount point, or whatever it was opened by */
	struct fsq_filesystem_info info;
};

/**
 * Ask whether a file system can still be written to, by fsync(2): attributes are read from memory
 * also after it was shut down.
 *
 * @return   0, also where @directory is none; or a negative errno, as -EIO
 */
int fsq_filesystem_ask(const char *directory);

/**
 * Read how many inodes of the file system of a directory have a project ID, as the kernel counts.
 *
 * @return   0 also where it does not tell
 * Source: quotactl(2), Q_XGETQUOTA
 */
uint64_t fsq_filesystem_inodes_of(const char *directory, uint32_t id);

#endif
