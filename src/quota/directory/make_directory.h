/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory that is made for a quota. It gets its owner and mode last: until then only root can enter it, so nothing
 * is in it before it has its limits. A process that is killed before leaves it with a mode that nobody else gives, by
 * which the next one finishes it.
 */
#ifndef FSQ_MAKE_DIRECTORY_H
#define FSQ_MAKE_DIRECTORY_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "quota/mounts/lookup.h"

/**
 * Find the filesystem that would hide a directory once it is mounted.
 *
 * @awaited  set to the mount point, for free(3): fstab mounts it at boot at or above the directory, and it is not
 *           mounted; else NULL
 * @return   0; FSQ_E_FAILED or FSQ_E_PERMISSION fstab cannot be read
 * Source: fstab(5)
 */
int fsq_directory_awaits(const struct fsq_name *making, char **awaited, struct fsq_error *err);

/**
 * Make it, and open it.
 *
 * @return   a descriptor, or a negative errno: -EEXIST it is there; -ESTALE somebody exchanged it
 * Source: mkdirat(2)
 */
int fsq_directory_make(const struct fsq_name *making);

/** @return  whether it has no mode yet: a process that makes it is not ready, or was killed */
bool fsq_directory_is_unfinished(const struct stat *st);

/**
 * Give it its owner, and then its mode.
 *
 * @return   0 or a negative errno
 */
int fsq_directory_finish(int fd, mode_t mode, uid_t owner, gid_t group);

/** Remove it, unless something is in it, or another one has its name. @fd  the directory */
void fsq_directory_unmake(const struct fsq_name *making, int fd);

#endif
