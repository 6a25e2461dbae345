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

/* What an option or an operand is: shells complete by it, --machine shows it. */
enum value_kind {
	VALUE_NONE,
	VALUE_NUMBER,
	VALUE_SIZE,
	VALUE_TIME,
	VALUE_ID,
	VALUE_CHOICE,
	VALUE_NAME,    /* of a user, group or project, as the options select */
	VALUE_PROJECT, /* name or ID of a project */
	VALUE_LIMIT,   /* bhard=SIZE */
	VALUE_COLUMNS,
	VALUE_FILE,
	VALUE_DIRECTORY,
	VALUE_PATH,
	VALUE_ADDRESS, /* of the network, with a port */
};

/* Tables name the first three members by their place alone, and are ended by { 0 }. */
struct command_option {
	char letter;	  /* or 0 */
	const char *name; /* the long name, or NULL */
	const char *help;
	enum value_kind kind;
	/*
	 * The offset in the command's options of what it sets: a bool, a const char * for a value,
	 * an enum that has the choices in their order, or a struct word_list if it repeats.
	 */
	uint16_t field;
	/* The same in the session; 0: it is not there. */
	uint16_t session_field;
	bool repeats;
	bool range;    /* the field is a struct fsq_id_range */
	bool positive; /* the field is a uint64_t from 1 on; seconds, if it is a VALUE_TIME */
	const char *argument;	  /* what help calls the value */
	const char *choices;	  /* of VALUE_CHOICE, separated by blanks */
	const char *choices_text; /* the same for an error: "a, b or c"; of a range an example */
	/* Or the function that sets it; false ends the command. */
	bool (*take)(struct session *session, const struct command_option *option, void *options,
		     const char *value);
};

/* The tables of a command, in the order of --help; NULL ends them. */
typedef const struct command_option *const option_tables[];

struct command_operand {
	enum value_kind kind;
	const char *argument;
	bool repeats; /* those that follow may stand at any of its places */
};

enum command_flags {
	COMMAND_FILESYSTEMS = 1,    /* works on filesystems: those of --at, or its last operands */
	COMMAND_ONCE = 2,	    /* runs once for all of them, not for each */
	COMMAND_XFS = 4,	    /* works on XFS alone */
	COMMAND_PATHS = 8,	    /* all its operands are paths on filesystems */
	COMMAND_CHANGES = 16,	    /* requires that a filesystem is named */
	COMMAND_WITHOUT_QUOTA = 32, /* filesystems without quota are shown, too */
	COMMAND_CONFIG = 64,	    /* goes by /etc/fsquota.conf */
	COMMAND_BUDGETS = 256,	    /* goes by budgets, those of /etc/fsquota.d too */
	COMMAND_QUICK = 128,	    /* never waits, and takes no longer for larger trees */
};

/* What the JSON document is, if not an array of rows under the name of the command. */
enum command_answers {
	ANSWER_SINGLE = 1, /* one row instead of an array */
	ANSWER_LINES = 2,  /* each line is a row */
	ANSWER_MOUNTS = 4, /* with "mounts_skipped" behind the rows */
	ANSWER_MANY = 8,   /* with ANSWER_SINGLE: or an array, if more can be asked for */
};

struct command;

/* One run of a command. */
struct invocation {
	const struct command *command;
	const void *options; /* of the command's type */
	char **operands;
	int operand_count;
};

struct command {
	const char *name;
	const char *alias;
	const char *summary;
	const char *synopsis; /* behind the name */
	const char *help;     /* what it does, in lines of at most 80 columns */
	const char *example;  /* what help ends with, or NULL */
	const struct command_option *const *options; /* option_tables; NULL: none */
	struct command_operand operands[3];	     /* without the PATHs of filesystems */
	const struct row_fields *rows;		     /* that it prints, or NULL */
	const struct row_fields *totals; /* behind them, in JSON under "total"; or NULL */
	unsigned int answers;		 /* enum command_answers */
	size_t options_size;
	const void *defaults;		      /* of its options; NULL: zeros */
	void (*clear_options)(void *options); /* free what they hold, or NULL */
	unsigned int flags;
	void (*run)(struct session *session, const struct invocation *invocation);
};

/**
 * @words    behind the command's name, ended by NULL; the operands are moved to its beginning
 * @options  to be filled, command->options_size bytes
 * @return   false when an option is wrong; an error was reported
 */
bool parse_words(struct session *session, const struct command *command, char **words,
		 struct invocation *invocation, void *options);

/** Print the usage line, as an error. */
void command_show_usage(struct session *session, const struct command *command);

/** Print its help: what it does, its options and an example. */
void command_explain(struct session *session, const struct command *command);

/** Print its options and operands for programs, one a line. @command NULL: all commands. */
void command_describe(struct session *session, const struct command *command);

/** Print what the program is, with a line for each command. */
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

/* src/main.c says which file has which. */
extern const struct command apply_command, assign_command, batch_command, check_command, df_command,
	disable_command, doctor_command, dump_command, enable_command, explain_command,
	export_command, find_command, id_command, limit_command, list_command, lsattr_command,
	metrics_command, move_command, oci_hook_command, off_command, project_command,
	prune_command, quot_command, quota_command, release_command, remove_command, report_command,
	resize_command, restore_command, schema_command, state_command, supported_command,
	timer_command, top_command, usage_command, watch_command;

#endif
