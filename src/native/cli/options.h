/* SPDX-License-Identifier: Apache-2.0 */
/* Options that several commands share: tables that describe them, and functions that evaluate them. */
#ifndef FSQ_OPTIONS_H
#define FSQ_OPTIONS_H

#include "command.h"
#include "quota/fsquota.h"

extern const struct command_option dry_run_option[];	/* --dry-run */
extern const struct command_option registry_options[];	/* --projects-file, --projid-file */
extern const struct command_option lock_option[];	/* --lock-timeout */
extern const struct command_option progress_option[];	/* --progress */
extern const struct command_option max_errors_option[]; /* --max-errors */
extern const struct command_option help_option[];	/* -h, --help */

/** Options that may also precede the command; NULL ends the tables. */
extern const struct command_option *const common_options[];

/*
 * --id, --name and --at of a command that changes the quota of a directory. With a directory, --id is its ID;
 * without one they select the project. Both go to the session.
 */
extern const struct command_option own_project_options[];

/**
 * Check whether these options can be combined with each other and with directories.
 *
 * @directories   how many are given
 * @many          --at alone is allowed: it means the projects of several filesystems
 * @return        whether they can; else an error was reported
 */
bool options_check_own_project(struct session *session, int directories, bool many);

/** @return  whether --name or --at selects a project instead of a directory */
bool options_stand_for_directory(const struct session *session);

/*
 * --id, --name and --at select a project instead of its directory. They go to the session;
 * projects_collect_chosen() finds the project.
 */
extern const struct command_option chosen_options[];

/** @return  whether --id or --name was given */
bool options_choose_project(const struct session *session);

/** @return  whether there are operands, or a project was chosen; else an error was reported */
bool options_directories_or_project(struct session *session, const struct invocation *invocation);

/**
 * The ID of --id or --name, or 0.
 *
 * @may_miss   an unknown name is no error
 * @return     whether it was found; else an error was reported, unless it may miss
 */
bool options_project_id(struct session *session, bool may_miss, uint32_t *id);

/**
 * Put the filesystems of --at into the table of paths, or without it all that have quota.
 *
 * @return   whether there is one; else an error was reported
 */
bool options_add_filesystems(struct session *session);

/** Report what is wrong with the words, together with the usage line. @return  false */
bool options_refuse(struct session *session, const struct invocation *invocation,
		    const char *wrong);

/** @return  whether there is an operand; else an error was reported */
bool options_some_operand(struct session *session, const struct invocation *invocation,
			  const char *noun);

/* --- options and functions for rows --- */

/* --output, --sort, --raw, --json ...; what they choose goes to session->style. */
extern const struct command_option table_options[];
/* The same without -o and -P, for commands whose letters are those of xfs_quota. */
extern const struct command_option long_table_options[];
extern const struct command_option first_options[], over_option[]; /* --reverse --top; --over */

/** Parse a percentage, at least @least, of an option. @return  whether it is right; else an error was reported */
bool tables_parse_percent(struct session *session, const char *option, const char *text,
			  double least, double *percent);

/** Parse as fsq_parse_duration(), but refuse a sign: +4h would not add anything. @return  whether it is a time */
bool options_parse_duration(const char *text, uint64_t *seconds);

/** Parse a time such as 4h, not 0, and store it as uint64_t seconds in the option's field. */
bool options_take_time(struct session *session, const struct command_option *option, void *to,
		       const char *text);

/**
 * Begin the rows of the command that runs, in session->table. main.c has called it with the command's name.
 *
 * @key      of the JSON document
 */
void tables_begin(struct session *session, const char *key);

/** Sort the fullest first, unless --sort says otherwise. What has no limit follows, the largest first. */
void tables_sort_fullest(struct session *session);

/** Print a row, or end the table; report a lack of memory. */
void tables_row(struct session *session, const void *row);
void tables_end(struct session *session);

/* --- options of commands that xfs_quota has, too --- */

/* The options of such a command begin with these. */
struct quota_options {
	bool type[FSQ_TYPES];
	bool form[FSQ_FORMS];
	const char *file;	   /* to read from */
	const char *lower, *upper; /* of -L and -U, for options_number() */
	bool numeric, verbose, ignored;
};

extern const struct command_option type_options[];	 /* -u -g -p */
extern const struct command_option form_options[];	 /* -b -i -r */
extern const struct command_option human_option[];	 /* -h */
extern const struct command_option numeric_option[];	 /* -n */
extern const struct command_option all_option[];	 /* -a */
extern const struct command_option output_file_option[]; /* -f */

/** @return  how many types are selected */
int options_type_count(const struct quota_options *options);

/** @return  the selected type, by default project; for commands that take one type */
enum fsq_type options_type(const struct quota_options *options);

/** @return  whether at most one type is selected; else an error was reported */
bool options_check_type(struct session *session, const struct quota_options *options);

/** Warn that a command without -u, -g or -p leaves users and groups out, if the filesystem has limits of them. */
void options_tell_of_others(struct session *session, const struct quota_options *options,
			    struct fsq_filesystem *fs, const char *command);

/** @return  whether a form is selected */
bool options_has_form(const struct quota_options *options);

/**
 * The number of -L, -U or -d.
 *
 * @text     NULL: leave *@number as it is
 * @return   whether @text is such a number; else an error was reported
 */
bool options_number(struct session *session, const char *text, uint32_t *number);

/** @return  the option at @index, or NULL behind the last */
const struct command_option *command_option(const struct command *command, size_t index);

/**
 * Find an option by its letter, or if that is 0 by its whole name. Abbreviations are refused: in another command or
 * a later version they could mean another option.
 *
 * @return   the option, or NULL
 */
const struct command_option *command_find_option(const struct command *command, char letter,
						 const char *name, size_t length);

/** @return  whether the command accepts --name of a project instead of its directory */
bool command_takes_project(const struct command *command);

#endif
