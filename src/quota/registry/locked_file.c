/* SPDX-License-Identifier: Apache-2.0 */
#include "locked_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "project_line.h"
#include "quota/base/error.h"
#include "shared/read_file.h"

static enum fsq_hint hint_of_errno(int errnum)
{
	switch (errnum) {
	case EACCES:
		return FSQ_HINT_ROOT_ONLY;
	case EPERM:
		return FSQ_HINT_IMMUTABLE;
	case EROFS:
		return FSQ_HINT_READ_ONLY_REGISTRY;
	default:
		return FSQ_HINT_NONE;
	}
}

int fsq_locked_file_fail(struct fsq_error *err, int errnum, const struct fsq_locked_file *file,
			 const char *what)
{
	enum fsq_error_kind kind = fsq_error_kind_of(errnum);

	/* Not FSQ_E_NOT_FOUND, which would mean a project: that the file is missing is no failure. */
	if (kind != FSQ_E_PERMISSION)
		kind = FSQ_E_FAILED;
	fsq_fail(err, kind, errnum, file->path, "cannot %s", what);
	return fsq_add_hint(err, hint_of_errno(errnum), kind);
}

static int refuse_file(struct fsq_error *err, const struct fsq_locked_file *file, const char *why)
{
	return fsq_fail(err, FSQ_E_FAILED, 0, file->path, "%s", why);
}

static int open_file(struct fsq_locked_file *file, bool to_write)
{
	int flags = (to_write ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC;

	file->fd = fsq_open_file(file->path, flags);
	if (file->fd == -ENOENT && to_write) {
		file->fd = fsq_open_file(file->path, flags | O_CREAT | O_EXCL);
		file->made = file->fd >= 0;
		if (file->fd == -EEXIST)
			file->fd = fsq_open_file(file->path, flags);
	}
	return file->fd < 0 ? file->fd : 0;
}

static bool is_same(const struct stat *one, const struct stat *other)
{
	return one->st_ino == other->st_ino && one->st_dev == other->st_dev;
}

static bool is_same_time(const struct timespec *one, const struct timespec *other)
{
	return one->tv_sec == other->tv_sec && one->tv_nsec == other->tv_nsec;
}

static bool is_as_kept(const struct fsq_locked_file *file)
{
	const struct stat *now = &file->st, *kept = &file->kept;

	return is_same(now, kept) && now->st_size == kept->st_size &&
	       is_same_time(&now->st_mtim, &kept->st_mtim) &&
	       is_same_time(&now->st_ctim, &kept->st_ctim);
}

static int check_file(struct fsq_locked_file *file, const struct fsq_locked_file *other,
		      struct fsq_error *err)
{
	if (fstat(file->fd, &file->st))
		return fsq_locked_file_fail(err, errno, file, "stat");
	if (!S_ISREG(file->st.st_mode))
		return refuse_file(err, file, "is no regular file");
	if (file->st.st_size > FSQ_FILE_MAX)
		return refuse_file(err, file, "is too large for what it should hold");
	if (other && other->fd >= 0 && is_same(&file->st, &other->st))
		return fsq_fail(err, FSQ_E_USAGE, 0, file->path,
				"is the projects file and the projid file: name two files");
	return 0;
}

/* Does the errno mean no file, or one that a reader may not lock? */
static bool means_no_file(int errnum)
{
	return errnum == ENOENT || errnum == ENOTDIR || errnum == EACCES || errnum == EPERM;
}

/* @return   0, also without a file if the caller only reads */
static int lock_file(struct fsq_locked_file *file, bool to_write, const struct fsq_lock_wait *wait,
		     const struct fsq_locked_file *other, struct fsq_error *err)
{
	struct stat now;
	int rc;

	for (;;) {
		rc = open_file(file, to_write);
		if (rc == -ELOOP)
			return refuse_file(err, file, "is a symlink, which is not followed");
		if (rc == -EISDIR)
			return refuse_file(err, file, "is a directory");
		if (rc)
			return to_write || !means_no_file(-rc)
				       ? fsq_locked_file_fail(err, -rc, file, "open")
				       : 0;
		rc = check_file(file, other, err);
		if (rc || !wait)
			return rc;
		rc = fsq_file_lock(file->fd, file->path, wait, err);
		if (rc)
			return rc;
		if (lstat(file->path, &now) == 0 && is_same(&now, &file->st)) {
			file->st = now;
			return now.st_size > FSQ_FILE_MAX ? check_file(file, other, err) : 0;
		}
		close(file->fd);
		file->fd = -1;
	}
}

static int read_locked_text(struct fsq_locked_file *file, struct fsq_error *err)
{
	size_t size = file->fd >= 0 ? (size_t)file->st.st_size : 0;

	file->text = malloc(size + 1);
	if (!file->text)
		return fsq_locked_file_fail(err, ENOMEM, file, "read");
	/* Locked: no process that follows the protocol changes it now. */
	while (file->length < size) {
		ssize_t got = pread(file->fd, file->text + file->length, size - file->length,
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

int fsq_locked_file_open(struct fsq_locked_file *file, bool to_write,
			 const struct fsq_lock_wait *wait, const struct fsq_locked_file *other,
			 struct fsq_error *err)
{
	int rc = lock_file(file, to_write, wait, other, err);

	file->is_the_same = rc == 0 && file->fd >= 0 && is_as_kept(file);
	if (file->is_the_same)
		return 0;
	fsq_locked_file_forget(file);
	if (rc == 0)
		rc = read_locked_text(file, err);
	if (rc) {
		fsq_locked_file_forget(file);
		fsq_locked_file_close(file);
	}
	return rc;
}

int fsq_locked_file_check(const struct fsq_locked_file *file, struct fsq_error *err)
{
	char *copy;
	int rc;

	if (faccessat(AT_FDCWD, file->path, W_OK, AT_EACCESS) == 0)
		return 0;
	if (errno != ENOENT)
		return fsq_locked_file_fail(err, errno, file, "open");
	copy = strdup(file->path);
	rc = copy && faccessat(AT_FDCWD, dirname(copy), W_OK | X_OK, AT_EACCESS) == 0 ? 0 : errno;
	free(copy);
	return rc ? fsq_locked_file_fail(err, rc, file, "open") : 0;
}

int fsq_locked_file_check_read(const struct fsq_locked_file *file, struct fsq_error *err)
{
	if (faccessat(AT_FDCWD, file->path, R_OK, AT_EACCESS) == 0 || errno != EACCES)
		return 0;
	return fsq_locked_file_fail(err, EACCES, file, "read");
}

void fsq_locked_file_keep(struct fsq_locked_file *file)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT } };
	struct stat now = file->st;

	if (file->is_the_same && !file->changed)
		return;
	file->kept = (struct stat){ 0 };
	if (file->fd < 0 || clock_gettime(CLOCK_REALTIME, &times[1]))
		return;
	if (file->changed && (futimens(file->fd, times) || fstat(file->fd, &now) ||
			      !is_same_time(&now.st_mtim, &times[1])))
		return;
	/* What others changed just now they may have changed again within a tick. */
	if (!file->changed && now.st_mtime <= times[1].tv_sec && times[1].tv_sec - now.st_mtime < 2)
		return;
	if ((size_t)now.st_size == file->length)
		file->kept = now;
}

void fsq_locked_file_close(struct fsq_locked_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
	file->made = file->changed = false;
}

void fsq_locked_file_forget(struct fsq_locked_file *file)
{
	free(file->text);
	file->text = NULL;
	file->length = 0;
	file->kept = (struct stat){ 0 };
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

int fsq_locked_file_write(struct fsq_locked_file *file, size_t offset, const char *text,
			  size_t length)
{
	int rc;

	file->changed = true;
	if (offset + length > file->length) {
		char *larger = realloc(file->text, offset + length + 1);

		if (!larger)
			return -ENOMEM;
		larger[offset + length] = '\0';
		file->text = larger;
	}
	rc = write_all(file->fd, text, length, (off_t)offset);
	if (rc)
		return rc;
	if (text != file->text + offset)
		memcpy(file->text + offset, text, length);
	if (offset + length > file->length)
		file->length = offset + length;
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

int fsq_locked_file_sync(struct fsq_locked_file *file)
{
	if (fsync(file->fd))
		return -errno;
	return file->made ? sync_directory_of(file) : 0;
}

int fsq_locked_file_cut(struct fsq_locked_file *file, size_t length)
{
	file->changed = true;
	if (ftruncate(file->fd, (off_t)length))
		return -errno;
	if (length < file->length) {
		file->length = length;
		file->text[length] = '\0';
	}
	return 0;
}

/*
 * While we hold the lease, a process that opens the file waits. The kernel signals us with SIGURG, whose default is to
 * ignore it.
 */
static bool lease(struct fsq_locked_file *file)
{
	return fcntl(file->fd, F_SETSIG, SIGURG) == 0 && fcntl(file->fd, F_SETLEASE, F_WRLCK) == 0;
}

static bool end_lease(struct fsq_locked_file *file)
{
	return fcntl(file->fd, F_SETLEASE, F_UNLCK) == 0;
}

bool fsq_locked_file_shorten(struct fsq_locked_file *file, size_t from, const char *text,
			     size_t length)
{
	size_t old = file->length - from;
	char *filled;
	bool done;

	if (length == 0)
		return lease(file) && fsq_locked_file_cut(file, from) == 0 && end_lease(file);
	filled = malloc(old);
	if (!filled)
		return false;
	memcpy(filled, text, length);
	/* A file that ends without a newline keeps ending without one meanwhile. */
	if (text[length - 1] == '\n') {
		fsq_project_line_fill(filled + length, old - length);
		filled[old - 1] = '\n';
	} else {
		filled[length] = '\n';
		fsq_project_line_fill(filled + length + 1, old - length - 1);
	}
	done = lease(file) && fsq_locked_file_write(file, from, filled, old) == 0;
	end_lease(file);
	free(filled);
	/* Sync the data before the length that covers it. */
	return done && fsync(file->fd) == 0 && fsq_locked_file_cut(file, from + length) == 0;
}
