/* SPDX-License-Identifier: Apache-2.0 */
#include "path.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Skip "/", "//" and "/." between two parts of a path, or at its end. */
static size_t skip_between(const char *path, size_t at, size_t length)
{
	while (at < length && path[at] == '/') {
		size_t behind = at + 1;

		at = behind < length && path[behind] == '.' &&
				     (behind + 1 == length || path[behind + 1] == '/')
			     ? behind + 1
			     : behind;
	}
	return at;
}

const char *fsq_path_below(const char *directory, const char *path, size_t length)
{
	size_t above = strcmp(directory, "/") == 0 ? 0 : strlen(directory), at = 0, done = 0;

	if (length < above)
		return NULL;
	if (memcmp(path, directory, above) == 0)
		at = done = above;
	/* Not the same bytes: compare part by part, since @path may have "//" or "/.". */
	while (done < above && at < length && path[at] == directory[done]) {
		at = path[at] == '/' ? skip_between(path, at, length) : at + 1;
		done++;
	}
	if (done < above || (at < length && path[at] != '/'))
		return NULL;
	return path + skip_between(path, at, length);
}

bool fsq_path_is(const char *directory, const char *path, size_t length)
{
	size_t clean = strlen(directory);
	const char *below;

	/* Decide most cases by the length: another spelling of the directory is longer. */
	if (length <= clean)
		return length == clean && memcmp(path, directory, clean) == 0;
	if (path[length - 1] != '.' && path[length - 1] != '/' &&
	    path[length - 1] != directory[clean - 1])
		return false;
	below = fsq_path_below(directory, path, length);
	return below == path + length;
}

void fsq_path_clean(char *path)
{
	char *to = path;

	if (path[0] != '/')
		return;
	for (char *from = path; *from;) {
		size_t length = strcspn(from += strspn(from, "/"), "/");

		if (length > 1 || (length == 1 && *from != '.')) {
			*to++ = '/';
			memmove(to, from, length);
			to += length;
		}
		from += length;
	}
	if (to == path)
		*to++ = '/';
	*to = '\0';
}

void fsq_fd_link(char link[FSQ_FD_LINK_SIZE], int fd)
{
	snprintf(link, FSQ_FD_LINK_SIZE, "/proc/self/fd/%d", fd);
}

char *fsq_fd_path(int fd)
{
	char link[FSQ_FD_LINK_SIZE], path[PATH_MAX];
	ssize_t length;

	fsq_fd_link(link, fd);
	length = readlink(link, path, sizeof(path));
	return length > 0 && length < PATH_MAX && path[0] == '/' ? strndup(path, (size_t)length)
								 : NULL;
}
