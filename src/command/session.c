/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void complain(struct session *session, bool named, int status, const char *format,
		     va_list args) __attribute__((format(printf, 4, 0)));

static void complain(struct session *session, bool named, int status, const char *format,
		     va_list args)
{
	char *text;

	if (status && !session->status)
		session->status = status;
	session_flush_terminal(session);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	/* One call for the line, so that the lines of parallel runs do not mix. */
	if (named)
		fprintf(stderr, "%s: %s\n", session->program, text ? text : strerror(ENOMEM));
	else
		fprintf(stderr, "%s\n", text ? text : strerror(ENOMEM));
	free(text);
}

void session_complain(struct session *session, int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(session, true, status, format, args);
	va_end(args);
}

void session_complain_bare(struct session *session, int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(session, false, status, format, args);
	va_end(args);
}

struct fsq_project_names *session_names(struct session *session)
{
	struct fsq_error err;

	if (!session->names &&
	    fsq_project_names_read(&session->names, session->projid_file, &err)) {
		session_complain(session, 1, "cannot read %s: %s", err.path, strerror(err.errnum));
		/* No names, then: tried once is enough. */
		fsq_project_names_read(&session->names, "/dev/null", NULL);
	}
	return session->names;
}

void session_flush(struct session *session)
{
	bool failed_before = session->out->errnum != 0;
	int rc = writer_flush(session->out);

	if (rc && !failed_before)
		session_complain(session, 1, "cannot write the output: %s", strerror(-rc));
}

void session_flush_terminal(struct session *session)
{
	if (session->out->used && isatty(session->out->fd))
		session_flush(session);
}

bool session_output_begin(struct session *session, const char *file)
{
	struct writer *writer;
	int fd;

	if (!file)
		return true;
	fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0) {
		session_complain(session, 1, "open on %s failed: %s", file, strerror(errno));
		return false;
	}
	writer = malloc(sizeof(*writer));
	if (!writer) {
		close(fd);
		session_complain(session, 1, "open on %s failed: %s", file, strerror(ENOMEM));
		return false;
	}
	writer_start(writer, fd);
	writer->previous = session->out;
	session->out = writer;
	return true;
}

void session_output_end(struct session *session)
{
	struct writer *writer = session->out;

	if (!writer->previous)
		return;
	session_flush(session);
	session->out = writer->previous;
	if (close(writer->fd) && !writer->errnum)
		session_complain(session, 1, "cannot write the output: %s", strerror(errno));
	free(writer);
}

void session_end(struct session *session)
{
	for (size_t i = 0; i < session->path_count; i++)
		free(session->paths[i].directory);
	free(session->paths);
	for (size_t i = 0; i < session->filesystem_count; i++)
		fsq_filesystem_close(session->filesystems[i]);
	free(session->filesystems);
	fsq_project_names_free(session->names);
}
