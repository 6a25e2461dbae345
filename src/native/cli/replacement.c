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

static bool fail_to_replace(struct session *session, const struct replacement *replacement)
{
	return session_errno(session, ERROR_OF_FILE, errno, replacement->file, "cannot write %s",
			     replacement->file);
}

/* @return   0 or -1 with errno */
static int open_directory_of(struct replacement *replacement, const char *file)
{
	const char *slash = strrchr(file, '/');
	char *directory = slash ? strndup(file, (size_t)(slash - file) + 1) : strdup(".");
	uint64_t number = 0;

	replacement->name = slash ? slash + 1 : file;
	replacement->directory =
		directory ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	free(directory);
	/* node_exporter must not read it, so its name does not end with .prom. */
	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
		number = (uint64_t)getpid();
	snprintf(replacement->temporary, sizeof(replacement->temporary), ".%.200s.%016jx",
		 replacement->name, (uintmax_t)number);
	return replacement->directory < 0 ? -1 : 0;
}

bool replacement_begin(struct session *session, struct replacement *replacement, const char *file)
{
	static struct writer writer;
	struct stat st;
	int fd;

	*replacement = (struct replacement){ .file = file, .name = file, .directory = -1 };
	replacement->mode = 0644;
	replacement->is_output = strcmp(file, "-") == 0;
	if (replacement->is_output)
		return true;
	if (open_directory_of(replacement, file))
		return fail_to_replace(session, replacement);
	/* A device, or the link /dev/stdout, must not be replaced. */
	if (!replacement->name[0] ||
	    (fstatat(replacement->directory, replacement->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	     !S_ISREG(st.st_mode))) {
		session_error(session, 0, FSQ_E_USAGE, 0, file,
			      "\"%s\" is no regular file: name a file to write", file);
		close(replacement->directory);
		return false;
	}
	fd = openat(replacement->directory, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
	/* O_TMPFILE, where kernel and filesystem have it; else a file with a name. */
	replacement->named = fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT);
	if (replacement->named)
		fd = openat(replacement->directory, replacement->temporary,
			    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		fail_to_replace(session, replacement);
		close(replacement->directory);
		return false;
	}
	writer_start(&writer, fd);
	writer.previous = session->out;
	session->out = &writer;
	return true;
}

/* Give the file its name, and its mode. @return  whether that was done; else an error was reported */
static bool publish(struct session *session, struct replacement *replacement)
{
	int fd = session->out->fd;
	char link[32];

	/* This reports that the output could not be written. */
	session_flush(session);
	if (session->out->errnum)
		return false;
	if (fchmod(fd, replacement->mode) || fsync(fd))
		return fail_to_replace(session, replacement);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (!replacement->named && linkat(AT_FDCWD, link, replacement->directory,
					  replacement->temporary, AT_SYMLINK_FOLLOW))
		return fail_to_replace(session, replacement);
	replacement->named = true;
	if (renameat(replacement->directory, replacement->temporary, replacement->directory,
		     replacement->name))
		return fail_to_replace(session, replacement);
	return true;
}

bool replacement_end(struct session *session, struct replacement *replacement, bool keep)
{
	struct writer *writer = session->out;
	bool replaced = false;

	if (replacement->is_output)
		return keep;
	replaced = keep && publish(session, replacement);
	if (!replaced && replacement->named)
		unlinkat(replacement->directory, replacement->temporary, 0);
	session->out = writer->previous;
	close(writer->fd);
	close(replacement->directory);
	return replaced;
}
