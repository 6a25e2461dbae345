/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The description of a command. Each command has one, at the end of its file; --help, usage lines
 * and the completion of the shells come from it. main.c lists all of them.
 */
#ifndef FSQ_COMMAND_H
#define FSQ_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session.h"

/* The kind of a value. Shell completion uses it, and --machine prints it. */
#define VALUE_NUMBER "number"
#define VALUE_SIZE "size"
#define VALUE_TIME "time"
#define VALUE_ID "id"
#define VALUE_CHOICE "choice"
#define VALUE_NAME "name"	/* of a user, group or project, as the options select */
#define VALUE_PROJECT "project" /* name or ID of a project */
#define VALUE_LIMIT "limit"	/* bhard=SIZE */
#define VALUE_COLUMNS "columns"
#define VALUE_FILE "file"
#define VALUE_DIRECTORY "directory"
#define VALUE_REGISTERED "registered" /* a directory, usually one in /etc/projects */
#define VALUE_PATH "path"
#define VALUE_ADDRESS "address" /* a network address with a port */
#define VALUE_OWNER "owner"	/* USER or USER:GROUP */
#define VALUE_COMMAND "command"

/* What operands of VALUE_LIMIT are to be. */
#define LIMIT_WORDS                                                                         \
	"limits and whose they are, such as bhard=50M alice /srv; of a directory: fsquota " \
	"assign DIR --hard 50M"

/* Tables list the first three members without names, and end with { 0 }. */
struct command_option {
	char letter;	  /* or 0 */
	const char *name; /* the long name, or NULL */
	const char *help;
	const char *kind; /* VALUE_...; NULL: there is no value */
	/*
	 * The offset of the member of the command's options that it sets: a bool; a const char * if
	 * there is a value; an enum in the order of the choices; a struct word_list if it repeats.
	 */
	uint16_t field;
	/* The same, if it sets a member of the session; 0: it does not. */
	uint16_t session_field;
	bool repeats;
	bool range;		  /* the field is a struct fsq_id_range */
	bool positive;		  /* the field is a uint64_t above 0; of VALUE_TIME in seconds */
	const char *argument;	  /* what help calls the value */
	const char *choices;	  /* of VALUE_CHOICE, separated by blanks */
	const char *choices_text; /* the same for errors: "a, b or c"; of a range an example */
	/* Sets the option in place of the above, or NULL. Returns false to end the command. */
	bool (*take)(struct session *session, const struct command_option *option, void *options,
		     const char *value);
};

/* The tables of a command, in the order of --help; NULL ends them. */
typedef const struct command_option *const option_tables[];

struct command_operand {
	const char *kind; /* VALUE_...; NULL: there is no value */
	const char *argument;
	bool repeats; /* any number of them */
};

enum command_flags {
	COMMAND_FILESYSTEMS = 1,    /* works on the filesystems of --at, or of its last operands */
	COMMAND_ONCE = 2,	    /* runs once for all filesystems, not for each */
	COMMAND_PATHS = 8,	    /* all its operands are paths on filesystems */
	COMMAND_CHANGES = 16,	    /* a filesystem must be named */
	COMMAND_WITHOUT_QUOTA = 32, /* includes filesystems without quota */
	COMMAND_CONFIG = 64,	    /* reads fsquota.conf(5) */
	COMMAND_QUICK = 128,	    /* never waits; its time does not depend on the size of trees */
	COMMAND_BUDGETS = 256,	    /* checks budgets, also those of /etc/fsquota.d */
	COMMAND_READS = 512,	    /* changes nothing */
	COMMAND_SAVES = 1024,	    /* people keep in a file what it prints */
};

/* How the JSON document differs from an array of rows under the name of the command. */
enum command_answers {
	ANSWER_SINGLE = 1, /* one row instead of an array */
	ANSWER_LINES = 2,  /* each line is a document */
	ANSWER_MOUNTS = 4, /* with "mounts_skipped" after the rows */
};

struct command;

/* One run of a command. */
struct invocation {
	const struct command *command;
	const void *options; /* of the command's type */
	char **operands;
	int operand_count;
};

/* The heading under which --help lists a command. */
enum command_group {
	GROUP_DIRECTORY,
	GROUP_LOOK,
	GROUP_NODE,
	GROUP_RECORDS,
	GROUP_PROGRAMS,
};

struct command {
	const char *name;
	const char *alias;
	enum command_group group;
	const char *summary;
	const char *synopsis; /* what follows the name */
	const char *help;     /* what it does, in lines of at most 80 columns */
	const char *example;  /* the end of help: command lines without the program */
	const struct command_option *const *options; /* option_tables; NULL: none */
	struct command_operand operands[3];	     /* other than the PATHs of filesystems */
	const struct row_fields *rows;		     /* that it prints, or NULL */
	const struct row_fields *totals; /* printed after them, in JSON under "total"; or NULL */
	unsigned int answers;		 /* enum command_answers */
	size_t options_size;
	const void *defaults;		      /* of its options; NULL: zeros */
	void (*clear_options)(void *options); /* free what they hold, or NULL */
	unsigned int flags;
	void (*run)(struct session *session, const struct invocation *invocation);
};

/**
 * Parse the options and operands of a command.
 *
 * @words    the words after the command's name, ended by NULL; modified: operands are moved to the front
 * @options  filled; command->options_size bytes
 * @return   false when an option is wrong; an error was reported
 */
bool parse_words(struct session *session, const struct command *command, char **words,
		 struct invocation *invocation, void *options);

/** Print the usage line, as an error. */
void command_show_usage(struct session *session, const struct command *command);

/** Report that a command takes no operand but the filesystem, with a hint if the operand looks like an ID. */
void command_refuse_operand(struct session *session, const struct invocation *invocation);

/** Print its help: what it does, its options and an example. */
void command_explain(struct session *session, const struct command *command);

/** Print its options and operands for programs, one a line. @command NULL: all commands. */
void command_describe(struct session *session, const struct command *command);

/** Print the help of the program, with a line for each command. */
void command_list_all(struct session *session);

/** @return  the command of that name or alias, or NULL */
const struct command *command_find(const struct session *session, const char *name);

/* --- main.c --- */

/** A session with all commands, which prints to @out; its run() runs one. */
struct session native_session(struct writer *out);

/**
 * The native program: fsquota COMMAND [OPTIONS] [PATH].
 *
 * @return   an exit code of fsquota(8)
 */
int native_main(int argc, char **argv);

/* --- batch.c: a request of batch is a line with the words of a command line --- */

struct request {
	char **words; /* ended by NULL; they point into the line */
	size_t count, capacity;
	const char *wrong; /* with it; or NULL */
};

/**
 * Split a line into words. It is a JSON array of strings, or words separated by blanks, without quoting.
 *
 * @request  filled; the next call reuses its memory, and the caller frees the words
 * @line     ended by a NUL; modified
 * @length   of the line, without the NUL
 * @return   NULL, or what is wrong with the line
 */
const char *request_parse(struct request *request, char *line, size_t length);

#endif
