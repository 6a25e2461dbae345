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
	bool chosen;  /* the type, by an option */
	bool typed;   /* there is a line with it */
	enum fsq_type type;
};

/*
 * Take over a line of a dump.
 *
 * @return   false when it is not understood; an error was reported
 */
static bool take_line(struct dump *dump, const char *text, size_t number)
{
	struct dump_line line, *lines;
	enum fsq_type type;

	if (dump_line_type(text, &type)) {
		if (dump->typed && type != dump->type)
			session_usage_error(dump->session,
					    "line %zu begins another type: restore one at a time; "
					    "nothing is set",
					    number);
		else if (dump->chosen && type != dump->type)
			session_usage_error(dump->session,
					    "line %zu: this is a dump of %s quota; nothing is set",
					    number, account_types[type]);
		else
			dump->typed = true;
		if (dump->typed)
			dump->type = type;
		return dump->typed;
	}
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
 * Every line is understood before the first limit is set. Limits go to the filesystem that was named,
 * even if the dump is of another device.
 */
static void restore(struct session *session, const struct quota_options *options, FILE *input)
{
	struct fsq_filesystem *fs = session->paths[session->current_path].fs;
	struct dump dump = {
		.session = session,
		.chosen = options_type_count(options) > 0,
		.type = options_type(options),
	};

	if (!read_dump(&dump, input, options->file))
		dump.count = 0;
	for (size_t i = 0; i < dump.count; i++) {
		const struct dump_line *line = &dump.lines[i];
		int rc = change_limits(session, fs, dump.type, line->id, &line->limits);

		if (rc)
			session_errno(session, session_flag_of(dump.type), -rc, NULL,
				      "cannot set limits of ID %u", line->id);
		/* The next line would fail for the same reason. */
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
	restore(session, options, input);
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
	.options = (option_tables){ users_option, other_types_options, input_option, dry_run_option,
				    NULL },
	.rows = &changed_limits_rows,
	.options_size = sizeof(struct quota_options),
	.flags = COMMAND_FILESYSTEMS | COMMAND_CHANGES,
	.run = command_restore,
};
