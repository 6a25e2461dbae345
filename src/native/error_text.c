/* SPDX-License-Identifier: Apache-2.0 */
#include "error_text.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "shared/errno_words.h"
#include "table/json.h"

/* By exit code; those of a kind that needs no word have none. */
static const char *code_name(int code)
{
	static const char *const names[] = {
		"ok",	     "failed",	 "usage",   "not-supported", "not-permitted",
		"not-found", "conflict", "partial",
	};

	return code >= 0 && code < (int)(sizeof(names) / sizeof(names[0])) ? names[code] : names[1];
}

/* What the user can do about it. */
static const char *hint_of(const struct error_row *row)
{
	if (row->hint || row->of_file)
		return row->hint;
	switch (row->errnum) {
	case EPERM:
		return row->is_root ? "root of the host may: an immutable file, see lsattr(1), a "
				      "seccomp filter or a security module forbids it"
				    : "this takes CAP_SYS_ADMIN in the initial user namespace: run "
				      "it as root of the host";
	case ERANGE:
		return "this filesystem cannot hold so large a number";
	case EROFS:
		return "remount it read-write first";
	default:
		return NULL;
	}
}

/* Names of tenants can be no lines of their own. */
static void print_line(const struct error_row *row, struct writer *to)
{
	if (row->program) {
		write_text(to, row->program);
		write_text(to, ": ");
	}
	if (row->place) {
		write_escaped(to, row->place);
		write_text(to, ": ");
	}
	write_escaped(to, row->message);
	if (row->errnum || row->cause_words) {
		write_text(to, ": ");
		write_escaped(to, row->cause_words ? row->cause_words : errno_words(row->errnum));
	}
	if (row->hint) {
		write_text(to, " (");
		write_text(to, row->hint);
		write_char(to, ')');
	}
	write_char(to, '\n');
}

/* With the cause, but without what errno says already. */
static void write_message(struct json *json, const struct error_row *row)
{
	char *text = NULL;

	if (row->cause_words && asprintf(&text, "%s: %s", row->message, row->cause_words) < 0)
		text = NULL;
	json_string(json, "message", text ? text : row->message);
	free(text);
}

static void print_object(const struct error_row *row, struct writer *to)
{
	struct json json;

	json_start(&json, to);
	if (!to->in_answer)
		json_open(&json, NULL, '{');
	json_open(&json, row->code ? "error" : "warning", '{');
	if (row->code)
		json_string(&json, "code", code_name(row->code));
	json_string(&json, "errno", errno_name(row->errnum));
	json_string(&json, "path", row->path);
	write_message(&json, row);
	if (row->code) {
		json_string(&json, "cause", row->cause);
		json_string(&json, "hint", row->hint);
	}
	json_close(&json, '}');
	if (!to->in_answer)
		json_close(&json, '}');
	json_end(&json);
}

void print_error(const struct error_row *error, bool json, struct writer *to)
{
	/* One write for each, so that lines of parallel runs do not mix. */
	static struct writer standard_error;
	struct error_row with_hint = *error;

	with_hint.hint = hint_of(error);
	if (!to) {
		to = &standard_error;
		writer_start(to, STDERR_FILENO);
	}
	if (json)
		print_object(&with_hint, to);
	else
		print_line(&with_hint, to);
	writer_flush(to);
}
