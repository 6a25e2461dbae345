/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>

#include "native_command.h"
#include "output/native_text.h"

/* Sorted by name. */
static const struct native_command commands[] = {
	{
		.name = "id",
		.program = "fsquota id",
		.summary = "print the project ID of files",
		.usage = "fsquota id PATH...",
		.help = "Print the project ID that each PATH carries, one a line; 0 is none.\n"
			"\n"
			"  -h, --help  show this and exit\n",
		.run = native_id,
	},
	{
		.name = "lsattr",
		.program = "fsquota lsattr",
		.summary = "list project IDs and flags of files, as lsattr(1) does",
		.usage = "fsquota lsattr [-padR] PATH...",
		.help = "List the flags of each PATH, or of what is in it if it is a directory.\n"
			"\n"
			"  -p          with the project ID in front\n"
			"  -d          directories themselves instead of what is in them\n"
			"  -a          also files whose names begin with a dot\n"
			"  -R          directories and all that is below them; mounts are not "
			"entered\n"
			"  -h, --help  show this and exit\n",
		.run = native_lsattr,
	},
};

const struct native_command *native_command_all(size_t *count)
{
	*count = sizeof(commands) / sizeof(commands[0]);
	return commands;
}

int native_option(struct session *session, const struct native_command *command, int argc,
		  char **argv, const char *letters)
{
	static const struct option words[] = {
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	opterr = 0;
	option = getopt_long(argc, argv, letters, words, NULL);
	switch (option) {
	case 'h':
		text_command_help(session->out, command->usage, command->help);
		return 0;
	case '?':
		if (optopt)
			session_complain(session, 1, FSQ_E_USAGE, "unknown option -%c; usage: %s",
					 optopt, command->usage);
		else
			session_complain(session, 1, FSQ_E_USAGE, "unknown option %s; usage: %s",
					 argv[optind - 1], command->usage);
		return 0;
	default:
		return option;
	}
}
