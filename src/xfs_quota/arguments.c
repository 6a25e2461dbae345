/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a command: cut out of a line, and its options. */
#include "command.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char **xq_split_line(char *line, int *count)
{
	char **words = calloc(strlen(line) / 2 + 2, sizeof(*words));
	char *rest = NULL;

	*count = 0;
	if (!words)
		return NULL;
	for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		words[(*count)++] = word;
	return words;
}

void xq_print_usage(struct state *state, const char *name, const struct command *command)
{
	xq_print(state->out, "%s%s%s -- %s\n", name, command->synopsis ? " " : "",
		 command->synopsis ? command->synopsis : "", command->summary);
}

void xq_show_usage(struct state *state, const struct call *call)
{
	xq_print_usage(state, call->command->name, call->command);
}

/* Set @selected for each of @letters. @return  how many of them were given */
static int select_letters(const struct call *call, const char *letters, bool selected[])
{
	int count = 0;

	for (int i = 0; letters[i]; i++) {
		selected[i] = call->options[(unsigned char)letters[i]];
		count += selected[i];
	}
	return count;
}

bool xq_parse_options(struct state *state, struct call *call)
{
	const struct command *command = call->command;
	int letter;

	/* getopt(3) starts anew at 0, and then looks at POSIXLY_CORRECT again. */
	optind = command->letters ? 0 : 1;
	while (command->letters &&
	       (letter = getopt(call->argc, call->argv, command->letters)) != -1) {
		if (letter == '?' || letter == command->refused) {
			xq_show_usage(state, call);
			return false;
		}
		call->options[letter] = optarg ? optarg : "";
	}
	call->operands = call->argv + optind;
	call->operand_count = call->argc - optind;
	call->type_count = select_letters(call, "ugp", call->types);
	call->type = call->types[FSQ_PROJECT] ? FSQ_PROJECT
		     : call->types[FSQ_GROUP] ? FSQ_GROUP
					      : FSQ_USER;
	call->form_count = select_letters(call, "bir", call->style.form);
	call->style.form[FSQ_BLOCKS] |= call->form_count == 0;
	call->style.human = call->options['h'];
	call->style.numeric = call->options['n'];
	call->style.header = !call->options['N'];
	return true;
}

uint32_t xq_number(const char *word)
{
	return word ? (uint32_t)strtol(word, NULL, 10) : 0;
}
