/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "change.h"
#include "options.h"
#include "quota/fsquota.h"
#include "shared/array.h"
#include "shared/read_file.h"

#define DEVICE_PREFIX "fs = "

/*
 * "ID BSOFT BHARD ISOFT IHARD [RTBSOFT RTBHARD]". What xfs_quota dumped as a negative number is an
 * ID above 2^31.
 * @return   whether the line is one
 */
static bool parse_line(const char *line, uint32_t *id, struct fsq_limits *limits)
{
	unsigned long long soft[FSQ_FORMS] = { 0 }, hard[FSQ_FORMS] = { 0 };
	int count = sscanf(line, "%u %llu %llu %llu %llu %llu %llu", id, &soft[FSQ_BLOCKS],
			   &hard[FSQ_BLOCKS], &soft[FSQ_INODES], &hard[FSQ_INODES],
			   &soft[FSQ_REALTIME], &hard[FSQ_REALTIME]);

	if (count != 5 && count != 7)
		return false;
	*limits = (struct fsq_limits){ 0 };
	for (int form = 0; form < (count == 7 ? FSQ_FORMS : FSQ_REALTIME); form++) {
		limits->mask |= FSQ_SOFT(form) | FSQ_HARD(form);
		limits->soft[form] = soft[form];
		limits->hard[form] = hard[form];
	}
	return true;
}

/* Limits go to the devices that the dump names. */
static void restore(struct session *session, enum fsq_type type, FILE *input)
{
	struct fsq_filesystem *fs = NULL;
	struct fsq_limits limits;
	struct fsq_error err;
	char *line = NULL;
	size_t size = 0;
	ssize_t length;
	uint32_t id;
	int rc = fsq_filesystem_of_device(&fs, "", &err);

	while (rc == 0 && (length = fsq_read_line(input, &line, &size)) >= 0) {
		if (strncmp(line, DEVICE_PREFIX, strlen(DEVICE_PREFIX)) == 0) {
			fsq_filesystem_close(fs);
			fs = NULL;
			rc = fsq_filesystem_of_device(&fs, line + strlen(DEVICE_PREFIX), &err);
		} else if (parse_line(line, &id, &limits)) {
			int failed = fsq_quota_set_limits(fs, type, id, &limits);

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

/* Nothing but an ID and counts in plain digits, so many as there can be? sscanf(3) lets more pass.
 */
static bool is_strict_line(const char *line)
{
	char word[32];
	uint32_t id;
	int length, words;

	for (words = 0; sscanf(line, " %31s%n", word, &length) == 1; words++) {
		/* 20 digits may not fit. */
		if (strspn(word, "0123456789") != strlen(word) || strlen(word) > 19)
			return false;
		if (words == 0 && fsq_parse_id(word, &id))
			return false;
		line += length;
	}
	return words <= 1 + 2 * FSQ_FORMS && !strpbrk(line, "\r\v\f");
}

static bool has_lost(const struct fsq_limits *limits)
{
	for (int form = 0; form < FSQ_FORMS; form++)
		if (form != FSQ_INODES && (fsq_limit_is_lost(fsq_limit_bytes(limits->soft[form])) ||
					   fsq_limit_is_lost(fsq_limit_bytes(limits->hard[form]))))
			return true;
	return false;
}

struct dump_line {
	uint32_t id;
	struct fsq_limits limits;
};

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

	if (strncmp(text, DEVICE_PREFIX, strlen(DEVICE_PREFIX)) == 0) {
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
	if (!is_strict_line(text) || !parse_line(text, &line.id, &line.limits)) {
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
