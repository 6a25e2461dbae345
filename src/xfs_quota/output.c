/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes to standard output, to the file of -f, and messages to standard error. */
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "shared/errno_words.h"

static void print(struct writer *to, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

/* Straight into the buffer, unless the text is longer than what is left of it. */
static void print(struct writer *to, const char *format, va_list args)
{
	size_t room = WRITER_BUFFER - to->used;
	va_list again;
	char *text;
	int length;

	va_copy(again, args);
	length = vsnprintf(to->buffer + to->used, room, format, args);
	if (length < (int)room) {
		to->used += (size_t)length;
	} else if (vasprintf(&text, format, again) >= 0) {
		write_text(to, text);
		free(text);
	} else if (!to->errnum) {
		to->errnum = ENOMEM;
	}
	va_end(again);
}

void xq_print(struct writer *to, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print(to, format, args);
	va_end(args);
}

/* fsq_error_kind in its order has the exit codes of fsquota(8). */
static int exit_code(enum fsq_error_kind kind)
{
	return kind == FSQ_OK ? 0 : 1 + FSQ_E_FAILED - kind;
}

void xq_error(struct state *state, unsigned int flags, enum fsq_error_kind kind, int errnum,
	      const char *format, ...)
{
	/* One write(2) for each message, so that the lines of parallel runs do not mix. */
	static struct writer standard_error;
	bool is_broken = errnum == EIO || errnum == EUCLEAN || errnum == EFBIG || errnum == ENOMEM;
	int status = is_broken || (kind != FSQ_OK && !(flags & (XQ_STATUS_0 | XQ_SILENT)));
	va_list args;

	if (state->strict)
		status = exit_code(kind);
	if (!state->status)
		state->status = status;
	if ((flags & XQ_SILENT) && !is_broken)
		return;
	xq_flush_terminal(state);
	writer_start(&standard_error, STDERR_FILENO);
	if (!(flags & XQ_BARE))
		xq_print(&standard_error, "%s: ", state->program);
	va_start(args, format);
	print(&standard_error, format, args);
	va_end(args);
	if (errnum)
		xq_print(&standard_error, ": %s", errno_words(errnum));
	write_char(&standard_error, '\n');
	writer_flush(&standard_error);
}

void xq_out_of_memory(struct state *state)
{
	xq_errno(state, 0, ENOMEM, "cannot go on");
}

void xq_flush(struct state *state)
{
	int rc = writer_flush(state->out);
	bool is_reported = state->out->told;

	state->out->told |= rc != 0;
	if (rc && !is_reported)
		xq_errno(state, 0, -rc, "cannot write the output");
}

void xq_flush_terminal(struct state *state)
{
	if (writer_needs_flush(state->out))
		xq_flush(state);
}

bool xq_output_begin(struct state *state, const char *file)
{
	int rc = file ? writer_push_file(&state->out, file) : 0;

	if (rc)
		xq_errno(state, 0, -rc, "open on %s failed", file);
	return rc == 0;
}

void xq_output_end(struct state *state)
{
	int rc;

	if (!state->out->previous)
		return;
	xq_flush(state);
	rc = writer_pop(&state->out);
	if (rc)
		xq_errno(state, 0, -rc, "cannot write the output");
}
