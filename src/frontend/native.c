/* SPDX-License-Identifier: Apache-2.0 */
#include "native.h"

#include <string.h>
#include <unistd.h>

#include "command/native_command.h"
#include "command/session.h"
#include "output/native_text.h"

static void list_commands(struct session *session)
{
	size_t count;
	const struct native_command *all = native_command_all(&count);

	text_program_help_begin(session->out);
	for (size_t i = 0; i < count; i++)
		text_program_help_row(session->out, all[i].name, all[i].summary);
	text_program_help_end(session->out);
}

static const struct native_command *find(const char *name)
{
	size_t count;
	const struct native_command *all = native_command_all(&count);

	for (size_t i = 0; i < count; i++)
		if (strcmp(all[i].name, name) == 0)
			return &all[i];
	return NULL;
}

static bool is_one_of(const char *word, const char *one, const char *other, const char *third)
{
	return strcmp(word, one) == 0 || strcmp(word, other) == 0 || strcmp(word, third) == 0;
}

static void run(struct session *session, int argc, char **argv)
{
	const struct native_command *command;
	const char *word = argc > 1 ? argv[1] : "";
	bool help = is_one_of(word, "help", "--help", "-h");

	if (help && argc == 2) {
		list_commands(session);
		return;
	}
	if (is_one_of(word, "--version", "-V", "version")) {
		text_program_version(session->out, PACKAGE_VERSION);
		return;
	}
	if (help)
		word = argv[2];
	command = find(word);
	if (argc < 2) {
		session_complain(session, -FSQ_E_USAGE, "no command given; see fsquota --help");
	} else if (!command) {
		session_complain(session, -FSQ_E_USAGE,
				 "there is no command \"%s\"; see fsquota --help", word);
	} else if (help) {
		text_command_help(session->out, command->usage, command->help);
	} else {
		session->program = command->program;
		command->run(session, command, argc - 1, argv + 1);
	}
}

int native_main(int argc, char **argv)
{
	static struct writer standard_output;
	struct session session = {
		.program = "fsquota",
		.projects_file = FSQ_PROJECTS_FILE,
		.projid_file = FSQ_PROJID_FILE,
		.current_path = -1,
		.home_path = -1,
		.out = &standard_output,
	};

	writer_start(&standard_output, STDOUT_FILENO);
	run(&session, argc, argv);
	session_flush(&session);
	session_end(&session);
	return session.status;
}
