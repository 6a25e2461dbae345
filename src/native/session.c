/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cause.h"
#include "error_text.h"
#include "signals.h"
#include "quota/fsquota.h"

struct session session_new(struct writer *out)
{
	return (struct session){
		.program = "fsquota",
		.projects_file = FSQ_PROJECTS_FILE,
		.projid_file = FSQ_PROJID_FILE,
		.lock_seconds = FSQ_LOCK_SECONDS,
		.current_path = -1,
		.out = out,
	};
}

/* The directory of the filesystem that is worked on. */
static const char *current_directory(const struct session *session)
{
	if (session->current_path < 0)
		return NULL;
	return session->paths[session->current_path].directory;
}

static void print(struct session *session, struct error_row *row, enum fsq_hint hint, bool projects)
{
	struct cause cause = { 0 };

	if (row->code == session_exit_code(FSQ_E_NOT_SUPPORTED))
		cause_explain(&cause, row, hint, projects);
	/* fsq_is_privileged() costs system calls. */
	row->is_root = row->errnum == EPERM && fsq_is_privileged();
	if (row->code && !session->status)
		session->status = row->code;
	session->no_memory |= row->errnum == ENOMEM;
	session_flush_terminal(session);
	if (!session->error)
		print_error(row, session->json ? ERROR_DOCUMENT : ERROR_LINE, NULL);
	else if (row->code && session->error->text->used == 0)
		print_error(row, ERROR_MEMBER, session->error);
	else
		print_error(row, ERROR_ELEMENT, session->messages);
	cause_clear(&cause);
}

static void report(struct session *session, unsigned int flags, int code, int errnum,
		   const char *path, const char *format, va_list args)
	__attribute__((format(printf, 6, 0)));

static void report(struct session *session, unsigned int flags, int code, int errnum,
		   const char *path, const char *format, va_list args)
{
	struct error_row row = {
		.program = session->program,
		.place = (flags & ERROR_AT_PATH) && path ? path : current_directory(session),
		.path = path,
		.code = session_exit_code(code),
		.errnum = errnum,
		.of_file = flags & ERROR_OF_FILE,
	};
	char text[512], *longer = NULL;
	va_list again;

	if (!path && code != FSQ_E_USAGE)
		row.path = row.place;
	/* That there is no memory can be said without, and so can most. */
	va_copy(again, args);
	if (vsnprintf(text, sizeof(text), format, args) >= (int)sizeof(text) &&
	    vasprintf(&longer, format, again) < 0)
		longer = NULL;
	va_end(again);
	row.message = longer ? longer : text;
	print(session, &row, flags & ERROR_NO_QUOTA ? FSQ_HINT_MOUNT_WITH_QUOTA : FSQ_HINT_NONE,
	      !(flags & ERROR_OTHER_TYPE));
	free(longer);
}

int session_exit_code(int code)
{
	switch (code) {
	case FSQ_OK:
		return 0;
	case FSQ_E_USAGE:
		return 2;
	case FSQ_E_NOT_SUPPORTED:
		return 3;
	case FSQ_E_PERMISSION:
		return 4;
	case FSQ_E_NOT_FOUND:
		return 5;
	case FSQ_E_CONFLICT:
		return 6;
	case FSQ_E_PARTIAL:
		return 7;
	default:
		return 1;
	}
}

unsigned int session_flag_of(enum fsq_type type)
{
	return type == FSQ_PROJECT ? 0 : ERROR_OTHER_TYPE;
}

void session_fail(struct session *session, const struct fsq_error *err)
{
	const char *path = err->path[0] ? err->path : NULL;
	struct error_row row = {
		.program = session->program,
		.place = path,
		.path = path,
		.message = err->message,
		.code = session_exit_code(err->kind),
		.errnum = err->errnum,
		.hint = hint_words(err->hint),
	};

	print(session, &row, err->hint, true);
}

void session_error(struct session *session, unsigned int flags, int code, int errnum,
		   const char *path, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	report(session, flags, code, errnum, path, format, args);
	va_end(args);
}

void session_errno(struct session *session, unsigned int flags, int errnum, const char *path,
		   const char *format, ...)
{
	int code = fsq_error_kind_of(errnum);
	va_list args;

	/* Of a quota call: the filesystem has no block device. */
	if (errnum == ENODEV && !path)
		code = FSQ_E_NOT_SUPPORTED;
	va_start(args, format);
	report(session, flags, code, errnum, path, format, args);
	va_end(args);
}

void session_usage_error(struct session *session, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	report(session, 0, FSQ_E_USAGE, 0, NULL, format, args);
	va_end(args);
}

void session_warn(struct session *session, const char *path, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	report(session, ERROR_AT_PATH, FSQ_OK, 0, path, format, args);
	va_end(args);
}

struct fsq_registry session_registry(const struct session *session)
{
	return (struct fsq_registry){
		.size = sizeof(struct fsq_registry),
		.projects_file = session->projects_file,
		.projid_file = session->projid_file,
		.none = session->no_register,
		.lock_seconds = session->lock_seconds,
	};
}

void session_note_projects(struct session *session, const struct fsq_error *err)
{
	if (err->errnum != ENOENT && err->errnum != ENOTDIR)
		session_errno(session, 0, err->errnum, err->path, "cannot read %s", err->path);
}

int session_read_names(struct session *session, struct fsq_error *err)
{
	session->names_read = true;
	return session->cache
		       ? fsq_cache_names(session->cache, session->projid_file, &session->names, err)
		       : fsq_project_names_read(&session->names, session->projid_file, err);
}

void session_forget_names(struct session *session)
{
	if (!session->cache)
		fsq_project_names_free(session->names);
	session->names = NULL;
	session->names_read = false;
}

struct fsq_project_names *session_names(struct session *session)
{
	struct fsq_error err;

	if (!session->names_read && session_read_names(session, &err))
		session_errno(session, 0, err.errnum, err.path, "cannot read %s", err.path);
	return session->names;
}

void session_flush(struct session *session)
{
	int rc = writer_flush(session->out);
	bool told = session->out->told;

	session->out->told |= rc != 0;
	if (rc && !told)
		session_errno(session, 0, -rc, NULL, "cannot write the output");
}

void session_flush_terminal(struct session *session)
{
	if (session->out->used && session->out->fd >= 0 && isatty(session->out->fd))
		session_flush(session);
}

bool session_output_begin(struct session *session, const char *file)
{
	int rc = file ? writer_push_file(&session->out, file) : 0;

	if (rc)
		session_errno(session, ERROR_OF_FILE, -rc, file, "open on %s failed", file);
	return rc == 0;
}

void session_output_end(struct session *session)
{
	int rc;

	if (!session->out->previous)
		return;
	session_flush(session);
	rc = writer_pop(&session->out);
	if (rc)
		session_errno(session, 0, -rc, NULL, "cannot write the output");
}

void session_end(struct session *session)
{
	for (size_t i = 0; i < session->path_count; i++)
		free(session->paths[i].directory);
	free(session->paths);
	free(session->unseen);
	for (size_t i = 0; i < session->filesystem_count; i++)
		fsq_filesystem_close(session->filesystems[i]);
	free(session->filesystems);
	free(session->at);
	free(session->config_text);
	session_forget_names(session);
}

bool session_is_stopped(struct session *session)
{
	/* The question is a system call. */
	if (session->batch && ++session->visits % 64 == 0)
		session->stopped |= is_signal_pending(NULL);
	return session->stopped;
}

void session_tell_stop(struct session *session, const char *path)
{
	if (session->stopped)
		session_errno(session, 0, EINTR, path, "%s: stopped", path);
}

void session_wait(struct session *session)
{
	if (!session->batch)
		return;
	session->has_waited = true;
	session->before_waiting(session->batch);
}
