/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "quota/base/units.h"
#include "shared/array.h"
#include "unknown_option.h"

/* --- what a command takes --- */

/* @return   what the usage line has behind the synopsis for filesystems, with a blank first, or "" */
static const char *command_paths(const struct command *command)
{
	if (!(command->flags & COMMAND_FILESYSTEMS))
		return "";
	if (command->flags & COMMAND_CHANGES)
		return " PATH";
	return command->flags & COMMAND_PATHS ? " [PATH...]" : " [PATH]";
}

void command_show_usage(struct session *session, const struct command *command)
{
	session_usage_error(session, "usage: fsquota %s%s%s%s", command->name,
			    command->synopsis ? " " : "",
			    command->synopsis ? command->synopsis : "", command_paths(command));
}

void command_refuse_operand(struct session *session, const struct invocation *invocation)
{
	const char *word = invocation->operands[0];
	char *hint = strchr(word, '/') ? NULL : session->suggest(session, word, false);

	/* That is wrong on each filesystem. */
	session->current_path = -1;
	if (hint)
		session_usage_error(session, "%s is no path (%s)", word, hint);
	else
		command_show_usage(session, invocation->command);
	free(hint);
}

/* --- the words --- */

/* @return the index of a word among the choices of an option, or -1 */
static int find_choice(const struct command_option *option, const char *word)
{
	size_t length = strlen(word);
	const char *choice = option->choices;

	for (int i = 0;; i++) {
		size_t choice_length = strcspn(choice, " ");

		if (choice_length == length && memcmp(choice, word, length) == 0)
			return i;
		if (choice[choice_length] == '\0')
			return -1;
		choice += choice_length + 1;
	}
}

/* Kinds of values that name no file to read or write, no program and no socket. */
static bool is_read_only(const struct command_option *option)
{
	static const char *const kinds[] = {
		VALUE_NUMBER,	 VALUE_SIZE,	   VALUE_TIME,	  VALUE_ID,
		VALUE_CHOICE,	 VALUE_NAME,	   VALUE_PROJECT, VALUE_COLUMNS,
		VALUE_DIRECTORY, VALUE_REGISTERED, VALUE_PATH,
	};
	bool known = !option->kind;

	for (size_t i = 0; !known && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		known = strcmp(option->kind, kinds[i]) == 0;
	return known;
}

/* @return   false ends the command; if it is an error it was reported */
static bool take_option(struct session *session, const struct command_option *option, void *options,
			const char *value)
{
	char *field = option->session_field ? (char *)session + option->session_field
					    : (char *)options + option->field;
	const char letter[] = { option->letter, '\0' };
	uint64_t number;
	int choice;

	if (session->read_only && !is_read_only(option))
		return session_error(session, 0, FSQ_E_PERMISSION, 0, NULL,
				     "batch --read-only does not take %s%s",
				     option->name ? "--" : "-",
				     option->name ? option->name : letter);
	/* The last one would be changed, and the others not. */
	if (option->session_field == offsetof(struct session, wanted_name) && session->wanted_name)
		return session_usage_error(session,
					   "--name is given twice: name one project a run");
	if (option->take)
		return option->take(session, option, options, value);
	if (option->repeats) {
		struct word_list *list = (void *)field;

		return array_add(&list->words, &list->count, &list->capacity, &value,
				 sizeof(value)) ||
		       session_no_memory(session);
	}
	if (option->range) {
		if (fsq_parse_id_range(value, (struct fsq_id_range *)(void *)field) == 0)
			return true;
		return session_usage_error(session, "\"%s\" is no range of project IDs, such as %s",
					   value, option->choices_text);
	}
	if (option->positive) {
		bool seconds = strcmp(option->kind, VALUE_TIME) == 0;

		if (fsq_parse_positive(value, &number) == 0 &&
		    (!seconds || number <= INT_MAX / 1000)) {
			memcpy(field, &number, sizeof(number));
			return true;
		}
		return session_usage_error(session, "--%s is a number%s from 1 on, not \"%s\"",
					   option->name, seconds ? " of seconds" : "", value);
	}
	if (option->choices) {
		choice = find_choice(option, value);
		if (choice < 0)
			session_usage_error(session, "--%s is %s, not \"%s\"", option->name,
					    option->choices_text, value);
		else
			memcpy(field, &choice, sizeof(choice));
		return choice >= 0;
	}
	if (!option->kind)
		*(bool *)field = true;
	else
		memcpy(field, &value, sizeof(value));
	return true;
}

/* The options that all tables share go into one paragraph. */
static bool is_of_tables(const struct command_option *option)
{
	for (const struct command_option *one = long_table_options; one->name; one++)
		if (option->name && strcmp(one->name, option->name) == 0)
			return true;
	return false;
}

/* @names    filled with the long options that only this command has, or few others */
static void list_names(const struct command *command, char *names, size_t size)
{
	const struct command_option *option;
	size_t used = 0;

	*names = '\0';
	for (size_t i = 0; (option = command_option(command, i)); i++) {
		if (!option->name || is_of_tables(option) || strcmp(option->name, "help") == 0 ||
		    strcmp(option->name, registry_options[0].name) == 0 ||
		    strcmp(option->name, registry_options[1].name) == 0)
			continue;
		snprintf(names + used, size - used, "%s--%s", used ? ", " : "", option->name);
		used = strlen(names);
	}
}

/* See report_unknown_option(). */
static bool refuse_unknown(struct session *session, const struct command *command, const char *word,
			   size_t length, const char *whole, const char *value)
{
	char names[512];

	if (report_unknown_option(session, command, word, length, whole, value))
		return false;
	if (strstr(command->synopsis, "[OPTION]")) {
		list_names(command, names, sizeof(names));
		return session_usage_error(
			session,
			"unknown option %.*s; usage: fsquota %s %s, with %s%s; see "
			"--help",
			(int)length, word, command->name, command->synopsis, names,
			command->rows ? ", and of rows -o, --json, --csv ..." : "");
	}
	return session_usage_error(
		session, "unknown option %.*s; usage: fsquota %s %s%s; see --help", (int)length,
		word, command->name, command->synopsis, command_paths(command));
}

/*
 * The next word, as the value of an option. A word with "--" is more likely an option behind a variable without a value.
 *
 * @glue     between the option and such a value
 * @return   NULL: an error was reported
 */
static const char *next_value(struct session *session, const char *option, const char *glue,
			      const struct command_option *of, char ***words)
{
	const char *value = **words;

	if (!value)
		session_usage_error(session, "option %s takes a value: %s %s (%s)", option, option,
				    of->argument, of->help);
	else if (strncmp(value, "--", 2) == 0)
		session_usage_error(session,
				    "option %s takes a value, and %s is an option; if it is the "
				    "value, write %s%s%s",
				    option, value, option, glue, value);
	else
		return *(*words)++;
	return NULL;
}

/* Is the word the value of an option such as --bars? Without one that means always. */
static bool is_choice(const struct command_option *option, const char *word)
{
	return !strstr(option->choices, "always") || (word && find_choice(option, word) >= 0);
}

static bool take_name(struct session *session, const struct command *command, char ***words,
		      void *options)
{
	const char *word = *(*words)++;
	size_t length = strcspn(word + 2, "=");
	const struct command_option *option = command_find_option(command, 0, word + 2, length);
	const char *value = word[2 + length] ? word + 2 + length + 1 : NULL;

	if (!option)
		return refuse_unknown(session, command, word, length + 2, NULL,
				      value ? value : **words);
	if (value && !option->kind)
		return session_usage_error(session, "option %s takes no value: %s", word,
					   option->help);
	if (!value && option->choices && !is_choice(option, **words))
		value = "always";
	if (option->kind && !value)
		value = next_value(session, word, "=", option, words);
	return (value || !option->kind) && take_option(session, option, options, value);
}

/* Parse letters behind one "-"; the rest of the word, or else the next word, is the value of the last. */
static bool take_letters(struct session *session, const struct command *command, char ***words,
			 void *options)
{
	const char *word = *(*words)++;
	bool goes_on = true;
	uint64_t bytes;

	for (const char *at = word + 1; *at && goes_on && !session->help; at++) {
		const struct command_option *option = command_find_option(command, *at, NULL, 0);
		const char letter[] = { '-', *at, '\0' }, *value;

		if (!option)
			return refuse_unknown(session, command, letter, 2, word, NULL);
		if (!option->kind) {
			goes_on = take_option(session, option, options, NULL);
			/* The help would look like success to who meant a limit, or sizes for people as du(1) has. */
			if (session->help && **words && fsq_parse_bytes(**words, &bytes) == 0 &&
			    command_find_option(command, 0, "hard", 4))
				return session_usage_error(
					session, "-h is --help; the limit is --hard %s", **words);
			if (session->help && **words && strchr(**words, '/'))
				return session_usage_error(
					session,
					"-h is --help, without a path; sizes have a letter anyway");
			continue;
		}
		value = at[1] ? at + 1 : next_value(session, letter, "", option, words);
		return value && take_option(session, option, options, value);
	}
	return goes_on;
}

bool parse_words(struct session *session, const struct command *command, char **words,
		 struct invocation *invocation, void *options)
{
	bool only_operands = false;
	char **operands = words;
	int count = 0;

	*invocation =
		(struct invocation){ .command = command, .options = options, .operands = operands };
	if (command->defaults)
		memcpy(options, command->defaults, command->options_size);
	while (*words && !session->help) {
		const char *word = *words;

		if (only_operands || word[0] != '-' || word[1] == '\0') {
			operands[count++] = *words++;
		} else if (strcmp(word, "--") == 0) {
			only_operands = true;
			words++;
		} else if (!(word[1] == '-' ? take_name(session, command, &words, options)
					    : take_letters(session, command, &words, options))) {
			return false;
		}
	}
	operands[count] = NULL;
	invocation->operand_count = count;
	return true;
}

#define LABEL_SIZE 64

const struct command *command_find(const struct session *session, const char *name)
{
	const struct command *const *command;

	for (command = session->commands; *command; command++)
		if (strcmp((*command)->name, name) == 0 ||
		    ((*command)->alias && strcmp((*command)->alias, name) == 0))
			break;
	return *command;
}

/* --- for people --- */

static void make_label(char label[LABEL_SIZE], const struct command_option *option)
{
	const char letter[] = { option->letter ? '-' : ' ', option->letter ? option->letter : ' ',
				'\0' };

	snprintf(label, LABEL_SIZE, "%s%s%s%s%s%s", letter,
		 !option->name	  ? ""
		 : option->letter ? ", "
				  : "  ",
		 option->name ? "--" : "", option->name ? option->name : "",
		 option->argument ? " " : "", option->argument ? option->argument : "");
}

/* In lines of at most 80 columns. */
static void show_table_options(struct session *session, const struct command *command)
{
	const struct command_option *option;
	size_t at = 80;

	write_text(session->out, "\nRows, see fsquota-output(7)");
	if (!(command->answers & ANSWER_LINES))
		write_format(session->out, ", in JSON under \"%s\"", command->name);
	write_char(session->out, ':');
	for (size_t i = 0; (option = command_option(command, i)); i++) {
		char label[LABEL_SIZE];
		const char *text = label;

		if (!is_of_tables(option))
			continue;
		make_label(label, option);
		text += strspn(text, " ");
		if (at + strlen(text) > 77) {
			write_text(session->out, "\n  ");
			at = 2;
		} else {
			write_text(session->out, ", ");
			at += 2;
		}
		write_text(session->out, text);
		at += strlen(text);
	}
	write_char(session->out, '\n');
}

/* @label    as "-o, --output LIST"; the other lines of @help are indented like its first */
static void show_option(struct writer *w, const char *label, size_t width, const char *help)
{
	write_format(w, "  %-*s  ", (int)width, label);
	for (; *help; help++) {
		write_char(w, *help);
		if (*help == '\n')
			write_blanks(w, width + 4);
	}
	write_char(w, '\n');
}

static void show_options(struct session *session, const struct command *command)
{
	const struct command_option *option;
	char label[LABEL_SIZE];
	size_t width = 0;

	for (size_t i = 0; (option = command_option(command, i)); i++) {
		if (is_of_tables(option))
			continue;
		make_label(label, option);
		if (strlen(label) > width)
			width = strlen(label);
	}
	if (width > 0)
		write_char(session->out, '\n');
	for (size_t i = 0; (option = command_option(command, i)); i++) {
		if (is_of_tables(option))
			continue;
		make_label(label, option);
		show_option(session->out, label, width, option->help);
	}
	if (command->rows)
		show_table_options(session, command);
}

void command_explain(struct session *session, const struct command *command)
{
	struct writer *w = session->out;

	write_format(w, "Usage: fsquota %s%s%s%s\n\n%s\n", command->name,
		     command->synopsis ? " " : "", command->synopsis ? command->synopsis : "",
		     command_paths(command), command->help ? command->help : command->summary);
	show_options(session, command);
	write_text(w, "\nExamples:\n");
	for (const char *at = command->example, *end; *at; at = end + (*end == '\n')) {
		end = strchrnul(at, '\n');
		write_format(w, "  fsquota %.*s\n", (int)(end - at), at);
	}
}

/* fsquota(8) has the same titles and summaries; tests/documentation compares them. */
static const char *const group_titles[] = {
	[GROUP_DIRECTORY] = "The quota of a directory",
	[GROUP_LOOK] = "Looking",
	[GROUP_NODE] = "Keeping a node",
	[GROUP_RECORDS] = "Users, groups and filesystems",
	[GROUP_PROGRAMS] = "For programs",
};

void command_list_all(struct session *session)
{
	struct writer *w = session->out;

	write_text(w, "Usage: fsquota COMMAND [OPTIONS] PATH...\n"
		      "       fsquota -x -c 'XFS_QUOTA COMMAND' PATH\n"
		      "\n"
		      "Manage and measure project quotas of XFS, ext4 and f2fs.\n");
	for (const struct command *const *at = session->commands; *at; at++) {
		if (at == session->commands || at[0]->group != at[-1]->group)
			write_format(w, "\n%s:\n", group_titles[at[0]->group]);
		write_format(w, "  %-12s%s\n", at[0]->name, at[0]->summary);
	}
	write_text(
		w,
		"\n"
		"fsquota help COMMAND explains one of them. With --root DIRECTORY, each works in\n"
		"that directory as chroot(8) does: on a node's files at /host in a container.\n"
		"With -x, -c or another option of xfs_quota first, or called by that name, it\n"
		"behaves as xfs_quota does; fsquota -x -c help lists those commands.\n");
}

/* --- for programs --- */

/* Fields separated by tabs; "-" stands for one that is NULL or empty. */
static void describe(struct session *session, const char *const fields[6])
{
	for (size_t i = 0; i < 6; i++) {
		if (i > 0)
			write_char(session->out, '\t');
		for (const char *at = fields[i] && *fields[i] ? fields[i] : "-"; *at; at++)
			write_char(session->out, *at == '\n' ? ' ' : *at);
	}
	write_char(session->out, '\n');
}

static void describe_operand(struct session *session, const struct command_operand *operand)
{
	describe(session, (const char *const[6]){ "operand", operand->repeats ? "..." : NULL,
						  operand->kind, operand->argument });
}

void command_describe(struct session *session, const struct command *command)
{
	const struct command_operand path = { VALUE_PATH, "PATH", true };
	const struct command_option *option;

	for (size_t i = 0; !command && session->commands[i]; i++)
		write_format(session->out, "%s\t%s\n", session->commands[i]->name,
			     session->commands[i]->summary);
	if (!command)
		return;
	for (size_t i = 0; (option = command_option(command, i)); i++) {
		const char letter[] = { '-', option->letter, '\0' };
		char name[LABEL_SIZE] = "";

		if (option->name)
			snprintf(name, sizeof(name), "--%s", option->name);
		describe(session,
			 (const char *const[6]){ option->letter ? letter : NULL, name,
						 option->kind ? option->kind : "none",
						 option->argument, option->choices, option->help });
	}
	for (const struct command_operand *operand = command->operands; operand->kind; operand++)
		describe_operand(session, operand);
	if (command->flags & COMMAND_FILESYSTEMS)
		describe_operand(session, &path);
}
