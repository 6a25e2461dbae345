/* SPDX-License-Identifier: Apache-2.0 */
#include "parse.h"

#include <getopt.h>
#include <string.h>
#include <unistd.h>

/* So many options, and letters with their colons, a command may have. */
#define OPTIONS_MAX 48

/* What getopt_long(3) returns for options without a letter: this and the index. */
#define INDEX_FIRST 256

struct getopt_arrays {
	char letters[2 * OPTIONS_MAX + 1];
	struct option words[OPTIONS_MAX + 1];
};

static void fill_arrays(struct getopt_arrays *arrays, const struct command *command)
{
	const struct command_option *option;
	char *letter = arrays->letters;
	struct option *word = arrays->words;

	for (int i = 0; i < OPTIONS_MAX && (option = command_option(command, (size_t)i)); i++) {
		if (option->letter) {
			*letter++ = option->letter;
			if (option->kind != VALUE_NONE)
				*letter++ = ':';
		}
		if (option->name)
			*word++ = (struct option){
				.name = option->name,
				.has_arg = option->kind != VALUE_NONE ? required_argument
								      : no_argument,
				.val = option->letter ? option->letter : INDEX_FIRST + i,
			};
	}
	*letter = '\0';
	*word = (struct option){ 0 };
}

static const struct command_option *option_of(const struct command *command, int value)
{
	const struct command_option *option;

	if (value >= INDEX_FIRST)
		return command_option(command, (size_t)(value - INDEX_FIRST));
	for (size_t i = 0; (option = command_option(command, i)); i++)
		if (option->letter == value)
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

static bool take(struct session *session, const struct command_option *option, void *options)
{
	char *field = option->session_field ? (char *)session + option->session_field
					    : (char *)options + option->field;
	const char *value = optarg;
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

static void begin(const struct command *command, struct invocation *invocation, void *options)
{
	/* See getopt.c: it starts anew at 0, and then looks at POSIXLY_CORRECT again. */
	optind = 0;
	if (command->defaults)
		memcpy(options, command->defaults, command->options_size);
	invocation->command = command;
	invocation->options = options;
}

static void wrong_option(struct session *session, const struct command *command, const char *word)
{
	if (optopt >= INDEX_FIRST)
		session_usage_error(session, "option %s takes %s value", word,
				    strchr(word, '=') ? "no" : "a");
	else if (optopt)
		session_usage_error(session, "unknown option -%c; usage: fsquota %s %s%s", optopt,
				    command->name, command->synopsis, command_paths(command));
	else
		session_usage_error(session, "unknown option %s; usage: fsquota %s %s%s", word,
				    command->name, command->synopsis, command_paths(command));
}

bool parse_words(struct session *session, const struct command *command, int argc, char **argv,
		 struct invocation *invocation, void *options)
{
	const struct command_option *option;
	struct getopt_arrays arrays;
	int value;

	begin(command, invocation, options);
	fill_arrays(&arrays, command);
	opterr = 0;
	while ((value = getopt_long(argc, argv, arrays.letters, arrays.words, NULL)) != -1) {
		option = option_of(command, value);
		if (!option) {
			wrong_option(session, command, argv[optind - 1]);
			return false;
		}
		if (!take(session, option, options))
			return false;
		if (session->help)
			break;
	}
	invocation->operands = argv + optind;
	invocation->operand_count = argc - optind;
	return true;
}
