/* SPDX-License-Identifier: Apache-2.0 */
#include "main.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "batch_run.h"
#include "config.h"
#include "options.h"
#include "parse.h"
#include "paths.h"
#include "tables.h"
#include "help_text.h"
#include "quota/fsquota.h"

/* Those that work on filesystems behind the others. */
static void list_commands(struct session *session)
{
	const struct command *command;

	text_program_help_begin(session->out);
	for (unsigned int kind = 0; kind <= COMMAND_FILESYSTEMS; kind++)
		for (size_t i = 0; (command = command_at(i)); i++)
			if ((command->flags & COMMAND_FILESYSTEMS) == kind)
				text_program_help_row(session->out, command->name,
						      command->summary);
	text_program_help_end(session->out);
}

/* An operand that can only be a path; --at is for others. */
static bool is_path(const char *word)
{
	return strchr(word, '/') || strcmp(word, ".") == 0 || strcmp(word, "..") == 0;
}

/*
 * The filesystems of a command: those of --at, and what stands last.
 * @return   how many were named
 */
static size_t add_filesystems(struct session *session, struct invocation *invocation)
{
	unsigned int flags = invocation->command->flags;
	int count = invocation->operand_count, left = count;
	dev_t dev;

	while (left > 0 && ((flags & COMMAND_PATHS) ||
			    (session->at_count == 0 && is_path(invocation->operands[left - 1]))))
		left--;
	for (size_t i = 0; i < session->at_count; i++)
		paths_add(session, session->at[i], &dev);
	for (int i = left; i < count; i++)
		paths_add(session, invocation->operands[i], &dev);
	invocation->operand_count = left;
	return session->at_count + (size_t)(count - left);
}

/* @return   whether there is a filesystem to work on; else an error was reported */
static bool choose_filesystems(struct session *session, struct invocation *invocation)
{
	unsigned int flags = invocation->command->flags;

	if (add_filesystems(session, invocation) == 0) {
		if (flags & COMMAND_CHANGES)
			session_usage_error(session, "name the filesystem: a directory on it, "
						     "last or with --at");
		else if (flags & COMMAND_WITHOUT_QUOTA)
			paths_add_all(session);
		else
			paths_add_all_with_quota(session, flags & COMMAND_XFS);
	}
	/* What is to be changed is changed everywhere or nowhere. */
	return session->path_count > 0 && !(session->status && (flags & COMMAND_CHANGES));
}

static void run_on_each(struct session *session, struct invocation *invocation)
{
	const struct command *command = invocation->command;

	for (size_t i = 0; i < session->path_count; i++) {
		session->current_path = (int)i;
		/* The same filesystem under another name has been visited already. */
		if (paths_find_dev(session, session->paths[i].info->dev) < (int)i)
			continue;
		if ((command->flags & COMMAND_XFS) && !session->paths[i].info->is_xfs)
			session_error(session, 0, FSQ_E_NOT_SUPPORTED, 0, NULL,
				      "%s: command is for XFS filesystems only", command->name);
		else
			command->run(session, invocation);
		/* A usage error would repeat for every filesystem. */
		if (session->status == session_exit_code(FSQ_E_USAGE))
			break;
	}
}

static void run_on_filesystems(struct session *session, struct invocation *invocation)
{
	const struct command *command = invocation->command;
	struct table table;

	if (!choose_filesystems(session, invocation) ||
	    !session_output_begin(session, session->output_file))
		return;
	table = tables_begin(session, command->name);
	session->table = &table;
	session->current_path = 0;
	if (command->flags & COMMAND_ONCE)
		command->run(session, invocation);
	else
		run_on_each(session, invocation);
	session->current_path = -1;
	session->table = NULL;
	tables_end(session, &table);
	session_output_end(session);
}

static void run_parsed(struct session *session, struct invocation *invocation)
{
	const struct command *command = invocation->command;

	if (!(command->flags & COMMAND_QUICK))
		session_wait(session);
	if (session->help)
		command_explain(session, command);
	else if (command == &batch_command && session->batch)
		session_usage_error(session, "batch is no request of its own");
	else if (command == &batch_command && invocation->operand_count > 0)
		session_usage_error(session, "batch takes no other words, not \"%s\"",
				    invocation->operands[0]);
	else if (command == &batch_command)
		batch_run(session);
	else if (command->flags & COMMAND_FILESYSTEMS)
		run_on_filesystems(session, invocation);
	else
		command->run(session, invocation);
}

static void run_command(struct session *session, const struct command *command, int argc,
			char **argv)
{
	void *options = calloc(1, command->options_size + 1);
	struct invocation invocation;
	static char program[32];

	snprintf(program, sizeof(program), "fsquota %s", command->name);
	session->program = program;
	session->rows = command->rows;
	if (!options)
		session_errno(session, 0, ENOMEM, NULL, "cannot go on");
	else if ((!(command->flags & COMMAND_CONFIG) || config_read(session)) &&
		 parse_words(session, command, argc, argv, &invocation, options))
		run_parsed(session, &invocation);
	if (options && command->clear_options)
		command->clear_options(options);
	free(options);
}

/* @return   the command of that name; NULL: an error was reported */
static const struct command *look_up_command(struct session *session, const char *name)
{
	const struct command *command = command_find(name);

	if (command)
		return command;
	session_usage_error(session, "there is no command \"%s\"; see fsquota --help", name);
	return NULL;
}

/* help [--machine] [COMMAND] */
static void help(struct session *session, int argc, char **argv)
{
	bool machine = argc > 1 && strcmp(argv[1], "--machine") == 0;
	const char *name = argv[1 + machine];
	const struct command *command = NULL;

	if (argc > 2 + machine) {
		session_usage_error(session, "%s takes one command, not \"%s\"", argv[0],
				    argv[2 + machine]);
		return;
	}
	if (name)
		command = look_up_command(session, name);
	if (name && !command)
		return;
	if (machine)
		command_describe(session, command);
	else if (command)
		command_explain(session, command);
	else
		list_commands(session);
}

/* How many words an option takes that may stand before the command; 0: it is none. */
static int words_of_option(const char *word)
{
	size_t length = strcspn(word, "=");

	for (const struct command_option *const *table = common_options; *table; table++)
		for (const struct command_option *option = *table; option->name; option++)
			if (strncmp(word, "--", 2) == 0 && strlen(option->name) + 2 == length &&
			    memcmp(word + 2, option->name, length - 2) == 0)
				return option->kind != VALUE_NONE && !word[length] ? 2 : 1;
	return 0;
}

/* Put the command in front of the options that stand before it. */
static void move_options(int argc, char **argv)
{
	int at = 0, words;
	char *command;

	while (at < argc && (words = words_of_option(argv[at])) > 0)
		at += words;
	if (at == 0 || at >= argc)
		return;
	command = argv[at];
	memmove(argv + 1, argv, (size_t)at * sizeof(*argv));
	argv[0] = command;
}

/* Errors before the options are parsed are JSON, too. */
static bool wants_json(char **argv)
{
	for (; *argv && strcmp(*argv, "--") != 0; argv++)
		if (strcmp(*argv, "--json") == 0 || strcmp(*argv, "--jsonl") == 0)
			return true;
	return false;
}

static bool is_one_of(const char *word, const char *one, const char *other, const char *third)
{
	return strcmp(word, one) == 0 || strcmp(word, other) == 0 || strcmp(word, third) == 0;
}

/* @argv     the command and its words */
static void run(struct session *session, int argc, char **argv)
{
	const struct command *command;

	if (argc == 0) {
		session_usage_error(session, "no command given; see fsquota --help");
	} else if (is_one_of(argv[0], "help", "--help", "-h")) {
		help(session, argc, argv);
	} else if (is_one_of(argv[0], "--version", "-V", "version")) {
		if (argc > 1)
			session_usage_error(session, "%s takes no other words, not \"%s\"", argv[0],
					    argv[1]);
		else
			text_program_version(session->out, PACKAGE_VERSION);
	} else {
		command = look_up_command(session, argv[0]);
		if (command)
			run_command(session, command, argc, argv);
	}
}

struct session native_session(struct writer *out)
{
	return (struct session){
		.program = "fsquota",
		.projects_file = FSQ_PROJECTS_FILE,
		.projid_file = FSQ_PROJID_FILE,
		.lock_seconds = FSQ_LOCK_SECONDS,
		.current_path = -1,
		.out = out,
	};
}

void native_run(struct session *session, int count, char **words)
{
	session->json |= wants_json(words);
	move_options(count, words);
	run(session, count, words);
	session_flush(session);
}

int native_main(int argc, char **argv)
{
	static struct writer standard_output;
	struct session session = native_session(&standard_output);

	writer_start(&standard_output, STDOUT_FILENO);
	native_run(&session, argc - 1, argv + 1);
	session_end(&session);
	return session.status;
}
