/* SPDX-License-Identifier: Apache-2.0 */
/* Errors and warnings: a line for people, or an object for machines, see fsquota-json(5). */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "finding_words.h"
#include "quota/base/error.h"
#include "quota/fsquota.h"
#include "quota/kernel/privilege.h"
#include "session.h"
#include "shared/errno_words.h"
#include "table/json.h"

struct error {
	const char *prefix; /* in front of the message; or NULL */
	const char *path;   /* the object that failed, for JSON; or NULL */
	const char *message;
	int exit_code; /* 0: a warning */
	int errnum;    /* errno behind it, or 0 */
	enum fsq_hint hint;
	bool of_file;		    /* of a file of the caller's, not of quota: there is no hint */
	bool of_other_type;	    /* of quotas of users or groups */
	const char *hint_words;	    /* what to do about it, or NULL */
	bool path_missing;	    /* what is asked for the cause is not there */
	bool setup;		    /* fsquota setup can change that */
	struct finding_words cause; /* why it is not supported, as doctor says it; or zeros */
};

/* By exit code. */
static const char *const code_names[] = {
	"ok",	     "failed",	 "usage",   "not-supported", "not-permitted",
	"not-found", "conflict", "partial",
};

/* Replace the library's errors about a request by those about options. */
static const char *const hints[] = {
	[FSQ_HINT_MOUNT_OR_COUNT] = "it takes XFS, ext4 or f2fs, mounted with prjquota, or "
				    "--fallback=walk; see fsquota doctor",
	[FSQ_HINT_ASSIGN_OR_COUNT] = "fsquota assign puts a quota on it, --fallback=walk counts; "
				     "of a user: fsquota quota -u",
	[FSQ_HINT_READ_ONLY_REGISTRY] =
		"use --no-register, or --projects-file and --projid-file, or see fsquota.conf(5)",
	[FSQ_HINT_NO_REGISTER] = "--no-register limits it, and writes no line",
	[FSQ_HINT_WAIT_LONGER] = "wait longer with --lock-timeout",
	[FSQ_HINT_LOOK_AT_HOLDER] =
		"see what that process does, or wait longer with --lock-timeout",
	[FSQ_HINT_INSIST_ON_ID] =
		"if it was renamed: fsquota move OLD NEW; if it is part of that project: --id; if "
		"it was moved out of that, or its owner has set the ID: fsquota release --id ID",
	[FSQ_HINT_NAME_DIRECTORY] = "name that directory, or insist with --id",
	[FSQ_HINT_NAME_FILESYSTEM] = "name its filesystem with --at",
	[FSQ_HINT_KEEP_TAGS] =
		"take it off them with fsquota project -C, or leave it with --keep-tags",
	[FSQ_HINT_RELEASE_AT] = "mount it, or name where it was, with --id and --at",
	[FSQ_HINT_ALLOW_SHRINK] = "use --allow-shrink if that is meant",
	[FSQ_HINT_FORCE] = "use --force if that is meant",
	[FSQ_HINT_AROUND] = "--around, or the word around in fsquota.d, leaves it with that",
	[FSQ_HINT_ORDER_LIMITS] = "give both limits, or soft none",
	[FSQ_HINT_MAKE_PARENT] = "its parent must exist: mkdir -p makes it",
	[FSQ_HINT_ASSIGN] = "fsquota assign gives it one, fsquota usage --fallback=walk counts "
			    "without; of a user: fsquota quota -u",
	[FSQ_HINT_LOOK_AT_ID] =
		"the ID has limits or files there, see fsquota list and fsquota doctor",
	[FSQ_HINT_COPY] = "copy it, then fsquota assign NEW --like OLD, and fsquota release OLD",
	[FSQ_HINT_COPIED] =
		"if mv has copied it: fsquota assign NEW --like OLD, then fsquota prune",
	[FSQ_HINT_MADE_AGAIN] =
		"if it was made again, as by fsquota apply: rmdir it, and then fsquota move",
	[FSQ_HINT_ASSIGN_LESS] = "fsquota assign sets a limit below what is in use",
};

/* Find what the user can do about it. */
static const char *hint_of_error(const struct error *error)
{
	if (hints[error->hint])
		return hints[error->hint];
	if (error->hint || error->of_file)
		return fsq_hint_text(error->hint);
	switch (error->errnum) {
	case EPERM:
		/* fsq_is_privileged() costs system calls: ask only for EPERM. */
		return fsq_is_privileged()
			       ? "root of the host may: an immutable file, see lsattr(1), a "
				 "seccomp filter or a security module forbids it"
			       : "this takes CAP_SYS_ADMIN in the initial user namespace: run it "
				 "as root of the host; fsquota usage DIR works without, where "
				 "a limit is set, and fsquota-batch(8) lets others look";
	case ERANGE:
		return "this filesystem cannot hold so large a number";
	case EUCLEAN:
		return "the quota records are damaged: fsquota doctor names the repair";
	case EROFS:
		return "remount it read-write first";
	default:
		return NULL;
	}
}

/* --- why something is not supported --- */

/* A finding that explains it: any type of quota, or only that of projects; and fsquota setup can change that. */
enum { EXPLAINS = 1, OF_PROJECTS = 2, BY_SETUP = 4 };

static const unsigned char causes[] = {
	[FSQ_FINDING_NOT_MOUNTED] = EXPLAINS,
	[FSQ_FINDING_SECCOMP] = EXPLAINS,
	[FSQ_FINDING_KERNEL_WITHOUT_QUOTA] = EXPLAINS,
	[FSQ_FINDING_NO_DEVICE_NODE] = EXPLAINS,
	[FSQ_FINDING_OTHER_FILESYSTEM] = EXPLAINS,
	[FSQ_FINDING_BTRFS] = EXPLAINS,
	[FSQ_FINDING_TMPFS] = EXPLAINS,
	[FSQ_FINDING_NETWORK] = EXPLAINS,
	[FSQ_FINDING_OVERLAY] = EXPLAINS,
	[FSQ_FINDING_OVERLAY_LIMITED] = EXPLAINS,
	[FSQ_FINDING_OVERLAY_UNLIMITED] = EXPLAINS,
	[FSQ_FINDING_OVERLAY_SPLIT] = EXPLAINS,
	[FSQ_FINDING_EXT4_INODE_SIZE] = OF_PROJECTS,
	[FSQ_FINDING_F2FS_FEATURES] = OF_PROJECTS,
	[FSQ_FINDING_EXT4_FEATURES] = OF_PROJECTS | BY_SETUP,
	[FSQ_FINDING_QUOTA_OFF] = OF_PROJECTS | BY_SETUP,
	[FSQ_FINDING_ROOT_FLAGS] = OF_PROJECTS | BY_SETUP,
	[FSQ_FINDING_NOT_ENFORCED] = BY_SETUP,
};

static enum fsq_visit look_at_finding(const struct fsq_finding *finding, void *arg)
{
	struct error *error = arg;
	const unsigned int cause = finding->id < sizeof(causes) ? causes[finding->id] : 0;

	if (!cause || ((cause & OF_PROJECTS) && error->of_other_type) ||
	    (finding->id == FSQ_FINDING_NOT_ENFORCED && error->hint != FSQ_HINT_ENFORCE))
		return FSQ_VISIT_CONTINUE;
	error->setup = cause & BY_SETUP;
	if (!finding_words_get(&error->cause, finding))
		error->cause = (struct finding_words){ 0 };
	return FSQ_VISIT_STOP;
}

static void note_missing(const struct fsq_error *err, void *arg)
{
	((struct error *)arg)->path_missing = err->errnum == ENOENT;
}

/*
 * Explain why something is not supported, if the path is known. Takes a look at the mount.
 *
 * @return   the hint, for free(3); NULL: no quota is missing, or there is no memory
 */
static char *find_cause(struct error *error)
{
	char *there, *path, *hint = NULL, *slash;
	const struct fsq_diagnose_request request = {
		.size = sizeof(request),
		.paths = (const char *const *)&there,
		.path_count = 1,
		.filesystems_only = true,
		.failed = note_missing,
		.no_repairs = true,
	};
	bool of_quota = error->hint == FSQ_HINT_MOUNT_WITH_QUOTA ||
			error->hint == FSQ_HINT_MOUNT_OR_COUNT || error->hint == FSQ_HINT_ENFORCE;
	const char *first = "";

	if (!error->path || (!of_quota && error->errnum != ENODEV &&
			     fsq_error_kind_of(error->errnum) != FSQ_E_NOT_SUPPORTED))
		return NULL;
	there = strdup(error->path);
	/* Of a directory that is to be made what is above it says why. */
	while (there) {
		error->path_missing = false;
		fsq_diagnose(&request, look_at_finding, error, NULL);
		slash = strrchr(there, '/');
		if (!error->path_missing || !slash || slash == there)
			break;
		*slash = '\0';
	}
	if (error->hint == FSQ_HINT_MOUNT_OR_COUNT)
		first = "--fallback=walk counts; ";
	else if (!error->cause.word &&
		 (error->errnum == ESRCH || (error->errnum && error->of_other_type)))
		first = error->of_other_type ? "this type of quota is off: mount the filesystem "
					       "with usrquota or grpquota; "
					     : "this type of quota is off: mount the filesystem "
					       "with prjquota; ";
	path = there ? quote_for_shell(there) : NULL;
	free(there);
	if (!path || asprintf(&hint, "%ssee fsquota %s %s", first,
			      error->setup ? "setup" : "doctor", path) < 0)
		hint = NULL;
	free(path);
	/* The sentence replaces the library's message that there is no quota. */
	if (!error->errnum && error->cause.sentence)
		error->message = error->cause.sentence;
	return hint;
}

/* --- printing --- */

/* A tenant's name must not start a new line. */
static void print_error_line(struct writer *w, const struct session *session,
			     const struct error *error)
{
	write_format(w, "%s: ", session->program);
	if (error->prefix) {
		write_escaped(w, error->prefix);
		write_text(w, ": ");
	}
	write_escaped(w, error->message);
	if (error->errnum) {
		write_text(w, ": ");
		write_escaped(w, error->cause.sentence ? error->cause.sentence
						       : errno_words(error->errnum));
	}
	if (error->hint_words)
		write_format(w, " (%s)", error->hint_words);
	write_char(w, '\n');
}

/* The member of an object that is open. */
static void print_member(struct json *json, const struct error *error)
{
	char *message = NULL;

	json_open(json, error->exit_code ? "error" : "warning", '{');
	if (error->exit_code)
		json_string(json, "code", code_names[error->exit_code]);
	json_string(json, "errno", errno_name(error->errnum));
	json_string(json, "path", error->path);
	/* Add the cause, unless it repeats errno's text. */
	if (error->errnum && error->cause.sentence &&
	    asprintf(&message, "%s: %s", error->message, error->cause.sentence) < 0)
		message = NULL;
	json_string(json, "message", message ? message : error->message);
	free(message);
	if (error->exit_code) {
		json_string(json, "cause", error->cause.word);
		json_string(json, "hint", error->hint_words);
	}
	json_close(json, '}');
}

static void print_error(struct session *session, struct error *error)
{
	/* One write for each, so that lines of parallel runs do not mix. */
	static struct writer standard_error;
	struct writer *to = &standard_error;
	bool in_answer = session->error != NULL;
	/* In a request of batch, the first error is a member of the answer. */
	bool first = in_answer && error->exit_code && session->error->text->used == 0;
	char *hint = NULL;
	struct json json;

	if (session->silent)
		return;
	if (error->exit_code == session_exit_code(FSQ_E_NOT_SUPPORTED))
		hint = find_cause(error);
	else if (error->path && session->suggest &&
		 (error->errnum == ENOENT || error->hint == FSQ_HINT_ASSIGN_OR_COUNT ||
		  error->hint == FSQ_HINT_ASSIGN))
		hint = session->suggest(session, error->path, error->errnum != ENOENT);
	if (hint || hint_of_error(error))
		error->hint_words = hint ? hint : hint_of_error(error);
	if (error->exit_code && !session->status)
		session->status = error->exit_code;
	session->no_memory |= error->errnum == ENOMEM;
	if (writer_needs_flush(session->out))
		writer_flush(session->out);
	if (session->keeps_error && error->exit_code && !session->first_error.used) {
		writer_start_text(to, &session->first_error);
		print_error_line(to, session, error);
		goto out;
	}
	if (in_answer)
		to = first ? session->error : session->messages;
	else
		writer_start(to, STDERR_FILENO);
	if (in_answer || session->json) {
		json_start(&json, to);
		json.first = !in_answer;
		if (!first)
			json_open(&json, NULL, '{');
		print_member(&json, error);
		if (!first)
			json_close(&json, '}');
		if (!in_answer)
			json_end(&json);
	} else {
		print_error_line(to, session, error);
	}
out:
	writer_flush(to);
	finding_words_clear(&error->cause);
	free(hint);
}

bool session_error(struct session *session, unsigned int flags, int code, int errnum,
		   const char *path, const char *format, ...)
{
	/* The filesystem that is worked on. */
	const char *current =
		session->current_path < 0 ? NULL : session->paths[session->current_path].directory;
	struct error error = {
		.prefix = (flags & ERROR_AT_PATH) && path ? path : current,
		.path = path,
		.exit_code = session_exit_code(code),
		.errnum = errnum,
		.hint = flags & ERROR_NO_QUOTA ? FSQ_HINT_MOUNT_WITH_QUOTA : FSQ_HINT_NONE,
		.of_file = flags & ERROR_OF_FILE,
		.of_other_type = flags & ERROR_OTHER_TYPE,
	};
	char text[512], *longer = NULL;
	va_list args, again;

	if (!path && code != FSQ_E_USAGE)
		error.path = error.prefix;
	/* No allocation here: the error may be that there is no memory. */
	va_start(args, format);
	va_copy(again, args);
	if (vsnprintf(text, sizeof(text), format, args) >= (int)sizeof(text) &&
	    vasprintf(&longer, format, again) < 0)
		longer = NULL;
	va_end(again);
	va_end(args);
	error.message = longer ? longer : text;
	print_error(session, &error);
	free(longer);
	return false;
}

int session_exit_code(int code)
{
	return code ? FSQ_E_FAILED + 1 - code : 0;
}

void session_settle_status(struct session *session)
{
	if (session->changed && session->status == session_exit_code(FSQ_E_USAGE))
		session->status = session_exit_code(FSQ_E_PARTIAL);
}

unsigned int session_flag_of(enum fsq_type type)
{
	return type == FSQ_PROJECT ? 0 : ERROR_OTHER_TYPE;
}

bool session_fail_hint(struct session *session, const struct fsq_error *err, const char *hint)
{
	const char *path = err->path[0] ? err->path : NULL;

	print_error(session, &(struct error){
				     .prefix = path,
				     .path = path,
				     .message = err->message,
				     .exit_code = session_exit_code(err->kind),
				     .errnum = err->errnum,
				     .hint = err->hint,
				     .hint_words = hint,
			     });
	return false;
}

bool session_fail(struct session *session, const struct fsq_error *err)
{
	return session_fail_hint(session, err, NULL);
}

bool session_fail_missing(struct session *session, const struct fsq_error *err,
			  const char *directory, const char *hint)
{
	size_t length = strlen(err->path);
	/* A message has no slash at the end. */
	bool is_it = strncmp(err->path, directory, length) == 0 &&
		     directory[length + strspn(directory + length, "/")] == '\0';

	return session_fail_hint(session, err, err->errnum == ENOENT && is_it ? hint : NULL);
}

int session_code_of(int errnum, const char *path)
{
	/* From a quota call it means that the filesystem has no block device. */
	return errnum == ENODEV && !path ? FSQ_E_NOT_SUPPORTED : fsq_error_kind_of(errnum);
}

bool session_forbidden(struct session *session)
{
	int current = session->current_path;

	if (session->forbidden)
		return false;
	session->forbidden = true;
	if (session->path_count > 1)
		session->current_path = -1;
	session_errno(session, 0, EPERM, NULL, "cannot read quotas of others");
	session->current_path = current;
	return false;
}

bool session_no_memory(struct session *session)
{
	return session_errno(session, 0, ENOMEM, NULL, "cannot go on");
}

void session_warn_not_enforced(struct session *session, const char *path)
{
	session_warn(session, path, "limits are not enforced on this filesystem: they stop nobody");
}
