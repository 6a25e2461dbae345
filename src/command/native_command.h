/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that only the native door has. */
#ifndef FSQ_NATIVE_COMMAND_H
#define FSQ_NATIVE_COMMAND_H

#include <getopt.h>

#include "quota/owner.h"
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

/* What every native command knows; commands with words of their own put these first. */
#define NATIVE_WORDS                                   \
	{ "help", no_argument, NULL, 'h' },            \
	{                                              \
		"json", no_argument, NULL, NATIVE_JSON \
	}

/* And those that look at the files of /etc. */
#define NATIVE_FILE_WORDS                                                   \
	{ "projects-file", required_argument, NULL, NATIVE_PROJECTS_FILE }, \
	{                                                                   \
		"projid-file", required_argument, NULL, NATIVE_PROJID_FILE  \
	}

/* And those that lock them. */
#define NATIVE_LOCK_WORDS                                                    \
	{                                                                    \
		"lock-timeout", required_argument, NULL, NATIVE_LOCK_TIMEOUT \
	}

/* And those that walk trees. */
#define NATIVE_WALK_WORDS                                            \
	{                                                            \
		"progress", required_argument, NULL, NATIVE_PROGRESS \
	}

/* Numbers for options without a letter; those of commands begin at NATIVE_OWN. */
enum {
	NATIVE_JSON = 256,
	NATIVE_PROJECTS_FILE,
	NATIVE_PROJID_FILE,
	NATIVE_LOCK_TIMEOUT,
	NATIVE_PROGRESS,
	NATIVE_OWN
};

/**
 * Read the next option of a native command with getopt_long(3). Those of NATIVE_WORDS and
 * NATIVE_FILE_WORDS are dealt with here.
 *
 * @letters  short options, with h
 * @words    long options, or NULL: only --help
 * @return   the option; -1 at the end of them; 0 when the command is over: help was
 *           shown, or an option was wrong and the user told
 */
int native_option(struct session *session, const struct native_command *command, int argc,
		  char **argv, const char *letters, const struct option *words);

/** Take --id. @return  whether it is an ID; else the user has been told */
bool native_take_id(struct session *session, struct fsq_claim *claim);

/** The one operand there must be. @return  whether it is there; else the user has been told */
bool native_operand(struct session *session, const struct native_command *command, int argc,
		    char **argv, const char **operand);

/* Each in the file of its name. */
#define NATIVE_FUNCTION(name)                                                             \
	void native_##name(struct session *session, const struct native_command *command, \
			   int argc, char **argv)
NATIVE_FUNCTION(assign);
NATIVE_FUNCTION(id);
NATIVE_FUNCTION(list);
NATIVE_FUNCTION(lsattr);
NATIVE_FUNCTION(release);
NATIVE_FUNCTION(resize);
NATIVE_FUNCTION(supported);
NATIVE_FUNCTION(usage);

#endif
