/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "quota/base/units.h"
#include "shared/array.h"
#include "suggest.h"

/* --- what a command takes --- */

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

/* @return   the option at @index, or NULL behind the last */
static const struct command_option *command_option(const struct command *command, size_t index)
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
	char *hint = session->suggest(session, word, false);

	if (hint)
		session_usage_error(session, "%s is no path (%s)", word, hint);
	else
		command_show_usage(session, invocation->command);
	free(hint);
}

/* --- the words --- */

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

/*
 * What letters mean to people: those that options of tables had until 0.2.0, and those of other tools. Where a command
 * of xfs_quota has the letter, it means that.
 */
static const struct {
	char letter;
	const char *names; /* separated by blanks */
} long_names[] = {
	{ 'b', "batch bytes" },
	{ 'c', "critical" },
	{ 'H', "noheadings" },
	{ 'j', "json" },
	{ 'L', "hard" },
	{ 'l', "hard" },
	{ 'n', "dry-run batch top noheadings" },
	{ 'p', "mkdir" },
	{ 'q', "quiet" },
	{ 'r', "raw" },
	{ 's', "hard sort" },
	{ 'w', "warning" },
};

/* @return   whether a long option of the command is what the letter means, which was reported */
static bool refuse_letter(struct session *session, const struct command *command, char letter)
{
	char text[64] = "";

	for (size_t i = 0; i < sizeof(long_names) / sizeof(long_names[0]); i++)
		for (const char *at = long_names[i].names; letter == long_names[i].letter && *at;) {
			size_t length = strcspn(at, " "), used = strlen(text);

			if (command_find_option(command, 0, at, length))
				snprintf(text + used, sizeof(text) - used, "%s--%.*s",
					 used ? " or " : "", (int)length, at);
			at += length + (at[length] == ' ');
		}
	if (text[0])
		session_usage_error(session, "unknown option -%c; use %s", letter, text);
	return text[0];
}

/* Options of other tools that a command does not need. */
static const struct {
	const char *words;
	bool of_rows; /* of commands that print rows; else of those that change something */
	const char *answer;
} needless[] = {
	{ " yes y assume-yes force ", false, "the command does not ask" },
	{ " recursive r R ", false, "DIR stands for all that is in it" },
	{ " human human-readable ", true, "sizes have a letter (K, M, G, ...), or take --bytes" },
	{ " output-file out ", true, "> FILE writes to a file" },
	{ " watch follow ", true, "fsquota watch and fsquota top follow changes" },
};

static bool refuse_needless(struct session *session, const struct command *command,
			    const char *name, size_t length)
{
	bool changes = command->group == GROUP_DIRECTORY || command->group == GROUP_NODE;
	char word[32];

	changes &= !(command->flags & COMMAND_READS);
	snprintf(word, sizeof(word), " %.*s ", (int)length, name);
	for (size_t i = 0; i < sizeof(needless) / sizeof(needless[0]); i++)
		if (strstr(needless[i].words, word) &&
		    (needless[i].of_rows ? command->rows != NULL : changes)) {
			session_usage_error(session, "unknown option %s%.*s: %s",
					    length > 1 ? "--" : "-", (int)length, name,
					    needless[i].answer);
			return true;
		}
	return false;
}

/* Formats of tables that are options of their own. */
static bool refuse_format(struct session *session, const struct command *command,
			  const char *format)
{
	static const char *const formats[] = { "csv", "json", "jsonl", "pairs", "raw" };

	for (size_t i = 0; format && i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcmp(format, formats[i]) == 0 &&
		    command_find_option(command, 0, format, strlen(format))) {
			session_usage_error(session, "unknown option --format; did you mean --%s?",
					    format);
			return true;
		}
	return false;
}

/* Is it users, groups or projects, which have the letters -u, -g and -p? */
static bool is_type(const char *name, size_t length)
{
	static const char *const types[] = { "users", "groups", "projects" };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (length + 1 >= strlen(types[i]) && length <= strlen(types[i]) &&
		    strncmp(name, types[i], length) == 0)
			return true;
	return false;
}

/*
 * @whole    the word of the command line that a letter is in; NULL: @word is a name
 * @value    what may be the value of the option, or NULL
 */
static bool refuse_unknown(struct session *session, const struct command *command, const char *word,
			   size_t length, const char *whole, const char *value)
{
	const struct command_option *option, *instead = NULL;
	const char *name = word + (whole ? 1 : 2);
	size_t name_length = length - (whole ? 1 : 2);
	struct suggestion like;
	char opposite[32];

	if (whole && isdigit((unsigned char)word[1]) &&
	    command_find_option(command, 0, "allow-shrink", 12))
		return session_usage_error(
			session, "give the new size instead of %s, with --allow-shrink", whole);
	suggest_begin(&like, name, name_length);
	for (size_t i = 0; !whole && (option = command_option(command, i)); i++)
		if (option->name && suggest_is_nearer(&like, option->name))
			instead = option;
	snprintf(opposite, sizeof(opposite), "no-%.*s", (int)name_length, name);
	if (!whole && command_find_option(command, 0, opposite, strlen(opposite)))
		return session_usage_error(session,
					   "unknown option %.*s: it does so, unless --%s is given",
					   (int)length, word, opposite);
	if (!whole && is_type(name, name_length) && command_find_option(command, *name, NULL, 0))
		return session_usage_error(session, "unknown option %.*s; did you mean -%c?",
					   (int)length, word, *name);
	if (instead && !(name_length == 6 && strncmp(name, "format", 6) == 0 &&
			 refuse_format(session, command, value)))
		session_usage_error(session, "unknown option %.*s; did you mean --%s%s%s?",
				    (int)length, word, instead->name, instead->argument ? " " : "",
				    instead->argument ? instead->argument : "");
	if (instead || refuse_needless(session, command, name, name_length) ||
	    (whole && refuse_letter(session, command, *name)))
		return false;
	return session_usage_error(session, "unknown option %.*s; usage: fsquota %s %s%s",
				   (int)length, word, command->name, command->synopsis,
				   command_paths(command));
}

/*
 * The next word, as the value of an option. A word with "--" is more likely an option behind a variable without a value.
 *
 * @glue     between the option and such a value
 * @return   NULL: an error was reported
 */
static const char *next_value(struct session *session, const char *option, const char *glue,
			      char ***words)
{
	const char *value = **words;

	if (!value)
		session_usage_error(session, "option %s takes a value", option);
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
		return session_usage_error(session, "option %s takes no value", word);
	if (!value && option->choices && !is_choice(option, **words))
		value = "always";
	if (option->kind && !value)
		value = next_value(session, word, "=", words);
	return (value || !option->kind) && take_option(session, option, options, value);
}

/* Parse letters behind one "-"; the rest of the word, or else the next word, is the value of the last. */
static bool take_letters(struct session *session, const struct command *command, char ***words,
			 void *options)
{
	const char *word = *(*words)++;
	bool goes_on = true;

	for (const char *at = word + 1; *at && goes_on && !session->help; at++) {
		const struct command_option *option = command_find_option(command, *at, NULL, 0);
		const char letter[] = { '-', *at, '\0' }, *value;

		if (!option)
			return refuse_unknown(session, command, letter, 2, word, NULL);
		if (!option->kind) {
			goes_on = take_option(session, option, options, NULL);
			continue;
		}
		value = at[1] ? at + 1 : next_value(session, letter, "", words);
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

/* The options that all tables share go into one paragraph. */
static bool is_of_tables(const struct command_option *option)
{
	for (const struct command_option *one = long_table_options; one->name; one++)
		if (option->name && strcmp(one->name, option->name) == 0)
			return true;
	return false;
}

/* In lines of at most 80 columns. */
static void show_table_options(struct session *session, const struct command *command)
{
	const struct command_option *option;
	size_t at = 80;

	write_text(session->out, "\nRows, see fsquota-output(7):");
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
