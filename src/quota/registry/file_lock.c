/* SPDX-License-Identifier: Apache-2.0 */
#include "file_lock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "quota/base/error.h"

#define MILLISECOND (1000 * 1000L)

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / MILLISECOND;
}

/* @return   who holds a lock of the file, or 0 */
static int holder_of(int fd)
{
	FILE *locks = fopen("/proc/locks", "re");
	char kind[16], line[256];
	unsigned int major_number, minor_number;
	uint64_t inode;
	struct stat st;
	int pid, holder = 0;

	if (!locks)
		return 0;
	while (holder == 0 && fstat(fd, &st) == 0 && fgets(line, sizeof(line), locks))
		if (sscanf(line, "%*s %15s %*s %*s %d %x:%x:%" SCNu64, kind, &pid, &major_number,
			   &minor_number, &inode) == 5 &&
		    kind[0] == 'F' && inode == st.st_ino && major_number == major(st.st_dev) &&
		    minor_number == minor(st.st_dev))
			holder = pid;
	fclose(locks);
	return holder;
}

static int fail_to_lock(int fd, const char *path, unsigned int seconds, struct fsq_error *err)
{
	int holder = holder_of(fd), rc;

	rc = fsq_fail(err, FSQ_E_FAILED, 0, path,
		      "is locked, held by process %d, for more than %u s", holder, seconds);
	if (holder <= 0)
		rc = fsq_fail(err, FSQ_E_FAILED, 0, path,
			      "is locked, held by another process, for more than %u s", seconds);
	return fsq_add_hint(err, holder > 0 ? FSQ_HINT_LOOK_AT_HOLDER : FSQ_HINT_WAIT_LONGER, rc);
}

/* A wait in the kernel could not be cancelled: so we wait a little at a time. */
int fsq_file_lock(int fd, const char *path, const struct fsq_lock_wait *wait, struct fsq_error *err)
{
	struct timespec little = { .tv_nsec = MILLISECOND };
	int64_t began = 0, cancelled = 0, now;

	while (flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return fsq_fail(err, fsq_error_kind_of(errno), errno, path, "cannot lock");
		now = now_ms();
		if (began == 0)
			began = now;
		if (cancelled == 0 && fsq_is_cancelled(wait->options))
			cancelled = now;
		if (cancelled && (!wait->rolling_back || now - cancelled >= 1000))
			return fsq_fail(err, FSQ_E_FAILED, EINTR, path, "cannot lock");
		if (now - began >= (int64_t)wait->seconds * 1000)
			return fail_to_lock(fd, path, wait->seconds, err);
		nanosleep(&little, NULL);
		if (little.tv_nsec < 16 * MILLISECOND)
			little.tv_nsec *= 2;
		if (wait->again)
			wait->again(wait->arg);
	}
	return 0;
}
