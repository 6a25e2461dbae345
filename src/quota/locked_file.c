/* SPDX-License-Identifier: Apache-2.0 */
#include "locked_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "interrupt.h"

#define TEMPORARY ".fsquota"
#define LABEL "security.selinux"

int fsq_locked_file_fail(struct fsq_error *err, int errnum, const struct fsq_locked_file *file,
			 const char *what)
{
	int code = fsq_code_of_errno(errnum);

	/* A file of ours that is not there is no missing project. */
	if (code != FSQ_E_PERMISSION)
		code = FSQ_E_FAILED;
	fsq_fail(err, code, errnum, file->path, "cannot %s", what);
	if (err && errnum == EACCES)
		err->hint = "only root may change it";
	return code;
}

static int open_file(struct fsq_locked_file *file, bool to_write)
{
	int flags = (to_write ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

	file->fd = open(file->path, flags);
	if (file->fd < 0 && errno == ENOENT && to_write) {
		file->fd = open(file->path, flags | O_CREAT | O_EXCL, 0644);
		file->made |= file->fd >= 0;
		if (file->fd < 0 && errno == EEXIST)
			file->fd = open(file->path, flags);
	}
	return file->fd < 0 ? -errno : 0;
}

/* Signals that are blocked do not end a wait in the kernel: so we wait a little at a time. */
static int wait_for_lock(int fd)
{
	struct timespec little = { .tv_nsec = 1000 * 1000 };

	while (flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK)
			return -errno;
		if (fsq_interrupt_pending())
			return -EINTR;
		nanosleep(&little, NULL);
		if (little.tv_nsec < 16 * 1000 * 1000)
			little.tv_nsec *= 2;
	}
	return 0;
}

/*
 * Open and lock a file; again, if it was replaced in the meantime.
 * @return   0, also without a file where it is only looked at
 */
static int lock_file(struct fsq_locked_file *file, bool to_write, bool heed_signals,
		     struct fsq_error *err)
{
	struct stat now;
	int rc;

	for (;;) {
		rc = open_file(file, to_write);
		if (rc && !to_write && rc != -ELOOP)
			return 0;
		if (rc == -ELOOP)
			return fsq_locked_file_fail(err, EMLINK, file,
						    "follow what must not be a symlink");
		if (rc)
			return fsq_locked_file_fail(err, -rc, file, "open");
		if (fstat(file->fd, &file->st))
			return fsq_locked_file_fail(err, errno, file, "stat");
		if (!S_ISREG(file->st.st_mode))
			return fsq_locked_file_fail(err, EINVAL, file,
						    "use what is no regular file");
		rc = heed_signals ? wait_for_lock(file->fd) : flock(file->fd, LOCK_EX) ? -errno : 0;
		if (rc)
			return fsq_locked_file_fail(err, -rc, file, "lock");
		if (lstat(file->path, &now) == 0 && now.st_ino == file->st.st_ino &&
		    now.st_dev == file->st.st_dev) {
			file->st = now;
			return 0;
		}
		close(file->fd);
		file->fd = -1;
	}
}

static int read_file(struct fsq_locked_file *file, struct fsq_error *err)
{
	size_t room = file->fd >= 0 ? (size_t)file->st.st_size : 0;

	file->text = malloc(room + 1);
	if (!file->text)
		return fsq_locked_file_fail(err, ENOMEM, file, "read");
	/* Nobody who keeps to the protocol changes it now. */
	while (file->length < room) {
		ssize_t got = pread(file->fd, file->text + file->length, room - file->length,
				    (off_t)file->length);

		if (got < 0)
			return fsq_locked_file_fail(err, errno, file, "read");
		if (got == 0)
			break;
		file->length += (size_t)got;
	}
	file->text[file->length] = '\0';
	return 0;
}

int fsq_locked_file_open(struct fsq_locked_file *file, bool to_write, bool heed_signals,
			 struct fsq_error *err)
{
	int rc = lock_file(file, to_write, heed_signals, err);

	return rc ? rc : read_file(file, err);
}

void fsq_locked_file_unmake(struct fsq_locked_file *file)
{
	struct stat st;

	if (file->made && file->fd >= 0 && fstat(file->fd, &st) == 0 && st.st_size == 0) {
		unlink(file->path);
		file->made = false;
	}
}

void fsq_locked_file_close(struct fsq_locked_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->text);
	*file = (struct fsq_locked_file){ .path = file->path, .fd = -1, .made = file->made };
}

static int write_all(int fd, const char *text, size_t length, off_t offset)
{
	while (length > 0) {
		ssize_t wrote = pwrite(fd, text, length, offset);

		if (wrote < 0)
			return -errno;
		text += wrote;
		length -= (size_t)wrote;
		offset += wrote;
	}
	return 0;
}

static int sync_directory_of(const struct fsq_locked_file *file)
{
	char *copy = strdup(file->path);
	int fd, rc = 0;

	if (!copy)
		return -ENOMEM;
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(copy);
	if (fd < 0)
		return -errno;
	if (fsync(fd))
		rc = -errno;
	close(fd);
	return rc;
}

int fsq_locked_file_append(struct fsq_locked_file *file, const char *line)
{
	size_t length = strlen(line), page = 4096;
	size_t start = file->length + file->added;
	char first = line[0];
	char *text = strdup(line);
	bool crosses;
	int rc;

	if (!text)
		return -ENOMEM;
	/* The kernel writes what lies in one page at once; of more, the beginning is a comment. */
	crosses = start / page != (start + length - 1) / page;
	if (crosses)
		text[first == '\n'] = '#';
	rc = write_all(file->fd, text, length, (off_t)start);
	if (rc == 0 && crosses)
		rc = write_all(file->fd, line, 1 + (first == '\n'), (off_t)start);
	if (rc == 0 && fsync(file->fd))
		rc = -errno;
	if (rc == 0 && file->made)
		rc = sync_directory_of(file);
	free(text);
	file->added += length;
	return rc;
}

bool fsq_locked_file_is_whole(const struct fsq_locked_file *file)
{
	return file->length == 0 || file->text[file->length - 1] == '\n';
}

void fsq_locked_file_take_back(struct fsq_locked_file *file)
{
	if (file->added == 0)
		return;
	file->added = 0;
	if (ftruncate(file->fd, (off_t)file->length) == 0)
		fsync(file->fd);
}

static int copy_label(int from, int to)
{
	char label[512];
	ssize_t length = fgetxattr(from, LABEL, label, sizeof(label));

	if (length < 0)
		return errno == ENODATA || errno == EOPNOTSUPP ? 0 : -errno;
	return fsetxattr(to, LABEL, label, (size_t)length, 0) ? -errno : 0;
}

static char *temporary_of(const struct fsq_locked_file *file)
{
	char *name;

	return asprintf(&name, "%s" TEMPORARY, file->path) < 0 ? NULL : name;
}

void fsq_locked_file_clean(const struct fsq_locked_file *file)
{
	char *temporary = temporary_of(file);

	if (temporary)
		unlink(temporary);
	free(temporary);
}

/* A new file in place of the old one, locked before anybody can see it. */
static int replace(struct fsq_locked_file *file, const char *text, size_t length)
{
	char *temporary = temporary_of(file);
	int fd, rc = 0;

	if (!temporary)
		return -ENOMEM;
	/* What a killed one left is written over: we have the lock. */
	fd = open(temporary, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
		  0600);
	if (fd < 0) {
		rc = -errno;
		free(temporary);
		return rc;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) || fchown(fd, file->st.st_uid, file->st.st_gid) ||
	    fchmod(fd, file->st.st_mode & 07777))
		rc = -errno;
	if (rc == 0)
		rc = copy_label(file->fd, fd);
	if (rc == 0)
		rc = write_all(fd, text, length, 0);
	if (rc == 0 && (fsync(fd) || rename(temporary, file->path)))
		rc = -errno;
	if (rc) {
		unlink(temporary);
		close(fd);
	} else {
		/* Who waits for the old one, and does not look again, shall find the same there. */
		bool same = write_all(file->fd, text, length, 0) == 0 &&
			    ftruncate(file->fd, (off_t)length) == 0;

		(void)same;
		close(file->fd);
		file->fd = fd;
		rc = sync_directory_of(file);
	}
	free(temporary);
	return rc;
}

int fsq_locked_file_cut(struct fsq_locked_file *file, const char *text, size_t length)
{
	if (length >= file->length)
		return 0;
	if (memcmp(text, file->text, length) != 0)
		return replace(file, text, length);
	return ftruncate(file->fd, (off_t)length) || fsync(file->fd) ? -errno : 0;
}

void fsq_locked_file_put_back(struct fsq_locked_file *file)
{
	struct stat st;

	if (fstat(file->fd, &st) == 0 && (size_t)st.st_size < file->length) {
		if (write_all(file->fd, file->text, file->length, 0) == 0)
			fsync(file->fd);
	}
}
