/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a run: options, the table of paths, output and exit status. Commands get it as an argument;
 * there are no globals.
 */
#ifndef FSQ_SESSION_H
#define FSQ_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/accounts.h"
#include "common/signals.h"
#include "quota/fsquota.h"
#include "shared/file_stamp.h"
#include "shared/writer.h"
#include "table/table.h"

/* When to show progress: on a terminal, never or always. */
enum progress_when { PROGRESS_AUTO, PROGRESS_NEVER, PROGRESS_ALWAYS };

/* The values of an option that may be given more than once. */
struct word_list {
	const char **words;
	size_t count, capacity;
};

/* One line of the table: a mounted filesystem, or the directory of a project. */
struct path_entry {
	bool is_project;
	char *directory;
	struct fsq_filesystem
		*fs; /* owned; of a project: the one its directory lies on, not owned */
	const struct fsq_filesystem_info *info; /* of it */
	uint32_t project;
};

struct command;

/* Where changes are written down. */
enum log_target { LOG_TO_JOURNAL, LOG_TO_SYSLOG, LOG_TO_NOTHING };

struct session {
	const char *program;		       /* in front of messages */
	const struct command *const *commands; /* all, sorted by name and ended by NULL */
	/* Run one, as the words of a command line ended by NULL; for batch. */
	void (*run)(struct session *session, char **words);
	bool json;		 /* --json was given */
	bool dry_run;		 /* --dry-run was given */
	bool help;		 /* --help was given */
	bool has_root;		 /* --root was given: nothing is loaded or run from now on */
	bool no_memory;		 /* memory was missing, which was reported */
	struct word_list at;	 /* --at */
	uint32_t wanted_id;	 /* --id of a project instead of a directory, or 0 */
	const char *wanted_name; /* --name of one, or NULL */
	const char *projects_file;
	const char *projid_file;
	const char *output_file; /* -f, or NULL */

	struct path_entry *paths; /* see paths.h */
	size_t path_count, path_capacity;
	int current_path; /* index, or -1 */
	uint32_t *unseen; /* IDs of directories that could not be looked at */
	size_t unseen_count, unseen_capacity;
	/* Adds a suggestion to an error about a path, see suggest.h; or NULL. */
	char *(*suggest)(struct session *session, const char *path, bool exists);
	bool takes_name; /* the command that runs takes --name instead of a path */
	bool names_read;
	struct fsq_project_names *names; /* read on first use */

	/* Of commands that register directories; see fsquota.conf(5): */
	bool no_register;
	unsigned int lock_seconds;
	struct fsq_id_range range;
	bool range_configured;
	struct fsq_budget *budgets; /* see budgets.h */
	size_t budget_count, budget_capacity;
	bool budgets_unknown; /* a line of them is wrong, of which the user was warned */
	char *config_text;    /* some of the above point into it */
	enum log_target log;

	/* Of commands that walk trees: */
	enum progress_when progress;
	uint64_t max_errors; /* 0: no bound */

	/* Of a request of batch: */
	void *batch; /* or NULL */
	void (*before_waiting)(void *batch);
	struct fsq_cache *cache;    /* or NULL */
	struct config_file *config; /* what was read already, or NULL */
	unsigned int visits;
	bool has_waited;
	bool stopped; /* by a signal */

	const struct row_fields *rows; /* of the command that runs, or NULL */
	struct table_style style;      /* how they are printed */
	struct table table;	       /* the rows of the command that runs */
	struct writer *out;
	/* In a request of batch, instead of standard error: the first error, and what follows. */
	struct writer *error, *messages;
	int status;
	bool changed; /* something, or in a dry run it would be: see journal_write() */
};

/** @return  a session with the defaults, which prints to @out */
struct session session_new(struct writer *out);

/** @return whether a signal came to end the request of batch; without batch it ends the process */
bool session_is_stopped(void *session);

/**
 * Ask between two operands, while signals are blocked: each may notice too late that one has come.
 *
 * @next     the operand that would be next
 * @return   false when one is pending that ends the command, which was reported
 */
bool session_goes_on(struct session *session, const char *next);

/** Report that it did. */
void session_report_stop(struct session *session, const char *path);

/** Call before long work: flushes the answers to earlier requests of batch. */
void session_wait(struct session *session);

/** @return  the exit status for an FSQ_E_ code, see fsquota(8) */
int session_exit_code(int code);

/** A status of wrong usage promises that nothing was changed: if something was, it becomes that of a part. */
void session_settle_status(struct session *session);

/* How an error is said. */
enum error_flags {
	ERROR_OF_FILE = 1,    /* of a file the user named, so no hint is of use */
	ERROR_NO_QUOTA = 2,   /* say why there is none; see errors.c */
	ERROR_OTHER_TYPE = 4, /* it is of users or groups */
	ERROR_AT_PATH = 8,    /* the line begins with the path, not the filesystem */
};

/** @return  the flag for quotas of that type */
unsigned int session_flag_of(enum fsq_type type);

/**
 * Report an error of the library on stderr, and set the exit status.
 *
 * @return   false, as all functions that report an error
 */
bool session_fail(struct session *session, const struct fsq_error *err);

/**
 * @flags    enum error_flags
 * @code     an FSQ_E_ code: the exit status
 * @errnum   the errno behind it, which is said, too; or 0
 * @path     the object that failed, for JSON; NULL: the filesystem that is worked on
 */
bool session_error(struct session *session, unsigned int flags, int code, int errnum,
		   const char *path, const char *format, ...) __attribute__((format(printf, 6, 7)));

/** @return  the code that an errno stands for */
int session_code_of(int errnum, const char *path);

/* The same with that code. */
#define session_errno(session, flags, errnum, path, ...) \
	session_error(session, flags, session_code_of(errnum, path), errnum, path, __VA_ARGS__)

/* Report a usage error. */
#define session_usage_error(session, ...) \
	session_error(session, 0, FSQ_E_USAGE, 0, NULL, __VA_ARGS__)

/*
 * Print a warning; the exit status stays.
 *
 * @path     in front of the line, and of JSON; or NULL
 */
#define session_warn(session, path, ...) \
	session_error(session, ERROR_AT_PATH, FSQ_OK, 0, path, __VA_ARGS__)

/** Report that there is no memory. @return  false */
bool session_no_memory(struct session *session);

/** Warn of limits on the filesystem of @path, or mounted there, that have no effect. */
void session_warn_not_enforced(struct session *session, const char *path);

/** @return  whether rows are printed in a format or with columns that were chosen */
bool session_has_rows(const struct session *session);

/** Where commands register directories. */
struct fsq_registry session_registry(const struct session *session);

/** The usage of the project of a directory. @return  as fsq_usage_get() */
int session_usage(const struct session *session, const char *path, struct fsq_usage *usage,
		  struct fsq_error *err);

/** Report that fsq_projects_each() could not read the projects file, unless there is none. */
void session_note_projects(struct session *session, const struct fsq_error *err);

/** Read the names of projects, from the cache if there is one. @return as fsq_project_names_read() */
int session_read_names(struct session *session, struct fsq_error *err);

/** Read them again the next time they are asked for: the file was changed. */
void session_forget_names(struct session *session);

/** The names of the projid file, read on first use; NULL, which has none, without memory. */
struct fsq_project_names *session_names(struct session *session);

/**
 * @word     a number, or a name of the user, group or projid database
 * @return   whether it stands for an ID that can exist; the ID goes to @id
 */
bool names_to_id(struct session *session, enum fsq_type type, const char *word, uint32_t *id);

/** @return  whether there was no memory for the names of projects, which was reported */
bool names_are_lost(const struct session *session);

/** As names_to_id(), for commands that change something: if it fails an error is reported. */
bool names_to_id_or_complain(struct session *session, enum fsq_type type, const char *word,
			     uint32_t *id);

/** @return  the name of an ID, valid until the next call, or NULL */
const char *names_of_id(struct session *session, enum fsq_type type, uint32_t id);

/**
 * Open something that can be neither read nor written for each standard stream that is closed: for commands that
 * keep files open, which would get its number.
 */
void session_occupy_streams(void);

/**
 * Call before reading standard input: on a terminal it says so, on stderr.
 *
 * @what     is read
 */
void session_tell_of_terminal(struct session *session, const char *what);

/** Flush @session->out and note a failure to write. */
void session_flush(struct session *session);

/**
 * The same while signals are blocked.
 *
 * @return   false: nobody reads the output, and a signal has come that ends the command
 */
bool session_flush_unless_stopped(struct session *session);

/** Flush if the output is a terminal. */
void session_flush_terminal(struct session *session);

/** Forget all budgets but the first @count. */
void session_forget_budgets(struct session *session, size_t count);

/** Free what the session owns, not the session. */
void session_end(struct session *session);

/* --- signals --- */

/**
 * Block SIGHUP, SIGINT and SIGTERM, but for those that are ignored, as below nohup(1), and open a descriptor
 * that is readable when one has come.
 *
 * @also     one signal more, or one of them
 * @return   it, which does not wait; -1: an error was reported
 * Source: signalfd(2)
 */
int session_open_signals(struct session *session, int also);

/**
 * Send a message to the service manager that has started this process: the socket of $NOTIFY_SOCKET, if there
 * is one.
 *
 * @state    such as "READY=1"
 * Source: sd_notify(3)
 */
void session_notify(const char *state);

/* --- what was said already, and is not said again: texts in a tree of tsearch(3) --- */

/**
 * @reported the tree, which gets the text; NULL: report everything
 * @return   whether it was not reported before
 */
bool reported_add(void **reported, const char *text);

/** Report this text again the next time. */
void reported_remove(void **reported, const char *text);

/** Report all texts again. */
void reported_clear(void **reported);

/* --- config.c: /etc/fsquota.conf, what a node wants otherwise, "KEY = VALUE" a line --- */

#define FSQ_CONFIG_FILE "/etc/fsquota.conf"

/* The file as it was read last, for the requests of batch. */
struct config_file {
	bool read;
	bool checked; /* it is as on disk, as far as is known */
	struct fsq_file_stamp stamp;
	int rc; /* of reading it */
	char *text;
	size_t length;
};

/**
 * Read it, before the options of the command line, which come before it: id-range, projects-file,
 * projid-file, register, lock-timeout, log, budget and overcommit, see fsquota.conf(5).
 *
 * @reads    the command changes nothing: warn of a wrong line, and go on with the others
 * @return   false when the file is wrong; an error was reported
 */
bool config_read(struct session *session, bool reads);

/**
 * Parse the seconds of lock-timeout and --lock-timeout.
 *
 * @return   whether they are some
 */
bool config_parse_seconds(const char *text, unsigned int *seconds);

#endif
