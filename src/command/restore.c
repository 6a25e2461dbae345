/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "options.h"
#include "quota/units.h"
#include "quota/whole_file.h"

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

static void restore(struct session *session, enum fsq_type type, FILE *input)
{
	struct fsq_target target = { .fd = -1, .device = "" };
	struct fsq_limits limits;
	char *device = NULL, *line = NULL;
	size_t size = 0;
	ssize_t length;
	uint32_t id;
	int rc;

	while ((length = fsq_read_line(input, &line, &size)) >= 0) {
		if (strncmp(line, DEVICE_PREFIX, strlen(DEVICE_PREFIX)) == 0) {
			free(device);
			device = strdup(line + strlen(DEVICE_PREFIX));
			target.device = device ? device : "";
		} else if (parse_line(line, &id, &limits)) {
			rc = fsq_kernel_set_limits(&target, type, id, &limits);
			if (rc)
				session_complain(session, 1, -rc, "cannot set limits");
		}
	}
	if (length != -ENODATA)
		session_note(session, (int)-length, "cannot read the dump");
	free(line);
	free(device);
}

/* Nothing but an ID and counts in plain digits, so many as there can be? sscanf(3) lets more pass.
 */
static bool is_plain(const char *line)
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

struct entry {
	uint32_t id;
	struct fsq_limits limits;
};

/* @return   whether every line was understood; else the user has been told */
static bool read_dump(struct session *session, FILE *input, struct entry **entries, size_t *count)
{
	size_t size = 0, room = 0, number = 0, total = 0;
	char *line = NULL, *device = NULL;
	ssize_t length = 0;
	bool good = true;

	while (good && (length = fsq_read_line(input, &line, &size)) >= 0) {
		struct entry entry;

		number++;
		total += (size_t)length + 1;
		if (total > FSQ_FILE_MAX) {
			length = -EFBIG;
			break;
		}
		if (strncmp(line, DEVICE_PREFIX, strlen(DEVICE_PREFIX)) == 0) {
			if (!device)
				device = strdup(line);
			good = device && strcmp(line, device) == 0;
			if (!good)
				session_complain(session, 1, FSQ_E_USAGE,
						 "line %zu begins another filesystem: restore one "
						 "at a time; nothing is set",
						 number);
			continue;
		}
		if (line[strspn(line, " \t")] == '\0')
			continue;
		good = is_plain(line) && parse_line(line, &entry.id, &entry.limits);
		if (!good) {
			session_complain(session, 1, FSQ_E_USAGE,
					 "line %zu does not hold limits; nothing is set", number);
			continue;
		}
		good = !has_lost(&entry.limits);
		if (!good) {
			session_complain(session, 1, FSQ_E_USAGE,
					 "line %zu: a limit would count as none; nothing is set",
					 number);
			continue;
		}
		if (*count == room) {
			struct entry *more;

			room = room ? 2 * room : 64;
			more = reallocarray(*entries, room, sizeof(*more));
			good = more != NULL;
			if (!good) {
				session_complain(session, 1, ENOMEM, "nothing is set");
				continue;
			}
			*entries = more;
		}
		(*entries)[(*count)++] = entry;
	}
	if (length < 0 && length != -ENODATA) {
		session_complain_of_file(session, (int)-length,
					 "cannot read the dump; nothing is set");
		good = false;
	}
	free(line);
	free(device);
	return good;
}

/*
 * At the native door every line is understood before the first is obeyed, and limits go to the
 * filesystem that was named, whatever device they were of.
 */
static void restore_here(struct session *session, enum fsq_type type, FILE *input)
{
	const struct fsq_target *target = &session->paths[session->current_path].fs->target;
	struct entry *entries = NULL;
	size_t count = 0;

	if (!read_dump(session, input, &entries, &count))
		count = 0;
	for (size_t i = 0; i < count; i++) {
		int rc = fsq_kernel_set_limits(target, type, entries[i].id, &entries[i].limits);

		if (rc)
			session_complain(session, 1, -rc, "cannot set limits of ID %u",
					 entries[i].id);
		/* What is not allowed, or not there, will not be for the next. */
		if (rc == -EPERM || rc == -ESRCH || rc == -ENOSYS)
			break;
	}
	free(entries);
}

COMMAND_FUNCTION(restore)
{
	struct selection selection = { 0 };
	const char *file = NULL;
	FILE *input = stdin;
	int option;

	options_begin();
	while ((option = getopt(argc, argv, command->options)) != -1) {
		if (option == 'f')
			file = optarg;
		else if (!options_select(&selection, option))
			return command_usage(session, command);
	}
	if (options_type_count(&selection) > 1)
		return command_usage(session, command);
	if (file)
		input = fopen(file, "re");
	if (!input) {
		session_complain_of_file(session, errno, "fopen on %s failed", file);
		return COMMAND_NEXT;
	}
	if (session->native)
		restore_here(session, options_type(&selection), input);
	else
		restore(session, options_type(&selection), input);
	if (file)
		fclose(input);
	return COMMAND_NEXT;
}
