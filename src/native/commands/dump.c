/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/accounts.h"
#include "native/cli/options.h"
#include "native/cli/until.h"
#include "native/rows/change.h"
#include "native/rows/records.h"
#include "quota/base/units.h"
#include "quota/fsquota.h"
#include "quota/limits/limits.h"
#include "shared/array.h"
#include "shared/read_file.h"

/* Words in front of the device, and of the type. */
#define DUMP_DEVICE "fs = "
#define DUMP_TYPE "# type = "

/* --- lines --- */

/* @return  whether the line has the type, which is set */
static bool take_type(const char *text, enum fsq_type *type)
{
	size_t length = strlen(DUMP_TYPE);

	if (strncmp(text, DUMP_TYPE, length) != 0)
		return false;
	for (int i = 0; i < FSQ_TYPES; i++) {
		*type = (enum fsq_type)i;
		if (strcmp(text + length, account_types[*type]) == 0)
			return true;
	}
	return false;
}

const char *dump_line_device(const char *text)
{
	size_t length = strlen(DUMP_DEVICE);

	return strncmp(text, DUMP_DEVICE, length) == 0 ? text + length : NULL;
}

bool dump_line_parse(const char *text, struct dump_line *line)
{
	uint64_t numbers[1 + 2 * FSQ_FORMS];
	char word[32];
	int length, count;

	if (strpbrk(text, "\r\v\f"))
		return false;
	for (count = 0; sscanf(text, " %31s%n", word, &length) == 1; count++) {
		/* 20 digits may not fit. */
		if (count > 2 * FSQ_FORMS || strspn(word, "0123456789") != strlen(word) ||
		    strlen(word) > 19)
			return false;
		if (count == 0 && fsq_parse_id(word, &line->id))
			return false;
		numbers[count] = strtoull(word, NULL, 10);
		text += length;
	}
	if (count != 5 && count != 7)
		return false;
	line->limits = (struct fsq_limits){ 0 };
	for (int form = 0; form < count / 2; form++) {
		line->limits.mask |= FSQ_SOFT(form) | FSQ_HARD(form);
		line->limits.soft[form] = numbers[1 + 2 * form];
		line->limits.hard[form] = numbers[2 + 2 * form];
	}
	return true;
}

/* --- dump --- */

struct dump_row {
	struct record_row record;
	struct fsq_dquot dquot; /* as text has it, in the kernel's units */
	bool first;		/* of the filesystem */
};

#define MEMBER(name) .offset = offsetof(struct dump_row, record.name)

static const struct field fields[] = {
	{ "TYPE", "type", FIELD_WORD, MEMBER(type), "user, group or project",
	  .words = account_types },
	{ "ID", "id", FIELD_ID, MEMBER(id), "ID of the user, group or project" },
	{ "NAME", "name", FIELD_TEXT, MEMBER(name), "its name" },
	FIELDS_OF_LIMITS(struct dump_row, record.),
	{ "RSOFT", "soft_realtime_bytes", FIELD_BYTES_LIMIT, MEMBER(soft_realtime_bytes),
	  "soft limit of realtime space" },
	{ "RHARD", "hard_realtime_bytes", FIELD_BYTES_LIMIT, MEMBER(hard_realtime_bytes),
	  "hard limit of realtime space" },
	{ "FILESYSTEM", "filesystem", FIELD_TEXT, MEMBER(filesystem), "device of the filesystem" },
	{ "MOUNTPOINT", "mountpoint", FIELD_TEXT, MEMBER(mountpoint), "where it is mounted" },
	{ 0 },
};

/* Read by restore, and by xfs_quota's restore, which skips the line with the type. */
static void write_dumped(struct writer *w, const void *arg)
{
	const struct dump_row *row = arg;
	const struct fsq_amounts *form = row->dquot.form;
	bool realtime = form[FSQ_REALTIME].soft || form[FSQ_REALTIME].hard;

	if (row->first)
		write_format(w, DUMP_TYPE "%s\n", account_types[row->record.type]);
	write_text(w, DUMP_DEVICE);
	write_text(w, row->record.filesystem);
	write_char(w, '\n');
	write_number_left(w, row->record.id, 10);
	for (int i = 0; i < (realtime ? FSQ_FORMS : FSQ_REALTIME); i++) {
		write_char(w, ' ');
		write_number_right(w, form[i].soft, 7);
		write_char(w, ' ');
		write_number_right(w, form[i].hard, 7);
	}
	write_char(w, '\n');
}

static const struct row_fields rows = { fields, sizeof(struct dump_row),
					"TYPE,ID,NAME,SOFT,HARD,ISOFT,IHARD,MOUNTPOINT",
					write_dumped };

struct dumping {
	struct session *session;
	const struct quota_options *options;
	struct until until;
	bool first;
};

static void dump_record(const struct fsq_dquot *dquot, void *arg)
{
	struct dumping *dump = arg;
	struct session *session = dump->session;
	const struct path_entry *path = &session->paths[session->current_path];
	struct dump_row row = { .dquot = *dquot, .first = dump->first };
	const struct until_line *line;
	char date[UNTIL_DATE];
	bool any = false;

	for (int form = 0; form < FSQ_FORMS; form++)
		any |= dquot->form[form].soft || dquot->form[form].hard;
	if (!any)
		return;
	row.record = records_row(session, path, options_type(dump->options), dquot,
				 !session_has_rows(session));
	tables_row(session, &row);
	dump->first = false;
	line = until_find(session, &dump->until, dquot->id, path->info->dev);
	if (line && options_type(dump->options) == FSQ_PROJECT)
		session_warn(session, line->directory,
			     "its limits go back on %s, and the dump has those of now; "
			     "fsquota export has those that last",
			     until_date(date, line->when));
}

static void command_dump(struct session *session, const struct invocation *invocation)
{
	const struct quota_options *options = invocation->options;
	struct dumping dump = { .session = session, .options = options, .first = true };
	struct record_range range = { 0 };

	if (!options_number(session, options->lower, &range.lower) ||
	    !options_number(session, options->upper, &range.upper))
		return;
	if (invocation->operand_count > 0) {
		command_refuse_operand(session, invocation);
		return;
	}
	if (!options_check_type(session, options))
		return;
	until_read_silently(session, &dump.until);
	records_each(session, session->paths[session->current_path].fs, options_type(options),
		     &range, dump_record, &dump);
	until_free(&dump.until);
	options_tell_of_others(session, options, session->paths[session->current_path].fs, "dump");
}

#define FIELD(member) offsetof(struct quota_options, member)

static const struct command_option range_options[] = {
	{ 'L', NULL, "lowest ID", .kind = VALUE_ID, .argument = "ID", .field = FIELD(lower) },
	{ 'U', NULL, "highest ID", .kind = VALUE_ID, .argument = "ID", .field = FIELD(upper) },
	{ 0 },
};

const struct command dump_command = {
	.name = "dump",
	.group = GROUP_RECORDS,
	.summary = "dump limits of IDs for backup",
	.synopsis = "[-g|-p|-u] [-LU] [-f file]",
	.help = "Print the limits of every project (-p, default), user (-u) or group (-g) that\n"
		"has any, in a form that restore reads.",
	.example = "dump /srv >limits\n"
		   "dump -u -f user-limits /srv",
	.options = (option_tables){ type_options, range_options, output_file_option, NULL },
	.rows = &rows,
	.options_size = sizeof(struct quota_options),
	.flags = COMMAND_FILESYSTEMS | COMMAND_READS | COMMAND_SAVES,
	.run = command_dump,
};

/* --- restore --- */

/* Of a dump with several filesystems only the lines of the one that was named count. */
struct dump {
	struct session *session;
	const struct fsq_filesystem_info *own;
	struct dump_line *lines; /* first those of own_device, if any is */
	size_t count, capacity, own_count;
	char *device; /* of the first line that names one */
	bool several;
	bool is_own; /* the last one that was named is own_device */
	bool chosen; /* the type, by an option */
	bool typed;  /* there is a line with it */
	enum fsq_type type;
};

/*
 * Parse a line of a dump.
 *
 * @return   false when it is not understood; an error was reported
 */
static bool take_dump_line(struct dump *dump, const char *text, size_t number)
{
	struct dump_line line;
	const char *device;
	enum fsq_type type;

	if (take_type(text, &type)) {
		if (dump->typed && type != dump->type)
			return session_usage_error(dump->session,
						   "line %zu begins another type: restore one at a "
						   "time; nothing is set",
						   number);
		if (dump->chosen && type != dump->type)
			return session_usage_error(
				dump->session,
				"line %zu: this is a dump of %s quota; nothing is set", number,
				account_types[type]);
		dump->typed = true;
		dump->type = type;
		return true;
	}
	device = dump_line_device(text);
	if (device) {
		if (!dump->device)
			dump->device = strdup(device);
		if (!dump->device)
			return session_errno(dump->session, 0, ENOMEM, NULL, "nothing is set");
		dump->several |= strcmp(device, dump->device) != 0;
		dump->is_own = strcmp(device, dump->own->device) == 0 ||
			       strcmp(device, dump->own->directory) == 0;
		return true;
	}
	if (text[strspn(text, " \t")] == '\0')
		return true;
	if (!dump_line_parse(text, &line))
		return session_usage_error(
			dump->session,
			"line %zu does not hold limits, as dump writes them; nothing is "
			"set; fsquota apply takes lines of export",
			number);
	for (int form = 0; form < FSQ_FORMS; form++) {
		uint64_t soft = line.limits.soft[form], hard = line.limits.hard[form];

		if (form == FSQ_INODES || (!fsq_limit_is_lost(fsq_limit_bytes(soft)) &&
					   !fsq_limit_is_lost(fsq_limit_bytes(hard))))
			continue;
		return session_usage_error(dump->session,
					   "line %zu: a limit would count as none; nothing is set",
					   number);
	}
	if (!array_add(&dump->lines, &dump->count, &dump->capacity, &line, sizeof(line)))
		return session_errno(dump->session, 0, ENOMEM, NULL, "nothing is set");
	if (dump->is_own) {
		dump->lines[dump->count - 1] = dump->lines[dump->own_count];
		dump->lines[dump->own_count++] = line;
	}
	return true;
}

/* @return   whether the dump says what to set; else an error was reported */
static bool choose_lines(struct dump *dump, const char *file)
{
	if (dump->count == 0)
		return session_error(dump->session, ERROR_OF_FILE, FSQ_E_USAGE, 0, file,
				     "there are no limits in %s", file ? file : "standard input");
	if (!dump->several)
		return true;
	if (dump->own_count && dump->own_count < dump->count)
		session_warn(dump->session, NULL,
			     "limits of other filesystems in the dump are left: name each of them");
	dump->count = dump->own_count;
	return dump->count > 0 || session_usage_error(dump->session,
						      "the dump has several filesystems, and %s is "
						      "none of them: leave in it only the lines of "
						      "one filesystem; nothing is set",
						      dump->own->device);
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
		good = take_dump_line(dump, text, ++number);
	}
	if (length < 0 && length != -ENODATA) {
		session_errno(dump->session, ERROR_OF_FILE, (int)-length, file,
			      "cannot read the dump; nothing is set");
		good = false;
	}
	free(text);
	return good;
}

/* @return   false: the operand is more likely the dump itself; an error was reported */
static bool check_is_no_file(struct session *session, const char *path)
{
	struct stat st;

	return stat(path, &st) || !S_ISREG(st.st_mode) ||
	       session_error(session, ERROR_OF_FILE, FSQ_E_USAGE, 0, path,
			     "%s is a file: fsquota restore -f %s DIR sets its limits on the "
			     "filesystem of DIR",
			     path, path);
}

/* @return   the file of -f, or NULL: standard input */
static const char *input_file(const struct quota_options *options)
{
	return options->file && strcmp(options->file, "-") != 0 ? options->file : NULL;
}

/* @return   whether the words name what to restore, and where; else an error was reported */
static bool check_restore_words(struct session *session, const struct invocation *invocation)
{
	const struct quota_options *options = invocation->options;
	char **paths = invocation->operands + invocation->operand_count;

	if (options_type_count(options) > 1) {
		command_show_usage(session, invocation->command);
		return false;
	}
	if (invocation->operand_count > 0)
		return session_usage_error(session,
					   "\"%s\" is no filesystem; a dump is read with -f FILE",
					   invocation->operands[0]);
	if (input_file(options))
		return true;
	for (; *paths; paths++)
		if (!check_is_no_file(session, *paths))
			return false;
	for (size_t i = 0; i < session->at.count; i++)
		if (!check_is_no_file(session, session->at.words[i]))
			return false;
	if (session->path_count > 1)
		return session_usage_error(session, "standard input is read once: with -f FILE "
						    "several filesystems get its limits");
	session_tell_of_terminal(session, "a dump, see fsquota-dump(8),");
	return true;
}

/* @return   whether a project has limits, and no file or directory */
static bool limits_nothing(struct fsq_filesystem *fs, uint32_t id)
{
	struct fsq_dquot dquot;

	return fsq_quota_get(fs, FSQ_PROJECT, id, &dquot) == 0 && fsq_dquot_is_limited(&dquot) &&
	       dquot.form[FSQ_INODES].used == 0;
}

static void command_restore(struct session *session, const struct invocation *invocation)
{
	const struct quota_options *options = invocation->options;
	const struct path_entry *path = &session->paths[session->current_path];
	struct dump dump = {
		.session = session,
		.own = path->info,
		.chosen = options_type_count(options) > 0,
		.type = options_type(options),
	};
	FILE *input = stdin;
	size_t idle = 0;

	if (!check_restore_words(session, invocation))
		return;
	if (input_file(options))
		input = fopen(input_file(options), "re");
	if (!input) {
		session_errno(session, ERROR_OF_FILE, errno, input_file(options),
			      "fopen on %s failed", input_file(options));
		return;
	}
	/*
	 * Parse every line before setting the first limit. Limits are set on the named filesystem, even if
	 * the dump is of one other device.
	 */
	if (!read_dump(&dump, input, input_file(options)) ||
	    !choose_lines(&dump, input_file(options)))
		dump.count = 0;
	for (size_t i = 0; i < dump.count; i++) {
		const struct dump_line *line = &dump.lines[i];
		int rc = change_limits(session, path->fs, dump.type, line->id, &line->limits);

		if (rc)
			session_errno(session, session_flag_of(dump.type), -rc, NULL,
				      "cannot set limits of ID %u", line->id);
		else if (dump.type == FSQ_PROJECT && limits_nothing(path->fs, line->id))
			idle++;
		/* The next line would fail for the same reason. */
		if (rc == -EPERM || rc == -ESRCH || rc == -ENOSYS)
			break;
	}
	if (idle)
		session_warn(session, path->directory,
			     "limits of IDs that no directory has: %zu; fsquota assign DIR --id ID "
			     "gives "
			     "an ID to one, and fsquota export saves directories with their limits",
			     idle);
	free(dump.lines);
	free(dump.device);
	if (input_file(options))
		fclose(input);
}

static const struct command_option input_option[] = {
	{ 'f', NULL, "the dump; without, standard input", .kind = VALUE_FILE, .argument = "FILE",
	  .field = FIELD(file) },
	{ 0 },
};

const struct command restore_command = {
	.name = "restore",
	.group = GROUP_RECORDS,
	.summary = "restore limits of IDs from a dump",
	.synopsis = "[-g|-p|-u] [-f file]",
	.example = "restore -f limits /srv\n"
		   "restore -f limits --dry-run /srv",
	.options = (option_tables){ type_options, input_option, dry_run_option, NULL },
	.rows = &changed_limits_rows,
	.options_size = sizeof(struct quota_options),
	.flags = COMMAND_FILESYSTEMS | COMMAND_CHANGES | COMMAND_CONFIG,
	.run = command_restore,
};
