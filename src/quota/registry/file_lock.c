/* SPDX-License-Identifier: Apache-2.0 */
#include "file_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "quota/base/error.h"
#include "shared/clock.h"
#include "shared/statx.h"

#define MILLISECOND (1000 * 1000L)

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

/*
 * Poll the lock: a wait in the kernel could not be cancelled.
 *
 * @try      locks, or returns an errno; EAGAIN while another process holds it
 * @return   0; 1 when the time is over; FSQ_E_FAILED
 */
static int wait_for(int (*try)(const int *fds), const int *fds, const char *path,
		    const struct fsq_lock_wait *wait, struct fsq_error *err)
{
	struct timespec little = { .tv_nsec = MILLISECOND };
	int64_t began = 0, cancelled = 0, now;
	int errnum;

	while ((errnum = try(fds)) != 0) {
		if (errnum != EAGAIN && errnum != EINTR)
			return fsq_fail_errno(err, errnum, path, "cannot lock");
		now = clock_milliseconds(CLOCK_MONOTONIC);
		if (began == 0)
			began = now;
		if (cancelled == 0 && fsq_is_cancelled(wait->options))
			cancelled = now;
		if (cancelled && (!wait->rolling_back || now - cancelled >= 1000))
			return fsq_fail(err, FSQ_E_FAILED, EINTR, path, "cannot lock");
		if (now - began >= (int64_t)wait->seconds * 1000)
			return 1;
		nanosleep(&little, NULL);
		if (little.tv_nsec < 16 * MILLISECOND)
			little.tv_nsec *= 2;
		if (wait->again)
			wait->again(wait->arg);
	}
	return 0;
}

static int try_file(const int *fd)
{
	return flock(*fd, LOCK_EX | LOCK_NB) ? errno : 0;
}

int fsq_file_lock(int fd, const char *path, const struct fsq_lock_wait *wait, struct fsq_error *err)
{
	int rc = wait_for(try_file, &fd, path, wait, err), holder;

	if (rc != 1)
		return rc;
	holder = holder_of(fd);
	rc = fsq_fail(err, FSQ_E_FAILED, 0, path,
		      "is locked, held by process %d, for more than %u s", holder, wait->seconds);
	if (holder <= 0)
		rc = fsq_fail(err, FSQ_E_FAILED, 0, path,
			      "is locked, held by another process, for more than %u s",
			      wait->seconds);
	return fsq_add_hint(err, holder > 0 ? FSQ_HINT_LOOK_AT_HOLDER : FSQ_HINT_WAIT_LONGER, rc);
}

/* --- trees --- */

/* The byte of the lock file that stands for a directory. Directories that share a byte only wait for each other. */
static off_t byte_of(const struct statx *directory)
{
	uint64_t dev = makedev(directory->stx_dev_major, directory->stx_dev_minor);

	return (off_t)((dev * 0x9e3779b97f4a7c15U + directory->stx_ino) & INT64_MAX);
}

static int lock_byte(int fd, short kind, off_t byte, off_t length)
{
	struct flock lock = {
		.l_type = kind, .l_whence = SEEK_SET, .l_start = byte, .l_len = length
	};

	return fcntl(fd, F_OFD_SETLK, &lock) ? errno : 0;
}

/*
 * Lock the directory exclusively, and those above it on its filesystem shared: all of them or none, so that
 * two processes cannot wait for each other.
 *
 * @fds      of the file and the directory
 */
static int try_tree(const int *fds)
{
	char path[PATH_MAX] = "";
	struct statx now, last = { 0 };
	size_t length = 0;
	int errnum = 0;

	while (errnum == 0 && length + sizeof("/..") <= sizeof(path)) {
		if (get_statx(fds[1], path, AT_EMPTY_PATH, STATX_INO, &now))
			break;
		if (length > 0 &&
		    (now.stx_dev_minor != last.stx_dev_minor ||
		     now.stx_dev_major != last.stx_dev_major || now.stx_ino == last.stx_ino))
			break;
		errnum = lock_byte(fds[0], length ? F_RDLCK : F_WRLCK, byte_of(&now), 1);
		if (now.stx_attributes & STATX_ATTR_MOUNT_ROOT)
			break;
		last = now;
		length = (size_t)(stpcpy(path + length, length ? "/.." : "..") - path);
	}
	if (errnum)
		lock_byte(fds[0], F_UNLCK, 0, 0);
	return errnum;
}

int fsq_tree_lock(int fd, const char *path, const struct fsq_lock_wait *wait, int *lock,
		  struct fsq_error *err)
{
	int fds[] = { open(FSQ_TREE_LOCKS, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600), fd };
	int rc;

	*lock = -1;
	if (fds[0] < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
		return fsq_fail(err, FSQ_E_FAILED, errno, path, "cannot lock");
	if (fds[0] < 0)
		return 0;
	rc = wait_for(try_tree, fds, path, wait, err);
	if (rc == 0) {
		*lock = fds[0];
		return 0;
	}
	close(fds[0]);
	if (rc != 1)
		return rc;
	rc = fsq_fail(err, FSQ_E_FAILED, 0, path,
		      "is locked for more than %u s: another fsquota changes it, or a directory "
		      "above it or in it",
		      wait->seconds);
	return fsq_add_hint(err, FSQ_HINT_WAIT_LONGER, rc);
}
