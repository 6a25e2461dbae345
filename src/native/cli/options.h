/* SPDX-License-Identifier: Apache-2.0 */
/* The options that several commands share: tables for their descriptions, and where they go. */
#ifndef FSQ_OPTIONS_H
#define FSQ_OPTIONS_H

#include "command.h"
#include "quota/fsquota.h"
#include "table/table.h"

extern const struct command_option dry_run_option[];	/* --dry-run */
extern const struct command_option registry_options[];	/* --projects-file, --projid-file */
extern const struct command_option lock_option[];	/* --lock-timeout */
extern const struct command_option progress_option[];	/* --progress */
extern const struct command_option max_errors_option[]; /* --max-errors */
extern const struct command_option help_option[];	/* -h, --help */

/** Options that may also precede the command; NULL ends the tables. */
extern const struct command_option *const common_options[];

/** What every command that works on filesystems has besides; NULL ends the tables. */
extern const struct command_option *const options_of_filesystems[];

/*
 * --id, --name and --at of a command that changes the quota of a directory. With a directory, --id is its ID;
 * without one they select the project. Both go to the session.
 */
extern const struct command_option own_project_options[];

/**
 * Check how these options go with the directories.
 *
 * @directories   how many are given
 * @many          --at can stand alone, for the projects of several filesystems
 * @return        whether they make sense; else an error was reported
 */
bool options_check_own_project(struct session *session, int directories, bool many);

/** @return  whether they select a project, with a directory or without one */
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
 * @may_miss   a name that nobody has is no error
 * @return     whether it was found; else an error was reported, unless it may miss
 */
bool options_project_id(struct session *session, bool may_miss, uint32_t *id);

/**
 * Put the filesystems of --at into the table of paths, or without it all that have quota.
 *
 * @return   whether there is one; else an error was reported
 */
bool options_add_filesystems(struct session *session);

/** Say what is wrong with the words, and how they should be. @return  false */
bool options_refuse(struct session *session, const struct invocation *invocation,
		    const char *wrong);

/** @return  whether there is an operand; else an error was reported */
bool options_some_operand(struct session *session, const struct invocation *invocation,
			  const char *noun);

/* --- of rows --- */

/* --output, --sort, --raw, --json ...; what they choose goes to session->style. */
extern const struct command_option table_options[];
/* The same without letters, for commands whose letters are those of xfs_quota. */
extern const struct command_option long_table_options[];
extern const struct command_option first_options[], over_option[]; /* --reverse --top; --over */

/** Take the value of --over, @least or more. @return  whether it is one; else an error was reported */
bool tables_parse_over(struct session *session, const char *text, double least, double *percent);

/** As fsq_parse_duration(), without a sign: +4h would not be added. @return  whether it is a time */
bool options_parse_duration(const char *text, uint64_t *seconds);

/** Take a time such as 4h into the uint64_t of seconds at the option's field; not 0. */
bool options_take_time(struct session *session, const struct command_option *option, void *to,
		       const char *text);

/**
 * Begin the rows of the command that runs, in session->table. main.c has begun under its name.
 *
 * @key      of the JSON document
 */
void tables_begin(struct session *session, const char *key);

/** Print a row, or end; report an error without memory. */
void tables_row(struct session *session, const void *row);
void tables_end(struct session *session);

/* --- of commands that xfs_quota has, too --- */

/* The options of such a command begin with these. */
struct quota_options {
	bool type[FSQ_TYPES];
	bool form[FSQ_FORMS];
	const char *file; /* that is read */
	bool numeric, verbose, ignored;
};

extern const struct command_option type_options[];	 /* -u -g -p */
extern const struct command_option form_options[];	 /* -b -i -r */
extern const struct command_option human_option[];	 /* -h */
extern const struct command_option numeric_option[];	 /* -n */
extern const struct command_option no_header_option[];	 /* -N */
extern const struct command_option all_option[];	 /* -a */
extern const struct command_option output_file_option[]; /* -f */

/** @return  how many types are selected */
int options_type_count(const struct quota_options *options);

/** @return  the selected type, or project; for commands that take one */
enum fsq_type options_type(const struct quota_options *options);

/** @return  whether a form is selected */
bool options_has_form(const struct quota_options *options);

/**
 * The number of -L, -U or -d.
 *
 * @text     NULL: *@number stays
 * @return   whether it is one; else an error was reported
 */
bool options_number(struct session *session, const char *text, uint32_t *number);

#endif
