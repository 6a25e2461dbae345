/* SPDX-License-Identifier: Apache-2.0 */
/* Flush standard output, and print messages to standard error. */
#include "command.h"

#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

#include "shared/errno_words.h"

void xq_error(struct state *state, unsigned int flags, enum fsq_error_kind kind, int errnum,
	      const char *format, ...)
{
	/* One write(2) for each message, so that the lines of parallel runs do not mix. */
	static struct writer standard_error;
	bool is_broken = errnum == EIO || errnum == EUCLEAN || errnum == EFBIG || errnum == ENOMEM;
	int status = is_broken || (kind != FSQ_OK && !(flags & (XQ_STATUS_0 | XQ_SILENT)));
	va_list args;

	/* The exit codes of fsquota(8) number the kinds of fsq_error_kind in their order, from 1. */
	if (state->strict)
		status = kind == FSQ_OK ? 0 : 1 + FSQ_E_FAILED - kind;
	if (!state->status)
		state->status = status;
	if ((flags & XQ_SILENT) && !is_broken)
		return;
	xq_flush_terminal(state);
	writer_start(&standard_error, STDERR_FILENO);
	if (!(flags & XQ_BARE))
		write_format(&standard_error, "%s: ", state->program);
	va_start(args, format);
	write_format_list(&standard_error, format, args);
	va_end(args);
	if (errnum)
		write_format(&standard_error, ": %s", errno_words(errnum));
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
	bool is_reported = state->out->reported;

	state->out->reported |= rc != 0;
	if (rc && !is_reported)
		xq_errno(state, 0, -rc, "cannot write the output");
}

void xq_flush_terminal(struct state *state)
{
	if (writer_needs_flush(state->out))
		xq_flush(state);
}

void xq_print_usage(struct state *state, const char *name, const struct command *command)
{
	write_format(state->out, "%s%s%s -- %s\n", name, command->synopsis ? " " : "",
		     command->synopsis ? command->synopsis : "", command->summary);
}

void xq_show_usage(struct state *state, const struct call *call)
{
	xq_print_usage(state, call->command->name, call->command);
}
