/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which xfs_quota the door of that name is like: that of xfsprogs 6.1 or that of 7.2. Each
 * difference has its name here; man/fsquota-xfs_quota.7 tells them. The native door follows the
 * later one.
 */
#ifndef FSQ_GENERATION_H
#define FSQ_GENERATION_H

#include <stdbool.h>

enum generation { XFS_QUOTA_6_1, XFS_QUOTA_7_2 };

#define GENERATION_VARIABLE "FSQUOTA_XFS_QUOTA_VERSION"

/**
 * The generation that the environment chooses, or the one that configure did.
 *
 * @return   false when the variable holds neither 6.1 nor 7.2
 */
bool generation_choose(enum generation *generation);

/** @return  what -V calls it */
const char *generation_version(enum generation generation);

/** quota: has an ID a row that has limits and uses nothing? */
bool generation_shows_unused_limits(enum generation generation);

/** state: are the warnings for realtime blocks shown? */
bool generation_shows_realtime_warnings(enum generation generation);

/** project -c and -C: is it told why a special file is skipped? */
bool generation_explains_special_files(enum generation generation);

/** Are lines of the projects file told of that lead nowhere? @path_given: on the command line */
bool generation_tells_stale_lines(enum generation generation, bool path_given);

/** With -t: is the mount point asked, not the device that the table has for it? */
bool generation_asks_mount_points(enum generation generation);

#endif
