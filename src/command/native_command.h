/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that only the native door has. */
#ifndef FSQ_NATIVE_COMMAND_H
#define FSQ_NATIVE_COMMAND_H

#include "session.h"

struct native_command {
	const char *name;
	const char *program; /* in front of messages: "fsquota NAME" */
	const char *summary;
	const char *usage;
	const char *help; /* options and what they do */
	/* @argv[0] is the name; the outcome goes to @session->status */
	void (*run)(struct session *session, const struct native_command *command, int argc,
		    char **argv);
};

/** @return  the commands, sorted by name, of which @count is how many */
const struct native_command *native_command_all(size_t *count);

/**
 * Read the next option of a native command with getopt_long(3); --help is answered here.
 *
 * @letters  short options, without h
 * @return   the option; -1 at the end of them; 0 when the command is over: help was
 *           shown, or an option was wrong and the user told
 */
int native_option(struct session *session, const struct native_command *command, int argc,
		  char **argv, const char *letters);

/* Each in the file of its name. */
#define NATIVE_FUNCTION(name)                                                             \
	void native_##name(struct session *session, const struct native_command *command, \
			   int argc, char **argv)
NATIVE_FUNCTION(id);
NATIVE_FUNCTION(lsattr);

#endif
