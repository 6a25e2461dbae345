/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/error_text.h"

enum manner { NAMED, BARE, SILENT };

/* The directory an error is about: that of the filesystem being worked on. */
static const char *subject(const struct session *session)
{
	if (!session->native || session->current_path < 0)
		return NULL;
	return session->paths[session->current_path].directory;
}

static void complain(struct session *session, enum manner manner, int status, int why,
		     const char *format, va_list args) __attribute__((format(printf, 5, 0)));

static void complain(struct session *session, enum manner manner, int status, int why,
		     const char *format, va_list args)
{
	struct error_row row = {
		.program = manner == NAMED || session->native ? session->program : NULL,
		.path = subject(session),
		.code = why > 0 ? -fsq_code_of_errno(why) : -why,
		.errnum = why > 0 ? why : 0,
	};
	char *message;

	if (session->native || session->strict)
		status = row.code;
	if (status && !session->status)
		session->status = status;
	if (manner == SILENT && !session->native)
		return;
	session_flush_terminal(session);
	if (vasprintf(&message, format, args) < 0)
		message = NULL;
	row.message = message ? message : "out of memory";
	print_error(&row, session->native, session->json);
	free(message);
}

void session_complain(struct session *session, int status, int why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(session, NAMED, status, why, format, args);
	va_end(args);
}

void session_complain_bare(struct session *session, int status, int why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(session, BARE, status, why, format, args);
	va_end(args);
}

void session_note(struct session *session, int why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(session, SILENT, 0, why, format, args);
	va_end(args);
}

struct fsq_project_names *session_names(struct session *session)
{
	struct fsq_error err;

	if (!session->names &&
	    fsq_project_names_read(&session->names, session->projid_file, &err)) {
		session_complain(session, 1, err.errnum, "cannot read %s", err.path);
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
		session_complain(session, 1, -rc, "cannot write the output");
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
	if (session->json) {
		session_complain(session, 1, FSQ_E_USAGE,
				 "-f does not go with --json: redirect the output instead");
		return false;
	}
	fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0) {
		session_complain(session, 1, errno, "open on %s failed", file);
		return false;
	}
	writer = malloc(sizeof(*writer));
	if (!writer) {
		close(fd);
		session_complain(session, 1, ENOMEM, "open on %s failed", file);
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
		session_complain(session, 1, errno, "cannot write the output");
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
