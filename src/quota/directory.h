/* SPDX-License-Identifier: Apache-2.0 */
/* A directory that a quota is put on: held open, so that it stays the same whatever tenants do. */
#ifndef FSQ_DIRECTORY_H
#define FSQ_DIRECTORY_H

#include <stdbool.h>

#include "error.h"
#include "inode_project.h"
#include "kernel.h"

struct fsq_directory {
	int fd;
	char *path;			  /* absolute and without symlinks */
	struct fsq_inode_project project; /* when it was read last */
	struct fsq_target target;	  /* its filesystem */
	bool device_sought;
	char *device; /* of @target, once it is looked for */
};

/**
 * Open a directory. Whether there is quota shows with the first call about it; why there is none,
 * fsq_directory_check() says.
 *
 * @path     not a symlink; the directories above it may be
 * @return   0; FSQ_E_NOT_FOUND; FSQ_E_USAGE it is no directory; FSQ_E_PERMISSION; FSQ_E_FAILED
 * Source: openat2(2)
 */
int fsq_directory_open(struct fsq_directory *directory, const char *path, struct fsq_error *err);

/**
 * Read the project that a directory belongs to.
 *
 * @return   0; FSQ_E_NOT_SUPPORTED with a hint: there are no project IDs here; FSQ_E_FAILED
 * Source: ioctl_xfs_fsgetxattr(2)
 */
int fsq_directory_read_project(struct fsq_directory *directory, struct fsq_error *err);

/**
 * Is project quota on, on its filesystem?
 *
 * @enforced set on success: are limits enforced? May be NULL
 * @return   0; FSQ_E_NOT_SUPPORTED with a hint: no; FSQ_E_FAILED
 * Source: quotactl(2), Q_XGETQSTATV
 */
int fsq_directory_check(struct fsq_directory *directory, bool *enforced, struct fsq_error *err);

/**
 * What has failed on a directory: is it to be tried again, and if not, is the reason that there is
 * no quota? A kernel before 5.14, or a filter, wants to be asked by device, which is only then
 * looked for.
 *
 * @rc       the failure, and @err; changed where there is a better reason
 * @return   whether to try again
 */
bool fsq_directory_retry(struct fsq_directory *directory, int *rc, struct fsq_error *err);

void fsq_directory_close(struct fsq_directory *directory);

/**
 * The project of the directory above it.
 *
 * @above    filled in any case: without an ID if it is not on the same filesystem or not to be read
 */
void fsq_directory_above(const struct fsq_directory *directory, struct fsq_inode_project *above);

#endif
