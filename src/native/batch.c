/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"
#include "options.h"

/* The requests are command lines, which a command does not know: batch_run.c runs it. */
const struct command batch_command = {
	.name = "batch",
	.summary = "answer commands from standard input, one a line",
	.synopsis = "< REQUESTS",
	.help = "Read a command a line, as words that are quoted as for the shell or as a JSON\n"
		"array of strings, and answer each with a line of JSON. One process does the\n"
		"work of thousands.",
	.options = (option_tables){ help_option, NULL },
};
