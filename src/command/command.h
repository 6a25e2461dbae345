/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands: what each is called, how it is used, and the function that does it. */
#ifndef FSQ_COMMAND_H
#define FSQ_COMMAND_H

#include "session.h"

enum command_flags {
	COMMAND_ONE_SHOT = 1, /* runs once, not for each filesystem of the table */
	COMMAND_FOREIGN = 2,  /* works on other filesystems than XFS */
	COMMAND_EXPERT = 4,   /* only with -x */
	COMMAND_ANYWHERE = 8, /* whatever the current path is */
	COMMAND_PATHS = 32,   /* its operands are paths on filesystems */
	COMMAND_CHANGES = 16, /* the native door wants to be told the filesystem */
	COMMAND_WALKS = 64,   /* knows --progress and --max-errors at the native door */
};

enum command_result { COMMAND_NEXT, COMMAND_QUIT };

struct command {
	const char *name;
	const char *alias;
	const char *options; /* for getopt(3) */
	const char *synopsis;
	const char *summary;
	const char *help;	  /* the long text of `help NAME`, or NULL */
	int min_words, max_words; /* after the command; max_words -1: any number */
	unsigned int flags;
	/* @argv[0] is the name as typed */
	enum command_result (*run)(struct session *session, const struct command *command, int argc,
				   char **argv);
};

/** @return  the command of that name or alias that the session may use, or NULL */
const struct command *command_find(const struct session *session, const char *name);

/** @return  the commands, sorted by name, of which @count is how many */
const struct command *command_all(size_t *count);

/** The paths that it takes at the native door, as its usage shows them. */
const char *command_operands(const struct command *command);

/** Print the one line that says how a command is used. */
enum command_result command_usage(struct session *session, const struct command *command);

/* Each in the file of its name. */
#define COMMAND_FUNCTION(name)                                                                     \
	enum command_result command_##name(struct session *session, const struct command *command, \
					   int argc, char **argv)
COMMAND_FUNCTION(df);
COMMAND_FUNCTION(disable);
COMMAND_FUNCTION(dump);
COMMAND_FUNCTION(enable);
COMMAND_FUNCTION(help);
COMMAND_FUNCTION(limit);
COMMAND_FUNCTION(off);
COMMAND_FUNCTION(path);
COMMAND_FUNCTION(print);
COMMAND_FUNCTION(project);
COMMAND_FUNCTION(quit);
COMMAND_FUNCTION(quot);
COMMAND_FUNCTION(quota);
COMMAND_FUNCTION(remove);
COMMAND_FUNCTION(report);
COMMAND_FUNCTION(restore);
COMMAND_FUNCTION(state);
COMMAND_FUNCTION(timer);
COMMAND_FUNCTION(warn);

#endif
