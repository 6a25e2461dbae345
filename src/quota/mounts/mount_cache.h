/* SPDX-License-Identifier: Apache-2.0 */
/* Mounts that were found, and what was asked of their file systems, as long as that holds. */
#ifndef FSQ_MOUNT_CACHE_H
#define FSQ_MOUNT_CACHE_H

#include "mounts.h"

struct fsq_known_mount {
	uint64_t id; /* of statx(2), or 0: not to be found again */
	struct fsq_mount mount;
	bool in_memory;	  /* a tmpfs or the like */
	bool state_known; /* since the last check */
	struct fsq_state state;
	int state_rc; /* of asking for it */
};

struct fsq_mount_cache {
	int table; /* the mount table, for poll(2); nothing is read from it. -1: there is none */
	struct fsq_known_mount **mounts;
	size_t count, capacity;
};

void fsq_mount_cache_open(struct fsq_mount_cache *cache);
void fsq_mount_cache_close(struct fsq_mount_cache *cache);

/**
 * Forget what may have changed: all mounts, if any has been made, moved or taken away.
 *
 * Source: proc_pid_mountinfo(5), poll(2)
 */
void fsq_mount_cache_check(struct fsq_mount_cache *cache);

/**
 * Find the mount that an open file lies on.
 *
 * @known    set; it holds until the next check
 * @return   as fsq_mount_of_fd()
 */
int fsq_mount_cache_find(struct fsq_mount_cache *cache, int fd, const char *path,
			 struct fsq_known_mount **known, struct fsq_error *err);

#endif
