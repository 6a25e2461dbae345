/* SPDX-License-Identifier: Apache-2.0 */
#include "read_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FIRST_SIZE (32 * 1024)
/*
 * Wait for a lease for up to a minute. Its owner holds it during one write. If the owner is stopped, the kernel
 * breaks the lease after /proc/sys/fs/lease-break-time, by default 45 seconds.
 */
#define LEASE_TRIES (60 * 1000)
#define MILLISECOND (1000 * 1000L)

/* Call read(2). If a pipe is empty but has a writer, wait for data. */
static ssize_t read_some(int fd, char *to, size_t size)
{
	ssize_t got = read(fd, to, size);

	if (got < 0 && errno == EAGAIN && fcntl(fd, F_SETFL, 0) == 0)
		got = read(fd, to, size);
	return got;
}

/* Check a file that exceeds the first buffer: refuse large files, and devices such as /dev/zero without end. */
static int check_long(int fd, size_t used)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode))
		return -EFBIG;
	return used > FSQ_FILE_MAX || st.st_size > FSQ_FILE_MAX ? -EFBIG : 0;
}

int fsq_read_fd(int fd, char **text, size_t *length)
{
	/* On the stack: musl's malloc(3) and free(3) make a system call each for a large block. */
	char first[FIRST_SIZE], *buffer = first, *larger;
	size_t size = sizeof(first), used = 0;
	ssize_t got;
	int rc = 0;

	for (;;) {
		got = read_some(fd, buffer + used, size - used - 1);
		if (got < 0)
			rc = -errno;
		else
			used += (size_t)got;
		if (got > 0 && used + 1 < size)
			continue;
		if (got > 0)
			rc = check_long(fd, used);
		if (rc)
			break;
		/* Enlarge a full buffer; at the end of the file, shrink it to the text. */
		size = got > 0 ? 2 * size : used + 1;
		larger = realloc(buffer == first ? NULL : buffer, size);
		if (!larger) {
			rc = -ENOMEM;
			break;
		}
		if (buffer == first)
			memcpy(larger, first, used);
		buffer = larger;
		if (got == 0)
			break;
	}
	if (rc) {
		if (buffer != first)
			free(buffer);
		return rc;
	}
	buffer[used] = '\0';
	*text = buffer;
	*length = used;
	return 0;
}

int fsq_open_file(const char *path, int flags)
{
	const struct timespec little = { .tv_nsec = MILLISECOND };
	int fd = -1;

	for (int i = 0; i < LEASE_TRIES; i++) {
		/* open(2) of musl makes a second system call for O_CLOEXEC. */
		fd = openat(AT_FDCWD, path, flags | O_NONBLOCK, 0644);
		if (fd >= 0 || errno != EWOULDBLOCK)
			break;
		nanosleep(&little, NULL);
	}
	return fd < 0 ? -errno : fd;
}

int fsq_read_file(const char *file, char **text, size_t *length)
{
	int fd = fsq_open_file(file, O_RDONLY | O_CLOEXEC | O_NOCTTY), rc;

	if (fd < 0)
		return fd;
	rc = fsq_read_fd(fd, text, length);
	close(fd);
	return rc;
}

/* Enlarge the buffer of a line. */
static int grow(char **line, size_t *size)
{
	size_t wanted = *size ? 2 * *size : 256;
	char *larger = wanted <= FSQ_LINE_MAX ? realloc(*line, wanted) : NULL;

	if (!larger)
		return wanted <= FSQ_LINE_MAX ? -ENOMEM : -EFBIG;
	*line = larger;
	*size = wanted;
	return 0;
}

ssize_t fsq_read_line(FILE *file, char **line, size_t *size)
{
	size_t length = 0;
	int c, rc;

	/* After an error that sets no errno, report EIO. */
	errno = 0;
	while ((c = getc_unlocked(file)) != EOF && c != '\n') {
		rc = length + 1 < *size ? 0 : grow(line, size);
		if (rc)
			return rc;
		(*line)[length++] = (char)c;
	}
	if (c == EOF && ferror(file))
		return errno ? -errno : -EIO;
	if (c == EOF && length == 0)
		return -ENODATA;
	rc = *size ? 0 : grow(line, size);
	if (rc)
		return rc;
	(*line)[length] = '\0';
	return (ssize_t)length;
}

char *fsq_next_line(char **rest, const char *end)
{
	char *line = *rest, *newline;

	if (line >= end)
		return NULL;
	newline = memchr(line, '\n', (size_t)(end - line));
	if (newline)
		*newline = '\0';
	*rest = newline ? newline + 1 : line + (end - line);
	return line;
}
