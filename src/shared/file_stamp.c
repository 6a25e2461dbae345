/* SPDX-License-Identifier: Apache-2.0 */
#include "file_stamp.h"

#include <errno.h>
#include <sys/stat.h>

/* File times change with the kernel's tick, of 10 ms at most: within it a file can change and keep its times. */
#define YOUNG_NS 50000000

static bool is_young(const struct timespec *changed)
{
	struct timespec now;
	int64_t age;

	clock_gettime(CLOCK_REALTIME, &now);
	age = (now.tv_sec - changed->tv_sec) * 1000000000 + now.tv_nsec - changed->tv_nsec;
	/* A time in the future is young, too: the clock was set back. */
	return age < YOUNG_NS;
}

struct fsq_file_stamp fsq_file_stamp_of(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return (struct fsq_file_stamp){ .absent = errno == ENOENT,
						.young = errno != ENOENT };
	return (struct fsq_file_stamp){
		.young = is_young(&st.st_ctim),
		.dev = st.st_dev,
		.ino = st.st_ino,
		.size = st.st_size,
		.mtime = st.st_mtim,
		.ctime = st.st_ctim,
	};
}

static bool is_same_time(const struct timespec *one, const struct timespec *other)
{
	return one->tv_sec == other->tv_sec && one->tv_nsec == other->tv_nsec;
}

bool fsq_file_stamp_is_current(const struct fsq_file_stamp *stamp, const char *path)
{
	struct fsq_file_stamp now;

	if (stamp->young)
		return false;
	now = fsq_file_stamp_of(path);
	return now.absent == stamp->absent && now.dev == stamp->dev && now.ino == stamp->ino &&
	       now.size == stamp->size && is_same_time(&now.mtime, &stamp->mtime) &&
	       is_same_time(&now.ctime, &stamp->ctime);
}
