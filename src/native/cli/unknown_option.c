/* SPDX-License-Identifier: Apache-2.0 */
#include "unknown_option.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "suggest.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool changes(const struct command *command)
{
	return (command->group == GROUP_DIRECTORY || command->group == GROUP_NODE) &&
	       !(command->flags & COMMAND_READS);
}

static bool prints_rows(const struct command *command)
{
	return command->rows;
}

static bool takes_all(const struct command *command)
{
	return ((command->flags & COMMAND_FILESYSTEMS) && !(command->flags & COMMAND_CHANGES)) ||
	       (command->synopsis && strstr(command->synopsis, "PATH]"));
}

static bool takes_file(const struct command *command)
{
	return command->operands[0].kind && strcmp(command->operands[0].kind, VALUE_FILE) == 0;
}

static bool is_export(const struct command *command)
{
	return strcmp(command->name, "export") == 0;
}

static bool makes_page(const struct command *command)
{
	return command_find_option(command, 0, "html", 4);
}

/* Options of other tools that a command does not need. */
static const struct {
	const char *words; /* separated by blanks, with one at each end */
	bool (*concerns)(const struct command *command);
	const char *answer;
} needless[] = {
	{ " file filename f ", takes_file, "FILE is an operand, without an option" },
	{ " yes y assume-yes force f ", changes, "the command does not ask" },
	{ " recursive r R ", changes, "DIR stands for all that is in it" },
	{ " human human-readable ", prints_rows,
	  "sizes have a letter (K, M, G, ...), or take --bytes" },
	{ " output-file out ", prints_rows, "> FILE writes to a file" },
	{ " watch follow ", prints_rows, "fsquota watch and fsquota top follow changes" },
	{ " namespace ", prints_rows,
	  "names of volumes begin with it: fsquota list | grep NAMESPACE/" },
	{ " all a ", takes_all, "without a path it takes all filesystems" },
	{ " configmap ", is_export,
	  "export > FILE, and kubectl create configmap NAME --from-file=FILE" },
	{ " mail email pdf title ", makes_page,
	  "--html FILE makes a page, which mail(1) sends and a browser prints" },
};

static const char *find_answer(const struct command *command, const char *name, size_t length)
{
	for (size_t i = 0; i < COUNT(needless); i++)
		if (suggest_has_word(needless[i].words, name, length) &&
		    needless[i].concerns(command))
			return needless[i].answer;
	return NULL;
}

/* Formats of tables are options of their own. @return  the format that the command has, or NULL */
static const char *find_format(const struct command *command, const char *name, size_t length,
			       const char *value)
{
	static const char *const formats[] = { "csv", "json", "jsonl", "pairs", "raw" };

	if (length != 6 || strncmp(name, "format", length) != 0 || !value)
		return NULL;
	for (size_t i = 0; i < COUNT(formats); i++)
		if (strcmp(value, formats[i]) == 0 &&
		    command_find_option(command, 0, value, strlen(value)))
			return formats[i];
	return NULL;
}

/* @return   whether the command has the letter -u, -g or -p for these users, groups or projects */
static bool is_type(const struct command *command, const char *name, size_t length)
{
	static const char *const types[] = { "users", "groups", "projects" };

	for (size_t i = 0; i < COUNT(types); i++)
		if (length + 1 >= strlen(types[i]) && length <= strlen(types[i]) &&
		    strncmp(name, types[i], length) == 0)
			return command_find_option(command, *name, NULL, 0);
	return false;
}

/*
 * The options that somebody means by a word of other tools, or else the one whose name is most similar.
 *
 * @meant    filled; "": there is none
 */
static void find_meant(const struct command *command, const char *name, size_t length, char *meant,
		       size_t size)
{
	const struct command_option *option;
	struct suggestion like;
	size_t used = 0;

	*meant = '\0';
	suggest_begin(&like, name, length);
	for (size_t i = 0; (option = command_option(command, i)); i++) {
		bool is_meant = option->name && suggest_is_meant(&like, option->name);

		if (!is_meant &&
		    (length == 1 || !option->name || !suggest_is_nearer(&like, option->name)))
			continue;
		if (!is_meant)
			used = 0;
		snprintf(meant + used, size - used, "%s--%s%s%s", used ? " or " : "", option->name,
			 option->argument ? " " : "", option->argument ? option->argument : "");
		used = strlen(meant);
	}
}

bool report_unknown_option(struct session *session, const struct command *command, const char *word,
			   size_t length, const char *whole, const char *value)
{
	const char *name = word + (whole ? 1 : 2), *answer;
	size_t name_length = length - (whole ? 1 : 2);
	int shown = (int)length;
	char opposite[32], meant[128];

	if (whole && isdigit((unsigned char)*name) &&
	    command_find_option(command, 0, "allow-shrink", 12)) {
		session_usage_error(session, "give the new size instead of %s, with --allow-shrink",
				    whole);
		return true;
	}
	snprintf(opposite, sizeof(opposite), "no-%.*s", (int)name_length, name);
	find_meant(command, name, name_length, meant, sizeof(meant));
	if (!whole && command_find_option(command, 0, opposite, strlen(opposite)))
		session_usage_error(session,
				    "unknown option %.*s: it does so, unless --%s is given", shown,
				    word, opposite);
	else if (!whole && is_type(command, name, name_length))
		session_usage_error(session, "unknown option %.*s; did you mean -%c?", shown, word,
				    *name);
	else if ((answer = find_format(command, name, name_length, value)))
		session_usage_error(session, "unknown option %.*s; did you mean --%s?", shown, word,
				    answer);
	else if ((answer = find_answer(command, name, name_length)) && (whole || !*meant))
		session_usage_error(session, "unknown option %.*s: %s", shown, word, answer);
	else if (*meant)
		session_usage_error(session, "unknown option %.*s; did you mean %s?", shown, word,
				    meant);
	else
		return false;
	return true;
}
