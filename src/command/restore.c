/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "change.h"
#include "dump_line.h"
#include "options.h"
#include "quota/fsquota.h"
#include "shared/array.h"
#include "shared/read_file.h"

/* Limits go to the devices that the dump names. */
static void restore(struct session *session, enum fsq_type type, FILE *input)
{
	struct fsq_filesystem *fs = NULL;
	const char *device;
	struct dump_line dumped;
	struct fsq_error err;
	char *line = NULL;
	size_t size = 0;
	ssize_t length;
	int rc = fsq_filesystem_of_device(&fs, "", &err);

	while (rc == 0 && (length = fsq_read_line(input, &line, &size)) >= 0) {
		device = dump_line_device(line);
		if (device) {
			fsq_filesystem_close(fs);
			fs = NULL;
			rc = fsq_filesystem_of_device(&fs, device, &err);
		} else if (dump_line_parse(line, &dumped)) {
			int failed = fsq_quota_set_limits(fs, type, dumped.id, &dumped.limits);

			if (failed)
				session_errno(session, 0, -failed, NULL, "cannot set limits");
		}
	}
	if (rc)
		session_fail(session, &err);
	else if (length != -ENODATA)
		session_errno(session, ERROR_SILENT, (int)-length, NULL, "cannot read the dump");
	fsq_filesystem_close(fs);
	free(line);
}

static bool has_lost(const struct fsq_limits *limits)
{
	for (int form = 0; form < FSQ_FORMS; form++)
		if (form != FSQ_INODES && (fsq_limit_is_lost(fsq_limit_bytes(limits->soft[form])) ||
					   fsq_limit_is_lost(fsq_limit_bytes(limits->hard[form]))))
			return true;
	return false;
}

struct dump {
	struct session *session;
	struct dump_line *lines;
	size_t count, capacity;
	char *device; /* of the first line that names one */
};

/*
 * Take over a line of a dump.
 *
 * @return   false when it is not understood; an error was reported
 */
static bool take_line(struct dump *dump, const char *text, size_t number)
{
	struct dump_line line, *lines;

	if (dump_line_device(text)) {
		if (!dump->device)
			dump->device = strdup(text);
		if (!dump->device) {
			session_errno(dump->session, 0, ENOMEM, NULL, "nothing is set");
			return false;
		}
		if (strcmp(text, dump->device) == 0)
			return true;
		session_usage_error(dump->session,
				    "line %zu begins another filesystem: restore one at a time; "
				    "nothing is set",
				    number);
		return false;
	}
	if (text[strspn(text, " \t")] == '\0')
		return true;
	if (!dump_line_is_strict(text) || !dump_line_parse(text, &line)) {
		session_usage_error(dump->session, "line %zu does not hold limits; nothing is set",
				    number);
		return false;
	}
	if (has_lost(&line.limits)) {
		session_usage_error(dump->session,
				    "line %zu: a limit would count as none; nothing is set",
				    number);
		return false;
	}
	lines = array_grow(dump->lines, dump->count, &dump->capacity, sizeof(*lines));
	if (!lines) {
		session_errno(dump->session, 0, ENOMEM, NULL, "nothing is set");
		return false;
	}
	dump->lines = lines;
	lines[dump->count++] = line;
	return true;
}

/* @return   whether every line was understood; else an error was reported */
static bool read_dump(struct dump *dump, FILE *input, const char *file)
{
	size_t size = 0, number = 0, total = 0;
	char *text = NULL;
	ssize_t length = 0;
	bool good = true;

	while (good && (length = fsq_read_line(input, &text, &size)) >= 0) {
		total += (size_t)length + 1;
		if (total > FSQ_FILE_MAX) {
			length = -EFBIG;
			break;
		}
		good = take_line(dump, text, ++number);
	}
	if (length < 0 && length != -ENODATA) {
		session_errno(dump->session, ERROR_OF_FILE, (int)-length, file,
			      "cannot read the dump; nothing is set");
		good = false;
	}
	free(text);
	return good;
}

/*
 * At the native door every line is understood before the first is obeyed, and limits go to the
 * filesystem that was named, even if the dump is of another device.
 */
static void restore_here(struct session *session, enum fsq_type type, FILE *input, const char *file)
{
	struct fsq_filesystem *fs = session->paths[session->current_path].fs;
	struct dump dump = { .session = session };

	if (!read_dump(&dump, input, file))
		dump.count = 0;
	for (size_t i = 0; i < dump.count; i++) {
		const struct dump_line *line = &dump.lines[i];
		int rc = change_limits(session, fs, type, line->id, &line->limits);

		if (rc)
			session_errno(session, session_flag_of(type), -rc, NULL,
				      "cannot set limits of ID %u", line->id);
		/* What is not allowed, or not there, will not be for the next. */
		if (rc == -EPERM || rc == -ESRCH || rc == -ENOSYS)
			break;
	}
	free(dump.lines);
	free(dump.device);
}

static void command_restore(struct session *session, const struct invocation *invocation)
{
	const struct quota_options *options = invocation->options;
	FILE *input = stdin;

	if (options_type_count(options) > 1) {
		command_show_usage(session, invocation->command);
		return;
	}
	if (options->file)
		input = fopen(options->file, "re");
	if (!input) {
		session_errno(session, ERROR_OF_FILE, errno, options->file, "fopen on %s failed",
			      options->file);
		return;
	}
	if (session->native)
		restore_here(session, options_type(options), input, options->file);
	else
		restore(session, options_type(options), input);
	if (options->file)
		fclose(input);
}

#define FIELD(member) offsetof(struct quota_options, member)

static const struct command_option input_option[] = {
	{ 'f', NULL, "the dump; without, standard input", .kind = VALUE_FILE, .argument = "FILE",
	  .field = FIELD(file) },
	{ 0 },
};

const struct command restore_command = {
	.name = "restore",
	.summary = "restore quota limits from a backup file",
	.synopsis = "[-g|-p|-u] [-f file]",
	.options = (option_tables){ default_users_option, other_types_options, input_option,
				    dry_run_option, NULL },
	.options_size = sizeof(struct quota_options),
	.flags = COMMAND_XFS_QUOTA | COMMAND_FOREIGN | COMMAND_EXPERT | COMMAND_CHANGES,
	.run = command_restore,
};
