/* SPDX-License-Identifier: Apache-2.0 */
#include "whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_SIZE (32 * 1024)

/* As read(2), but waits for the writer of a pipe to go on. */
static ssize_t read_some(int fd, char *to, size_t size)
{
	ssize_t got = read(fd, to, size);

	if (got < 0 && errno == EAGAIN && fcntl(fd, F_SETFL, 0) == 0)
		got = read(fd, to, size);
	return got;
}

int fsq_read_whole(const char *file, char **text, size_t *length)
{
	size_t size = 0, used = 0;
	char *buffer = NULL;
	ssize_t got;
	int rc = 0;
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return -errno;
	do {
		if (used + 1 >= size) {
			size_t wanted = size ? 2 * size : FIRST_SIZE;
			char *larger = realloc(buffer, wanted);

			if (!larger) {
				rc = -ENOMEM;
				break;
			}
			buffer = larger;
			size = wanted;
		}
		got = read_some(fd, buffer + used, size - used - 1);
		if (got < 0)
			rc = -errno;
		else
			used += (size_t)got;
	} while (got > 0);
	close(fd);
	if (rc) {
		free(buffer);
		return rc;
	}
	buffer[used] = '\0';
	*text = buffer;
	*length = used;
	return 0;
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
