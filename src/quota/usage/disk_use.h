/* SPDX-License-Identifier: Apache-2.0 */
/* What du(1) would count. */
#ifndef FSQ_DISK_USE_H
#define FSQ_DISK_USE_H

#include "quota/fsquota.h"

/**
 * Add up the blocks of a directory and of everything in it, on one file system, a file with several
 * names once. What cannot be read is not counted.
 *
 * @fd, @path the directory, or one file, open for reading
 * @options   or NULL
 * @return    0; FSQ_E_PERMISSION or FSQ_E_FAILED when a directory cannot be read
 */
int fsq_disk_use(int fd, const char *path, const struct fsq_call_options *options, uint64_t *bytes,
		 uint64_t *inodes, struct fsq_error *err);

/**
 * Symlinks and special files carry the ID of their directory, unless they were there before it: ext4 and f2fs, and XFS
 * before Linux 6.17, cannot set it, and do not tell it.
 *
 * @found    how many of them there are, or their bytes
 * @others   the same of all other files of the project
 * @counted  by the kernel for the project
 * @return   how many of them do not count for it
 */
static inline uint64_t fsq_special_uncounted(uint64_t found, uint64_t others, uint64_t counted)
{
	uint64_t carry = counted > others ? counted - others : 0;

	return found > carry ? found - carry : 0;
}

#endif
