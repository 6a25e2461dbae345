/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands; parse a line, check where its command may run, and run it; help and quit. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct command help, quit;

/* Sorted by name. */
static const struct command *const commands[] = {
	&xq_df,	    &xq_disable,     &xq_dump,	  &xq_enable, &help,	&xq_limit, &xq_off,
	&xq_path,   &xq_print_paths, &xq_project, &quit,      &xq_quot, &xq_quota, &xq_remove,
	&xq_report, &xq_restore,     &xq_state,	  &xq_timer,  &xq_warn,
};

const struct command *xq_command_at(size_t index)
{
	return index < sizeof(commands) / sizeof(commands[0]) ? commands[index] : NULL;
}

bool xq_command_is_allowed(const struct state *state, const struct command *command)
{
	return state->expert || !(command->flags & COMMAND_EXPERT);
}

/* @return   the command of that name or alias, or NULL */
static const struct command *find_any_command(const char *name)
{
	const struct command *command;

	for (size_t i = 0; (command = xq_command_at(i)); i++)
		if (strcmp(command->name, name) == 0 ||
		    (command->alias && strcmp(command->alias, name) == 0))
			return command;
	return NULL;
}

/* @return   as find_any_command(); also NULL if it may not run */
static const struct command *find_command(const struct state *state, const char *name)
{
	const struct command *command = find_any_command(name);

	return command && xq_command_is_allowed(state, command) ? command : NULL;
}

/* --- words --- */

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

	/* With optind 0, getopt(3) starts anew and reads POSIXLY_CORRECT again. */
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
	if ((!(command->flags & COMMAND_ONE_TYPE) || call->type_count <= 1) &&
	    (!(command->flags & COMMAND_NO_OPERANDS) || call->operand_count == 0))
		return true;
	xq_show_usage(state, call);
	return false;
}

/* --- running --- */

/* @return  whether the command may run on the current path; else an error was reported */
static bool may_run(struct state *state, const struct command *command)
{
	if ((command->flags & COMMAND_SHELL) || state->current < 0 ||
	    !state->paths[state->current].foreign)
		return true;
	if (!(command->flags & COMMAND_FOREIGN))
		xq_error(state, XQ_BARE | XQ_STATUS_0, FSQ_E_NOT_SUPPORTED, 0,
			 "%s: command is for XFS filesystems only", command->name);
	else if (!state->foreign_allowed)
		xq_error(state, XQ_BARE | XQ_STATUS_0, FSQ_E_USAGE, 0,
			 "%s: foreign filesystem. Invoke xfs_quota with -f to enable.",
			 command->name);
	else
		return true;
	return false;
}

static bool is_right_count(struct state *state, const struct call *call)
{
	int words = call->argc - 1, min = call->command->min, max = call->command->max;
	char expected[48];

	if (words >= min && (max < 0 || words <= max))
		return true;
	if (max < 0)
		snprintf(expected, sizeof(expected), "at least %d", min);
	else if (min == max)
		snprintf(expected, sizeof(expected), "%d", min);
	else
		snprintf(expected, sizeof(expected), "between %d and %d", min, max);
	xq_error(state, XQ_BARE | XQ_STATUS_0, FSQ_E_USAGE, 0,
		 "bad argument count %d to %s, expected %s arguments", words, call->argv[0],
		 expected);
	return false;
}

/* With -f, send output to a new file, which must not exist. @return  false: an error was reported */
static bool output_begin(struct state *state, const struct call *call)
{
	const char *file = call->command->flags & COMMAND_OUTPUT ? call->options['f'] : NULL;
	int rc = file ? writer_push_file(&state->out, file) : 0;

	if (rc)
		xq_errno(state, 0, -rc, "open on %s failed", file);
	return rc == 0;
}

static void output_end(struct state *state)
{
	int rc;

	if (!state->out->previous)
		return;
	xq_flush(state);
	rc = writer_pop(&state->out);
	if (rc)
		xq_errno(state, 0, -rc, "cannot write the output");
}

/* Run a command on the current path. It gets a copy of @argv: getopt(3) permutes it, and @argv may be used again. */
static void run_parsed(struct state *state, const struct command *command, int argc, char **argv)
{
	size_t size = ((size_t)argc + 1) * sizeof(*argv);
	struct call call = { .command = command, .argc = argc, .argv = argv };

	if (!may_run(state, command) || !is_right_count(state, &call))
		return;
	call.argv = malloc(size);
	if (!call.argv) {
		xq_out_of_memory(state);
		state->quit = true;
		return;
	}
	memcpy(call.argv, argv, size);
	/* With -a, too, the first pass covers all filesystems. */
	if (xq_parse_options(state, &call) &&
	    !(state->pass > 0 && (command->flags & COMMAND_SHOWS_ALL || call.options['a'])) &&
	    !((command->flags & COMMAND_CURRENT) && state->current < 0) &&
	    output_begin(state, &call)) {
		command->run(state, &call);
		output_end(state);
	}
	free(call.argv);
}

/* Run a command on each filesystem of the table, then restore the current path. */
static void run_on_all(struct state *state, const struct command *command, int argc, char **argv)
{
	state->home = state->current;
	for (int i = 0; i < (int)state->path_count && !state->quit; i++) {
		const struct path *path = &state->paths[i];

		if (path->is_project || (path->foreign && !state->foreign_allowed))
			continue;
		/* The same filesystem under another name was visited before. */
		if (xq_find_dev(state, path->info->dev) < i)
			continue;
		state->current = i;
		run_parsed(state, command, argc, argv);
		state->pass++;
		/* Loading the projects inserts entries: continue from the new index of this one. */
		i = state->current;
	}
	state->current = state->home;
	state->pass = 0;
}

void xq_run_line(struct state *state, char *line, bool all)
{
	const struct command *command;
	int argc;
	char **argv = xq_split_line(line, &argc);

	if (!argv) {
		xq_out_of_memory(state);
		state->quit = true;
		return;
	}
	command = argc > 0 ? find_command(state, argv[0]) : NULL;
	if (command && all && !(command->flags & COMMAND_ONE_SHOT))
		run_on_all(state, command, argc, argv);
	else if (command)
		run_parsed(state, command, argc, argv);
	else if (argc > 0)
		xq_error(state, XQ_BARE | XQ_STATUS_0, FSQ_E_USAGE, 0, "command \"%s\" not found%s",
			 argv[0],
			 find_any_command(argv[0]) && strcmp(state->program, "fsquota") == 0
				 ? " without -x"
				 : "");
	xq_forget_failed_names(state);
	free(argv);
}

/* --- help and quit --- */

static void run_help(struct state *state, const struct call *call)
{
	const struct command *command;
	const char *name = call->operands[0];

	if (call->operand_count == 0) {
		for (size_t i = 0; (command = xq_command_at(i)); i++)
			if (xq_command_is_allowed(state, command))
				xq_print_usage(state, command->name, command);
		write_format(state->out, "\nUse 'help commandname' for extended help.\n");
		return;
	}
	command = find_command(state, name);
	if (!command) {
		write_format(state->out, "command %s not found\n", name);
		return;
	}
	xq_print_usage(state, name, command);
	if (command->help)
		write_format(state->out, "\n%s\n", command->help);
}

static const struct command help = {
	.name = "help",
	.alias = "?",
	.max = 1,
	.flags = COMMAND_SHELL | COMMAND_ONE_SHOT | COMMAND_FOREIGN,
	.synopsis = "[command]",
	.summary = "help for one or all commands",
	.run = run_help,
};

static void run_quit(struct state *state, const struct call *call)
{
	(void)call;
	state->quit = true;
}

static const struct command quit = {
	.name = "quit",
	.alias = "q",
	.max = -1,
	.flags = COMMAND_SHELL | COMMAND_ONE_SHOT | COMMAND_FOREIGN,
	.summary = "exit the program",
	.run = run_quit,
};
