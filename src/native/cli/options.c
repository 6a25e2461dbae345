/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths.h"
#include "pods.h"
#include "quota/base/units.h"
#include "quota/limits/limits.h"

/* --- of the session --- */

static bool take_lock_timeout(struct session *session, const struct command_option *option,
			      void *options, const char *value)
{
	(void)option, (void)options;
	if (config_parse_seconds(value, &session->lock_seconds))
		return true;
	return session_usage_error(session, "--lock-timeout is a number of seconds, not \"%s\"",
				   value);
}

static const struct command_option json_option[] = {
	{ 0, "json", "JSON, see fsquota-json(5)", .session_field = offsetof(struct session, json) },
	{ 0 },
};

const struct command_option dry_run_option[] = {
	{ 0, "dry-run", "change nothing, only say what would change",
	  .session_field = offsetof(struct session, dry_run) },
	{ 0 },
};

const struct command_option registry_options[] = {
	{ 0, "projects-file", "instead of /etc/projects", .kind = VALUE_FILE, .argument = "F",
	  .session_field = offsetof(struct session, projects_file) },
	{ 0, "projid-file", "instead of /etc/projid", .kind = VALUE_FILE, .argument = "F",
	  .session_field = offsetof(struct session, projid_file) },
	{ 0 },
};

const struct command_option lock_option[] = {
	{ 0, "lock-timeout", "wait at most S seconds for the locks of both files: 60",
	  .kind = VALUE_NUMBER, .argument = "S", .take = take_lock_timeout },
	{ 0 },
};

const struct command_option progress_option[] = {
	{ 0, "progress", "how far it is: auto, never, always", .kind = VALUE_CHOICE,
	  .argument = "WHEN", .choices = "auto never always",
	  .choices_text = "auto, never or always",
	  .session_field = offsetof(struct session, progress) },
	{ 0 },
};

const struct command_option max_errors_option[] = {
	{ 0, "max-errors", "give up after so many files that fail", .kind = VALUE_NUMBER,
	  .argument = "N", .session_field = offsetof(struct session, max_errors),
	  .positive = true },
	{ 0 },
};

const struct command_option help_option[] = {
	{ 'h', "help", "show this and exit", .session_field = offsetof(struct session, help) },
	{ 0 },
};

static const struct command_option at_option[] = {
	{ 0, "at",
	  "the filesystem: a directory on it, its device, or\n"
	  "LABEL=, UUID=, PARTLABEL= or PARTUUID= of that",
	  .kind = VALUE_PATH, .argument = "PATH", .session_field = offsetof(struct session, at),
	  .repeats = true },
	{ 0 },
};

/* Without -h, which is a letter of xfs_quota's. */
static const struct command_option long_help_option[] = {
	{ 0, "help", "show this and exit", .session_field = offsetof(struct session, help) },
	{ 0 },
};

static const struct command_option *const options_of_filesystems[] = {
	at_option, long_table_options, registry_options, long_help_option, NULL
};

static bool take_wanted_id(struct session *session, const struct command_option *option,
			   void *options, const char *value)
{
	(void)option, (void)options;
	if (session->wanted_id)
		return session_usage_error(session, "--id is given twice: name one project a run");
	if (fsq_parse_id(value, &session->wanted_id) == 0 && session->wanted_id != 0)
		return true;
	return session_usage_error(session,
				   "\"%s\" is no project ID from 1 to %u; a name takes --name",
				   value, FSQ_ID_MAX);
}

const struct command_option chosen_options[] = {
	{ 0, "id", "instead of DIR: this project on the filesystem of --at", .kind = VALUE_ID,
	  .argument = "ID", .take = take_wanted_id },
	{ 0, "name", "instead of DIR: the project of this name", .kind = VALUE_PROJECT,
	  .argument = "NAME", .session_field = offsetof(struct session, wanted_name) },
	{ 0, "at",
	  "of --id and --name: a directory on it, its device, or\n"
	  "LABEL=, UUID=, PARTLABEL= or PARTUUID= of that",
	  .kind = VALUE_PATH, .argument = "PATH", .session_field = offsetof(struct session, at),
	  .repeats = true },
	{ 0 },
};

const struct command_option own_project_options[] = {
	{ 0, "id",
	  "insist that this ID, which DIR carries, is its own; or\n"
	  "instead of DIR: this project",
	  .kind = VALUE_ID, .argument = "ID", .take = take_wanted_id },
	{ 0, "name", "instead of DIR: the project of this name", .kind = VALUE_PROJECT,
	  .argument = "NAME", .session_field = offsetof(struct session, wanted_name) },
	{ 0, "at", "instead of DIR: the filesystem of the project", .kind = VALUE_PATH,
	  .argument = "PATH", .session_field = offsetof(struct session, at), .repeats = true },
	{ 0 },
};

bool options_stand_for_directory(const struct session *session)
{
	return session->wanted_name || session->at.count > 0;
}

bool options_check_own_project(struct session *session, int directories, bool many)
{
	if (directories > 0 && options_stand_for_directory(session))
		session_usage_error(session, "%s does not go with a directory",
				    session->wanted_name ? "--name" : "--at");
	else if (directories > 1 && session->wanted_id)
		session_usage_error(session, "--id goes with one directory");
	else if (many)
		return true;
	else if (session->at.count > 1)
		session_usage_error(session, "--at goes with one filesystem");
	else if (session->at.count && !options_choose_project(session))
		session_usage_error(session, "--at goes with --id or --name");
	else
		return true;
	return false;
}

bool options_choose_project(const struct session *session)
{
	return session->wanted_id || session->wanted_name;
}

bool options_directories_or_project(struct session *session, const struct invocation *invocation)
{
	const char *wrong;

	if (options_choose_project(session) && invocation->operand_count > 0)
		wrong = "--id and --name stand instead of a directory";
	else if (!options_choose_project(session) && session->at.count > 0)
		wrong = session->takes_over && isdigit((unsigned char)session->at.words[0][0])
				? "--over PERCENT is for what is so full; --at goes with --id or "
				  "--name"
				: "--at goes with --id or --name";
	else
		return options_choose_project(session) ||
		       options_some_operand(session, invocation, "directory");
	return options_refuse(session, invocation, wrong);
}

bool options_refuse(struct session *session, const struct invocation *invocation, const char *wrong)
{
	return session_usage_error(session, "%s; usage: fsquota %s %s", wrong,
				   invocation->command->name, invocation->command->synopsis);
}

bool options_project_id(struct session *session, bool may_miss, uint32_t *id)
{
	const char *name = session->wanted_name;
	const struct fsq_project_names *names;
	size_t volumes;

	*id = session->wanted_id;
	if (*id && name)
		return session_usage_error(session, "--id and --name do not go together");
	if (!name)
		return true;
	/* NULL without memory, which was reported. */
	names = session_names(session);
	if (names && fsq_project_names_id(names, name, id) && *id != 0)
		return true;
	/* As list shows volumes of pods. */
	volumes = pods_count(session->projects_file, name, id);
	if (names && volumes == 1 && strchr(name, '/'))
		return true;
	if (volumes > 1)
		session_error(session, 0, FSQ_E_CONFLICT, 0, session->projid_file,
			      "%zu volumes have a name that begins with %s: fsquota list | grep %s",
			      volumes, name, name);
	else if (names && !may_miss)
		session_error(session, 0, FSQ_E_NOT_FOUND, 0, session->projid_file,
			      "there is no project \"%s\"", name);
	return false;
}

bool options_add_filesystems(struct session *session)
{
	for (size_t i = 0; i < session->at.count; i++)
		if (paths_find(session, session->at.words[i]) < 0 &&
		    !paths_add(session, session->at.words[i], NULL))
			return false;
	if (session->at.count == 0)
		paths_add_all_with_quota(session);
	return session->path_count > 0;
}

bool options_some_operand(struct session *session, const struct invocation *invocation,
			  const char *noun)
{
	if (invocation->operand_count > 0)
		return true;
	return session_usage_error(session, "no %s given; usage: fsquota %s %s", noun,
				   invocation->command->name, invocation->command->synopsis);
}

/* Handled in main.c. */
static const struct command_option root_option[] = {
	{ 0, "root", "enter this directory first, as chroot(8) does", .kind = VALUE_DIRECTORY,
	  .argument = "DIRECTORY" },
	{ 0 },
};

const struct command_option *const common_options[] = { root_option,	   at_option,
							json_option,	   registry_options,
							lock_option,	   progress_option,
							max_errors_option, NULL };

/* --- of commands that xfs_quota has, too --- */

#define FIELD(member) offsetof(struct quota_options, member)

const struct command_option type_options[] = {
	{ 'u', NULL, "of users", .field = FIELD(type[FSQ_USER]) },
	{ 'g', NULL, "of groups", .field = FIELD(type[FSQ_GROUP]) },
	{ 'p', NULL, "of projects", .field = FIELD(type[FSQ_PROJECT]) },
	{ 0 },
};

const struct command_option form_options[] = {
	{ 'b', NULL, "space (default)", .field = FIELD(form[FSQ_BLOCKS]) },
	{ 'i', NULL, "inodes", .field = FIELD(form[FSQ_INODES]) },
	{ 'r', NULL, "realtime blocks", .field = FIELD(form[FSQ_REALTIME]) },
	{ 0 },
};

const struct command_option human_option[] = {
	{ 'h', NULL, "ignored: sizes have a letter (K, M, G, ...)", .field = FIELD(ignored) },
	{ 0 },
};

const struct command_option numeric_option[] = {
	{ 'n', NULL, "IDs instead of names", .field = FIELD(numeric) },
	{ 0 },
};

const struct command_option all_option[] = {
	{ 'a', NULL, "all filesystems: the default without PATH", .field = FIELD(ignored) },
	{ 0 },
};

const struct command_option output_file_option[] = {
	{ 'f', NULL, "write to a new file; - is standard output", .kind = VALUE_FILE,
	  .argument = "FILE", .session_field = offsetof(struct session, output_file) },
	{ 0 },
};

int options_type_count(const struct quota_options *options)
{
	return options->type[FSQ_USER] + options->type[FSQ_GROUP] + options->type[FSQ_PROJECT];
}

enum fsq_type options_type(const struct quota_options *options)
{
	if (options->type[FSQ_USER])
		return FSQ_USER;
	return options->type[FSQ_GROUP] ? FSQ_GROUP : FSQ_PROJECT;
}

bool options_check_type(struct session *session, const struct quota_options *options)
{
	return options_type_count(options) <= 1 ||
	       session_usage_error(session, "-u, -g and -p exclude each other");
}

static bool has_limits(struct fsq_filesystem *fs, enum fsq_type type)
{
	struct fsq_dquot dquot = { 0 };
	uint32_t id;

	do
		id = dquot.id + 1;
	while (fsq_quota_get_next(fs, type, id, &dquot) == 0 && dquot.id >= id &&
	       !fsq_dquot_is_limited(&dquot));
	return dquot.id >= id && fsq_dquot_is_limited(&dquot);
}

void options_tell_of_others(struct session *session, const struct quota_options *options,
			    struct fsq_filesystem *fs, const char *command)
{
	struct fsq_state state;

	if (options_type_count(options) || fsq_quota_state(fs, FSQ_PROJECT, &state))
		return;
	if ((state.accounting[FSQ_USER] && has_limits(fs, FSQ_USER)) ||
	    (state.accounting[FSQ_GROUP] && has_limits(fs, FSQ_GROUP)))
		session_warn(session, fsq_filesystem_get_info(fs)->directory,
			     "has limits of users or groups, too: fsquota %s -u, or -g", command);
}

bool options_has_form(const struct quota_options *options)
{
	return options->form[FSQ_BLOCKS] || options->form[FSQ_INODES] ||
	       options->form[FSQ_REALTIME];
}

bool options_number(struct session *session, const char *text, uint32_t *number)
{
	if (!text || fsq_parse_id(text, number) == 0)
		return true;
	return session_usage_error(session, "%s is not a number from 0 to %u", text, FSQ_ID_MAX);
}

static bool take_format(struct session *session, const struct command_option *option, void *to,
			const char *value)
{
	static const struct {
		const char *name;
		enum table_format format;
	} formats[] = {
		{ "raw", TABLE_RAW },	{ "pairs", TABLE_PAIRS },      { "csv", TABLE_CSV },
		{ "json", TABLE_JSON }, { "jsonl", TABLE_JSON_LINES },
	};

	(void)to, (void)value;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		const enum table_format format = formats[i].format;

		if (session->batch || strcmp(formats[i].name, option->name) != 0)
			continue;
		if (session->style.format != TABLE_TEXT && session->style.format != format)
			return session_usage_error(session,
						   "--%s and an earlier format exclude each other",
						   option->name);
		session->style.format = format;
	}
	session->json = session->style.format >= TABLE_JSON;
	return true;
}

static bool refuse_column(struct session *session, const char *before, const char *wrong)
{
	static const char formats[] = " csv json jsonl pairs raw ";
	char word[16];

	if (!wrong)
		return true;
	snprintf(word, sizeof(word), " %.12s ", wrong);
	if (strstr(formats, word))
		return session_usage_error(session, "%s\"%s\" is no column; did you mean --%s?",
					   before, wrong, wrong);
	if (strcmp(wrong, "html") == 0 || strcmp(wrong, "yaml") == 0)
		return session_usage_error(session, "%s\"%s\" is no column; %s", before, wrong,
					   *wrong == 'h'
						   ? "fsquota report --html FILE writes a page"
						   : "there is no YAML, but --json");
	if (strchr(wrong, '='))
		return session_usage_error(
			session, "%s\"%s\" is no column; a limit is --hard SIZE, of fsquota assign",
			before, wrong);
	for (const struct field *field = session->rows->fields; field->column || field->key;
	     field++)
		if (!field->column && strcmp(field->key, wrong) == 0)
			return session_usage_error(session,
						   "%s\"%s\" is no column, but a key of --json",
						   before, wrong);
	if (strcmp(wrong, "wide") == 0)
		return session_usage_error(
			session, "%s\"wide\" is no column; did you mean --output-all?", before);
	if (strchr(wrong, '/'))
		return session_usage_error(session,
					   "%sthere is no column \"%s\"; > %s writes to a file",
					   before, wrong, wrong);
	return session_usage_error(
		session,
		"%sthere is no column \"%.*s\"; there are %s, and others, see --list-columns",
		before, (int)strcspn(wrong, ","), wrong, session->rows->usual);
}

static bool take_output(struct session *session, const struct command_option *option, void *to,
			const char *names)
{
	(void)to;
	return refuse_column(
		session, "",
		table_choose(&session->style, session->rows, option->kind ? names : "all"));
}

/* Print the columns, and end the command. */
static bool take_list_columns(struct session *session, const struct command_option *option,
			      void *to, const char *value)
{
	(void)option, (void)to, (void)value;
	table_list_columns(session->out, session->rows);
	return false;
}

static bool take_sort(struct session *session, const struct command_option *option, void *to,
		      const char *keys)
{
	(void)option, (void)to;
	return refuse_column(session, "--sort: ", table_sort(&session->style, session->rows, keys));
}

bool tables_parse_percent(struct session *session, const char *option, const char *text,
			  double least, double *percent)
{
	char *end;

	*percent = strtod(text, &end);
	/* Neither a sign, nor hexadecimal digits, nor "nan". */
	if (strspn(text, "0123456789.") == (size_t)(end - text) && end != text &&
	    strcmp(end, *end == '%' ? "%" : "") == 0 && *percent >= least) {
		if (*percent > 0 && *percent < 1 && *end != '%')
			session_warn(session, NULL, "%s %s is less than one percent: %g is for %s",
				     option, text, *percent * 100, text);
		return true;
	}
	return session_usage_error(session, "%s is a percentage such as 90, not \"%s\"", option,
				   text);
}

static bool take_over_option(struct session *session, const struct command_option *option, void *to,
			     const char *text)
{
	(void)option, (void)to;
	session->style.has_over = true;
	return tables_parse_percent(session, "--over", text, 0, &session->style.over);
}

bool options_parse_duration(const char *text, uint64_t *seconds)
{
	return text[0] != '+' && fsq_parse_duration(text, seconds) == 0;
}

bool options_take_time(struct session *session, const struct command_option *option, void *to,
		       const char *text)
{
	uint64_t seconds;

	if (!options_parse_duration(text, &seconds) || seconds == 0 || seconds > INT32_MAX)
		return session_usage_error(session, "--%s is a time such as 30m or 4h, not \"%s\"",
					   option->name, text);
	memcpy((char *)to + option->field, &seconds, sizeof(seconds));
	return true;
}

#define STYLE(member) offsetof(struct session, style.member)

/* clang-format off */
#define TABLE_OPTIONS(o, P)                                                                       \
	{ o, "output", "these columns, +LIST: besides the usual", .kind = VALUE_COLUMNS,          \
	  .argument = "LIST", .take = take_output },                                              \
	{ 0, "output-all", "all columns", .take = take_output },                                  \
	{ 0, "list-columns", "which there are", .take = take_list_columns },                      \
	{ 0, "sort", "by columns, numbers largest first; +USED: smallest", .kind = VALUE_COLUMNS,     \
	  .argument = "LIST", .take = take_sort },                                                \
	{ 0, "bytes", "sizes in bytes", .session_field = STYLE(exact) },                          \
	{ 'N', "noheadings", "no line of headings", .session_field = STYLE(no_headings) },        \
	{ 0, "color", "mark what is full: auto, never, always", .kind = VALUE_CHOICE,             \
	  .argument = "WHEN", .choices = "auto never always",                                     \
	  .choices_text = "auto, never or always", .session_field = STYLE(color) },               \
	{ 0, "bars", "bars beside percentages: auto, never, always", .kind = VALUE_CHOICE,        \
	  .argument = "WHEN", .choices = "auto never always",                                     \
	  .choices_text = "auto, never or always", .session_field = STYLE(bars) },                \
	{ 0, "raw", "columns separated by a blank, \\x20 for a blank in one",                     \
	  .take = take_format },                                                                  \
	{ P, "pairs", "FSQUOTA_NAME=\"VALUE\" pairs", .take = take_format },                      \
	{ 0, "csv", "comma-separated values, sizes in bytes", .take = take_format },              \
	{ 'J', "json", "JSON, see fsquota-json(5)", .take = take_format },                        \
	{ 0, "jsonl", "JSON, an object a line", .take = take_format },                            \
	{ 0 }
/* clang-format on */

const struct command_option table_options[] = { TABLE_OPTIONS('o', 'P') };
const struct command_option long_table_options[] = { TABLE_OPTIONS(0, 0) };

const struct command_option first_options[] = {
	{ 0, "reverse", "the last row first", .session_field = STYLE(reverse) },
	{ 0, "top", "only the first N rows", .kind = VALUE_NUMBER, .argument = "N",
	  .session_field = STYLE(top), .positive = true },
	{ 0 },
};

const struct command_option over_option[] = {
	{ 0, "over", "only what uses so much of its limit, or more", .kind = VALUE_NUMBER,
	  .argument = "PERCENT", .take = take_over_option },
	{ 0 },
};

/* --- of a command --- */

/* @return   the option at *@index of these tables; or NULL, and *@index is less by the number of their options */
static const struct command_option *option_of(const struct command_option *const *tables,
					      size_t *index)
{
	for (; tables && *tables; tables++)
		for (const struct command_option *option = *tables; option->letter || option->name;
		     option++)
			if ((*index)-- == 0)
				return option;
	return NULL;
}

const struct command_option *command_option(const struct command *command, size_t index)
{
	const struct command_option *option = option_of(command->options, &index);

	if (!option && (command->flags & COMMAND_FILESYSTEMS))
		option = option_of(options_of_filesystems, &index);
	return option;
}

bool command_takes_project(const struct command *command)
{
	const struct command_option *option;

	for (size_t i = 0; (option = command_option(command, i)); i++)
		if (option->session_field == offsetof(struct session, wanted_name))
			return true;
	return false;
}

const struct command_option *command_find_option(const struct command *command, char letter,
						 const char *name, size_t length)
{
	const struct command_option *option;

	for (size_t i = 0; (option = command_option(command, i)); i++)
		if (letter ? option->letter == letter
			   : option->name && strncmp(option->name, name, length) == 0 &&
				     option->name[length] == '\0')
			break;
	return option;
}

/* --- its rows --- */

void tables_begin(struct session *session, const char *key)
{
	session->table = (struct table){
		.out = session->out,
		.type = session->rows,
		.style = &session->style,
		.key = key,
	};
	session->style.dry_run = session->dry_run;
}

void tables_sort_fullest(struct session *session)
{
	if (session->style.sort_count == 0)
		table_sort(&session->style, session->rows, "percent,used");
}

void tables_row(struct session *session, const void *row)
{
	if (table_row(&session->table, row))
		session_errno(session, 0, ENOMEM, NULL, "cannot print all");
}

void tables_end(struct session *session)
{
	if (table_end(&session->table))
		session_errno(session, 0, ENOMEM, NULL, "cannot print all");
}
