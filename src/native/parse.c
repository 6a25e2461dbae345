/* SPDX-License-Identifier: Apache-2.0 */
#include "parse.h"

#include <stdlib.h>
#include <string.h>

#include "options.h"

/* --- what a command takes --- */

/* @return   the option at *@index of these tables, or NULL, and *@index less what they hold */
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

const char *command_paths(const struct command *command)
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

/* --- the words --- */

/*
 * By the whole name: an abbreviation could mean another option in another command, or in a later
 * version.
 */
static const struct command_option *find_name(const struct command *command, const char *name,
					      size_t length)
{
	const struct command_option *option;

	for (size_t i = 0; (option = command_option(command, i)); i++)
		if (option->name && strncmp(option->name, name, length) == 0 &&
		    option->name[length] == '\0')
			break;
	return option;
}

static const struct command_option *find_letter(const struct command *command, char letter)
{
	const struct command_option *option;

	for (size_t i = 0; (option = command_option(command, i)); i++)
		if (option->letter == letter)
			break;
	return option;
}

/* @return   the place of a word among the choices of an option, or -1 */
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

/* @return   false ends the command; if it is an error it was reported */
static bool take(struct session *session, const struct command_option *option, void *options,
		 const char *value)
{
	char *field = option->session_field ? (char *)session + option->session_field
					    : (char *)options + option->field;
	const bool given = true;
	int choice;

	if (option->take)
		return option->take(session, option, options, value);
	if (option->kind == VALUE_CHOICE) {
		choice = find_choice(option, value);
		if (choice < 0)
			session_usage_error(session, "--%s is %s, not \"%s\"", option->name,
					    option->choices_text, value);
		else
			memcpy(field, &choice, sizeof(choice));
		return choice >= 0;
	}
	if (option->kind == VALUE_NONE)
		memcpy(field, &given, sizeof(given));
	else
		memcpy(field, &value, sizeof(value));
	return true;
}

static bool refuse_unknown(struct session *session, const struct command *command, const char *word,
			   size_t length)
{
	session_usage_error(session, "unknown option %.*s; usage: fsquota %s %s%s", (int)length,
			    word, command->name, command->synopsis, command_paths(command));
	return false;
}

static bool take_name(struct session *session, const struct command *command, char ***words,
		      void *options)
{
	const char *word = *(*words)++;
	size_t length = strcspn(word + 2, "=");
	const struct command_option *option = find_name(command, word + 2, length);
	const char *value = word[2 + length] ? word + 2 + length + 1 : NULL;
	bool takes_value = option && option->kind != VALUE_NONE;

	if (!option)
		return refuse_unknown(session, command, word, strlen(word));
	if (takes_value && !value)
		value = **words ? *(*words)++ : NULL;
	if (takes_value == (value != NULL))
		return take(session, option, options, value);
	session_usage_error(session, "option %s takes %s value", word, takes_value ? "a" : "no");
	return false;
}

/* Letters behind one "-"; the rest of the word, or else the next word, is the value of the last. */
static bool take_letters(struct session *session, const struct command *command, char ***words,
			 void *options)
{
	bool goes_on = true;

	for (const char *at = *(*words)++ + 1; *at && goes_on && !session->help; at++) {
		const struct command_option *option = find_letter(command, *at);
		const char unknown[] = { '-', *at }, *value;

		if (!option)
			return refuse_unknown(session, command, unknown, sizeof(unknown));
		if (option->kind == VALUE_NONE) {
			goes_on = take(session, option, options, NULL);
			continue;
		}
		value = at[1] ? at + 1 : **words ? *(*words)++ : NULL;
		if (value)
			return take(session, option, options, value);
		session_usage_error(session, "option -%c takes a value", *at);
		return false;
	}
	return goes_on;
}

bool parse_words(struct session *session, const struct command *command, char **words,
		 struct invocation *invocation, void *options)
{
	bool in_order = getenv("POSIXLY_CORRECT") != NULL, only_operands = false;
	char **operands = words;
	int count = 0;

	*invocation =
		(struct invocation){ .command = command, .options = options, .operands = operands };
	if (command->defaults)
		memcpy(options, command->defaults, command->options_size);
	while (*words && !session->help) {
		const char *word = *words;

		if (only_operands || word[0] != '-' || word[1] == '\0') {
			only_operands |= in_order;
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
