/* SPDX-License-Identifier: Apache-2.0 */
/* What visitors of a walk can do with an entry; declared in tree_walk.h. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "tree_walk.h"

int fsq_walk_stat(const struct fsq_walk_entry *entry, struct stat *st)
{
	return fstatat(entry->dirfd, entry->name, st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) ? -errno
											   : 0;
}

int fsq_walk_project_get(const struct fsq_walk_entry *entry, struct fsq_inode_project *project)
{
	if (entry->fd >= 0)
		return fsq_inode_project_get(entry->fd, project);
	return fsq_inode_project_get_at(entry->dirfd, entry->name, project);
}

int fsq_walk_project_set(const struct fsq_walk_entry *entry, struct fsq_inode_project *project,
			 uint32_t id, bool inherit)
{
	if (entry->fd >= 0)
		return fsq_inode_project_set(entry->fd, project, id, inherit);
	return fsq_inode_project_set_at(entry->dirfd, entry->name, project, id, inherit);
}

bool fsq_walk_is_directory(const struct fsq_walk_entry *entry,
			   const struct fsq_inode_project *project)
{
	struct stat st;

	if (entry->kind == FSQ_WALK_DIRECTORY || !project->inherit)
		return entry->kind == FSQ_WALK_DIRECTORY;
	return fsq_walk_stat(entry, &st) == 0 && S_ISDIR(st.st_mode);
}

void fsq_walk_time(struct timespec *now, bool wait)
{
	struct timespec tick;

	if (wait && clock_getres(CLOCK_REALTIME_COARSE, &tick) == 0)
		nanosleep(&tick, NULL);
	clock_gettime(CLOCK_REALTIME_COARSE, now);
}

bool fsq_walk_changed_since(const struct fsq_walk_entry *entry, const struct timespec *since)
{
	struct stat st;

	return entry->dirfd < 0 || fstat(entry->dirfd, &st) || st.st_mtim.tv_sec > since->tv_sec ||
	       (st.st_mtim.tv_sec == since->tv_sec && st.st_mtim.tv_nsec >= since->tv_nsec);
}
