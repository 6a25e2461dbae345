/* SPDX-License-Identifier: Apache-2.0 */
#include "replacement.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define ATTEMPTS 100

/* Not one that node_exporter reads: it ends in neither .prom nor anything else that is known. */
static void choose_name(struct replacement *replacement)
{
	uint64_t number = 0;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
		number = (uint64_t)getpid();
	snprintf(replacement->temporary, sizeof(replacement->temporary), ".%.200s.%016jx",
		 replacement->name, (uintmax_t)number);
}

static int open_named(struct replacement *replacement)
{
	int fd = -1;

	replacement->named = true;
	for (int i = 0; i < ATTEMPTS && fd < 0 && (i == 0 || errno == EEXIST); i++) {
		choose_name(replacement);
		fd = openat(replacement->directory, replacement->temporary,
			    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	}
	return fd;
}

static int open_temporary(struct replacement *replacement)
{
	int fd = openat(replacement->directory, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);

	/* So it fails where the kernel or the filesystem does not have it. */
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT))
		fd = open_named(replacement);
	return fd;
}

/* Give what has none a name. @return   0 or -1 with errno */
static int link_temporary(struct replacement *replacement, int fd)
{
	char link[32];
	int rc = -1;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	for (int i = 0; i < ATTEMPTS && rc < 0 && (i == 0 || errno == EEXIST); i++) {
		choose_name(replacement);
		rc = linkat(AT_FDCWD, link, replacement->directory, replacement->temporary,
			    AT_SYMLINK_FOLLOW);
	}
	replacement->named = rc == 0;
	return rc;
}

/* @return   0 or -1 with errno */
static int open_directory(struct replacement *replacement, const char *file)
{
	const char *slash = strrchr(file, '/');
	char *directory = slash ? strndup(file, (size_t)(slash - file) + 1) : strdup(".");

	replacement->file = file;
	replacement->name = slash ? slash + 1 : file;
	replacement->directory =
		directory ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	free(directory);
	return replacement->directory < 0 ? -1 : 0;
}

/* A device, or the link /dev/stdout, must not be replaced. */
static bool can_be_replaced(struct session *session, const struct replacement *replacement)
{
	struct stat st;

	if (replacement->name[0] &&
	    (fstatat(replacement->directory, replacement->name, &st, AT_SYMLINK_NOFOLLOW) ||
	     S_ISREG(st.st_mode)))
		return true;
	session_error(session, 0, FSQ_E_USAGE, 0, replacement->file, "\"%s\" is no regular file",
		      replacement->file);
	return false;
}

static int fail(struct session *session, const struct replacement *replacement)
{
	session_errno(session, ERROR_OF_FILE, errno, replacement->file, "cannot write %s",
		      replacement->file);
	return -1;
}

bool replacement_begin(struct session *session, struct replacement *replacement, const char *file)
{
	struct writer *writer;
	int fd;

	*replacement = (struct replacement){ 0 };
	if (!file)
		return true;
	if (open_directory(replacement, file)) {
		fail(session, replacement);
		return false;
	}
	writer = malloc(sizeof(*writer));
	fd = writer && can_be_replaced(session, replacement) ? open_temporary(replacement) : -1;
	if (fd < 0) {
		if (!session->status)
			fail(session, replacement);
		free(writer);
		close(replacement->directory);
		return false;
	}
	writer_start(writer, fd);
	writer->previous = session->out;
	session->out = writer;
	return true;
}

/* @return   0, or -1 and an error was reported */
static int publish(struct session *session, struct replacement *replacement)
{
	int fd = session->out->fd;

	/* Which says so. */
	session_flush(session);
	if (session->out->errnum)
		return -1;
	if (fchmod(fd, 0644) || fsync(fd) ||
	    (!replacement->named && link_temporary(replacement, fd)) ||
	    renameat(replacement->directory, replacement->temporary, replacement->directory,
		     replacement->name))
		return fail(session, replacement);
	return 0;
}

void replacement_end(struct session *session, struct replacement *replacement, bool keep)
{
	struct writer *writer = session->out;

	if (!replacement->file)
		return;
	if ((!keep || publish(session, replacement)) && replacement->named)
		unlinkat(replacement->directory, replacement->temporary, 0);
	session->out = writer->previous;
	close(writer->fd);
	close(replacement->directory);
	free(writer);
}
