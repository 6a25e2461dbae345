/* SPDX-License-Identifier: Apache-2.0 */
/* All local file systems, and where on them a directory is, or was. */
#ifndef FSQ_VOLUMES_H
#define FSQ_VOLUMES_H

#include "quota/kernel/late_close.h"
#include "quota/fsquota.h"

/* A mount. */
struct fsq_volume {
	struct fsq_filesystem *fs;
	bool has_quota; /* of projects */
	size_t first;	/* in the list, of the mounts of its file system */
};

struct fsq_volumes {
	struct fsq_volume *list;
	size_t count, capacity;
	struct fsq_mount_points *points;
	char **mount_points; /* of fstab(5) */
	size_t mount_point_count, mount_point_capacity;
	struct fsq_late_close found; /* directories */
	int rc;			     /* of listing them */
};

/**
 * Open all mounts that fsq_mounts_each() visits. One that cannot be opened is left out.
 *
 * @volumes  close it with fsq_volumes_close(), also after a failure
 * @return   0; as fsq_mounts_each(), of fstab(5), too
 */
int fsq_volumes_open(struct fsq_volumes *volumes, struct fsq_error *err);

void fsq_volumes_close(struct fsq_volumes *volumes);

enum fsq_presence {
	FSQ_ELSEWHERE, /* on no local file system, or its path leads over a symlink */
	FSQ_PRESENT,
	FSQ_GONE,
	/* Gone; or its file system is not mounted, since it would be below an empty directory. */
	FSQ_GONE_OR_UNMOUNTED,
	FSQ_UNMOUNTED, /* fstab(5) has a file system for it that is not mounted */
};

/**
 * Find out where a directory is, or would be. Network and FUSE mounts are not touched.
 *
 * @directory absolute
 * @volume   set to the mount, unless it is elsewhere
 * Source: openat2(2), RESOLVE_NO_XDEV, RESOLVE_NO_SYMLINKS
 */
enum fsq_presence fsq_volumes_find(struct fsq_volumes *volumes, const char *directory,
				   const struct fsq_volume **volume);

#endif
