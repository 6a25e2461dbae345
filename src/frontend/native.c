/* SPDX-License-Identifier: Apache-2.0 */
#include "native.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "command/native_command.h"
#include "command/paths.h"
#include "command/progress.h"
#include "command/session.h"
#include "dispatch.h"
#include "output/native_text.h"
#include "quota/file_lock.h"
#include "quota/units.h"

static const struct native_command *find(const char *name)
{
	size_t count;
	const struct native_command *all = native_command_all(&count);

	for (size_t i = 0; i < count; i++)
		if (strcmp(all[i].name, name) == 0)
			return &all[i];
	return NULL;
}

static void list_commands(struct session *session)
{
	size_t native_count, count;
	const struct native_command *native = native_command_all(&native_count);
	const struct command *all = command_all(&count);

	text_program_help_begin(session->out);
	for (size_t i = 0; i < native_count; i++)
		text_program_help_row(session->out, native[i].name, native[i].summary);
	for (size_t i = 0; i < count; i++)
		if (!(all[i].flags & COMMAND_ANYWHERE))
			text_program_help_row(session->out, all[i].name, all[i].summary);
	text_program_help_end(session->out);
}

/* The words of a command of xfs_quota, sorted into what is ours and what is the command's. */
struct words {
	char **argv; /* the command, its options, "--", its operands; ended by NULL */
	int argc;
	char **paths; /* the filesystems */
	int path_count;
	bool help;
};

/* An operand that can only be a path; --at is for others. */
static bool is_path(const char *word)
{
	return strchr(word, '/') || strcmp(word, ".") == 0 || strcmp(word, "..") == 0;
}

static bool take_max_errors(struct session *session, const char *word)
{
	if (fsq_parse_positive(word, &session->max_errors) == 0)
		return true;
	session_complain(session, 1, FSQ_E_USAGE, "--max-errors is a number from 1 on, not \"%s\"",
			 word);
	return false;
}

static bool take_option(struct session *session, const struct command *command, struct words *words,
			int option)
{
	static char letters[128][3];

	if ((option == 'G' || option == 'M') && !(command->flags & COMMAND_WALKS))
		option = '?';
	switch (option) {
	case 'A':
		words->paths[words->path_count++] = optarg;
		return true;
	case 'J':
		session->json = true;
		session->render = &json_renderer;
		return true;
	case 'H':
		words->help = true;
		return true;
	case 'D':
		session->projects_file = optarg;
		return true;
	case 'P':
		session->projid_file = optarg;
		return true;
	case 'G':
		return progress_parse(session, optarg);
	case 'M':
		return take_max_errors(session, optarg);
	case '?':
		command_usage(session, command);
		return false;
	}
	/* One of the command's own. */
	letters[option & 127][0] = '-';
	letters[option & 127][1] = (char)option;
	words->argv[words->argc++] = letters[option & 127];
	if (optarg)
		words->argv[words->argc++] = optarg;
	return true;
}

/* @return   false when an option was wrong; the user has been told */
static bool sort_words(struct session *session, const struct command *command, struct words *words,
		       int argc, char **argv)
{
	static const struct option ours[] = {
		{ "at", required_argument, NULL, 'A' },
		{ "json", no_argument, NULL, 'J' },
		{ "help", no_argument, NULL, 'H' },
		{ "projects-file", required_argument, NULL, 'D' },
		{ "projid-file", required_argument, NULL, 'P' },
		{ "progress", required_argument, NULL, 'G' },
		{ "max-errors", required_argument, NULL, 'M' },
		{ NULL, 0, NULL, 0 },
	};
	static char dashes[] = "--";
	bool dashed = false;
	int option;

	opterr = 0;
	words->argv[words->argc++] = argv[0];
	/* The letters of our long options are no options of any command. */
	while ((option = getopt_long(argc, argv, command->options, ours, NULL)) != -1)
		if (!take_option(session, command, words, option))
			return false;
	while (argc > optind && ((command->flags & COMMAND_PATHS) ||
				 (words->path_count == 0 && is_path(argv[argc - 1]))))
		argc--;
	/* Behind our options there may be an ID with a minus. */
	for (int i = optind; i < argc && !dashed; i++)
		dashed = argv[i][0] == '-';
	if (dashed)
		words->argv[words->argc++] = dashes;
	for (int i = optind; i < argc; i++)
		words->argv[words->argc++] = argv[i];
	for (int i = argc; argv[i]; i++)
		words->paths[words->path_count++] = argv[i];
	return true;
}

/* Every filesystem that has quota; df and print also want the others. */
static void add_all(struct session *session, const struct command *command)
{
	paths_add_all(session);
	if (command->run == command_df || command->run == command_print)
		return;
	paths_keep_quota(session, !(command->flags & COMMAND_FOREIGN));
	if (session->path_count == 0)
		session_complain(session, 1, FSQ_E_NOT_SUPPORTED,
				 "no filesystem with quota is mounted");
}

static void add_paths(struct session *session, const struct command *command,
		      const struct words *words)
{
	dev_t dev;

	for (int i = 0; i < words->path_count; i++)
		paths_add(session, words->paths[i], &dev);
	if (words->path_count == 0 && (command->flags & COMMAND_CHANGES))
		session_complain(session, 1, FSQ_E_USAGE,
				 "name the filesystem: a directory on it, last or with --at");
	else if (words->path_count == 0)
		add_all(session, command);
}

static void show_help(struct session *session, const struct command *command)
{
	text_listed_help(session->out, command->name, command->synopsis, command_operands(command),
			 command->summary, command->help, command->flags & COMMAND_WALKS);
}

/* Each letter of a bundle of options becomes a word of its own. */
static size_t most_words(int argc, char **argv)
{
	size_t most = 2;

	for (int i = 0; i < argc; i++)
		most += strlen(argv[i]) + 1;
	return most;
}

/* A command of xfs_quota's table. */
static void run_listed(struct session *session, const struct command *command, int argc,
		       char **argv)
{
	struct words words = {
		.argv = calloc(most_words(argc, argv), sizeof(char *)),
		.paths = calloc((size_t)argc + 1, sizeof(char *)),
	};
	static char program[32];

	snprintf(program, sizeof(program), "fsquota %s", command->name);
	session->program = program;
	session->foreign_allowed = true;
	if (!words.argv || !words.paths) {
		session_complain(session, 1, ENOMEM, "cannot go on");
	} else if (sort_words(session, command, &words, argc, argv)) {
		if (words.help) {
			show_help(session, command);
			goto out;
		}
		add_paths(session, command, &words);
		/* What is to be changed is changed everywhere or nowhere. */
		if (session->path_count == 0 ||
		    (session->status && (command->flags & COMMAND_CHANGES)))
			goto out;
		session->current_path = 0;
		if (!(command->flags & COMMAND_CHANGES))
			session->render->begin(session->out, command->name);
		if (command->run == command_print || command->run == command_path)
			dispatch(session, command, words.argc, words.argv);
		else
			dispatch_all(session, command, words.argc, words.argv);
		session->current_path = -1;
		if (!(command->flags & COMMAND_CHANGES))
			session->render->end(session->out);
	}
out:
	free(words.argv);
	free(words.paths);
}

static bool is_one_of(const char *word, const char *one, const char *other, const char *third)
{
	return strcmp(word, one) == 0 || strcmp(word, other) == 0 || strcmp(word, third) == 0;
}

static void run(struct session *session, int argc, char **argv)
{
	const struct native_command *command;
	const struct command *listed;
	const char *word = argc > 1 ? argv[1] : "";
	bool help = is_one_of(word, "help", "--help", "-h");

	bool version = is_one_of(word, "--version", "-V", "version");

	if ((help && argc > 3) || (version && argc > 2)) {
		session_complain(session, 1, FSQ_E_USAGE, "%s takes %s, not \"%s\"", word,
				 help ? "one command" : "no other words", argv[help ? 3 : 2]);
		return;
	}
	if (help && argc == 2) {
		list_commands(session);
		return;
	}
	if (version) {
		text_program_version(session->out, PACKAGE_VERSION);
		return;
	}
	if (help)
		word = argv[2];
	command = find(word);
	session->expert = true;
	listed = command_find(session, word);
	/* The shell's own commands make no sense here. */
	if (listed && (listed->flags & COMMAND_ANYWHERE))
		listed = NULL;
	if (argc < 2) {
		session_complain(session, 1, FSQ_E_USAGE, "no command given; see fsquota --help");
	} else if (!command && !listed) {
		session_complain(session, 1, FSQ_E_USAGE,
				 "there is no command \"%s\"; see fsquota --help", word);
	} else if (help && command) {
		text_command_help(session->out, command->usage, command->help);
	} else if (help) {
		show_help(session, listed);
	} else if (command) {
		session->program = command->program;
		command->run(session, command, argc - 1, argv + 1);
	} else {
		run_listed(session, listed, argc - 1, argv + 1);
	}
}

int native_main(int argc, char **argv)
{
	static struct writer standard_output;
	struct session session = {
		.program = "fsquota",
		.projects_file = FSQ_PROJECTS_FILE,
		.projid_file = FSQ_PROJID_FILE,
		.lock_seconds = FSQ_LOCK_SECONDS,
		.current_path = -1,
		.home_path = -1,
		.native = true,
		.generation = XFS_QUOTA_7_2,
		.render = &text_renderer,
		.out = &standard_output,
	};

	writer_start(&standard_output, STDOUT_FILENO);
	run(&session, argc, argv);
	session_flush(&session);
	session_end(&session);
	return session.status;
}
