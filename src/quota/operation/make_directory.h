/* SPDX-License-Identifier: Apache-2.0 */
/* A directory that is there with its owner and mode, or not at all. */
#ifndef FSQ_MAKE_DIRECTORY_H
#define FSQ_MAKE_DIRECTORY_H

#include <sys/types.h>

struct fsq_new_directory {
	mode_t mode;
	uid_t owner; /* (uid_t)-1: the caller */
	gid_t group;
};

/**
 * Make a directory.
 *
 * @return   0 or a negative errno; EEXIST it is there, or another process is at it
 * Source: renameat2(2), RENAME_NOREPLACE
 */
int fsq_directory_make(const char *directory, const struct fsq_new_directory *new);

#endif
