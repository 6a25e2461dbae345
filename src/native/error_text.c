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

const char *hint_words(enum fsq_hint hint)
{
	static const char *const words[] = {
		[FSQ_HINT_NONE] = NULL,
		[FSQ_HINT_NAME_MOUNTED] = "name a directory of a mounted filesystem, or its device",
		[FSQ_HINT_MOUNT_WITH_QUOTA] = "it takes XFS, ext4 or f2fs, mounted with prjquota; "
					      "see fsquota doctor",
		[FSQ_HINT_ENFORCE] = "see fsquota doctor",
		[FSQ_HINT_MOUNT_OR_COUNT] = "it takes XFS, ext4 or f2fs, mounted with prjquota, or "
					    "--fallback=walk; see fsquota doctor",
		[FSQ_HINT_ASSIGN_OR_COUNT] = "fsquota assign puts a quota on it, --fallback=walk "
					     "counts",
		[FSQ_HINT_ROOT_ONLY] = "only root may change it",
		[FSQ_HINT_IMMUTABLE] = "is it immutable? see lsattr(1)",
		[FSQ_HINT_READ_ONLY_REGISTRY] = "use --no-register, or --projects-file and "
						"--projid-file, or see fsquota.conf(5)",
		[FSQ_HINT_WAIT_LONGER] = "wait longer with --lock-timeout",
		[FSQ_HINT_LOOK_AT_HOLDER] = "see what that process does, or wait longer with "
					    "--lock-timeout",
		[FSQ_HINT_INSIST_ON_ID] =
			"its owner may have set it; if it belongs to that project "
			"say so with --id",
		[FSQ_HINT_NAME_DIRECTORY] = "name that directory, or insist with --id",
		[FSQ_HINT_PROJECT_ABOVE] = "it belongs to the project of a directory above it",
		[FSQ_HINT_RELEASE_AGAIN] = "the quota stays; release it again",
		[FSQ_HINT_NAME_FILESYSTEM] = "name its filesystem with --at",
		[FSQ_HINT_KEEP_TAGS] = "take it off them with fsquota project -C, or leave it with "
				       "--keep-tags",
		[FSQ_HINT_RELEASE_AT] = "mount it, or name where it was, with --id and --at",
		[FSQ_HINT_ALLOW_SHRINK] = "use --allow-shrink if that is meant",
	};

	return words[hint];
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

static void print_object(const struct error_row *row, enum error_form form, struct writer *to)
{
	struct json json;

	json_start(&json, to);
	json.first = form == ERROR_DOCUMENT;
	if (form != ERROR_MEMBER)
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
	if (form != ERROR_MEMBER)
		json_close(&json, '}');
	if (form == ERROR_DOCUMENT)
		json_end(&json);
}

void print_error(const struct error_row *error, enum error_form form, struct writer *to)
{
	/* One write for each, so that lines of parallel runs do not mix. */
	static struct writer standard_error;
	struct error_row with_hint = *error;

	with_hint.hint = hint_of(error);
	if (!to) {
		to = &standard_error;
		writer_start(to, STDERR_FILENO);
	}
	if (form == ERROR_LINE)
		print_line(&with_hint, to);
	else
		print_object(&with_hint, form, to);
	writer_flush(to);
}
