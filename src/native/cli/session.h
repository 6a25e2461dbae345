/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a run: options, the table of paths, output and exit status. Commands get it as an argument;
 * there are no globals.
 */
#ifndef FSQ_SESSION_H
#define FSQ_SESSION_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/accounts.h"
#include "common/signals.h"
#include "quota/base/id_set.h"
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
	const struct fsq_filesystem_info *info; /* of @fs */
	uint32_t project;
};

struct command;

/* Where changes are logged. */
enum log_target { LOG_TO_JOURNAL, LOG_TO_SYSLOG, LOG_TO_NOTHING };

/* A directory whose quota a command has changed. */
struct changed {
	char *path;
	enum change_kind { LIMITS_SET, RELEASED, MOVED_AWAY } kind;
};

struct session {
	const char *program;		       /* the name that begins messages */
	const struct command *const *commands; /* all, sorted by name and ended by NULL */
	/* Runs a command line, words ended by NULL; for batch. */
	void (*run)(struct session *session, char **words);
	bool json;		 /* --json was given */
	bool dry_run;		 /* --dry-run was given */
	bool help;		 /* --help was given */
	bool has_root;		 /* --root was given: load no library and run no program */
	bool no_memory;		 /* a lack of memory was reported */
	bool forbidden;		 /* that quotas of others cannot be read was reported */
	bool silent;		 /* report nothing */
	bool keeps_error;	 /* keep the first error in ... */
	struct text first_error; /* ... for the answer, instead of printing it */
	struct word_list at;	 /* --at */
	uint32_t wanted_id;	 /* --id of a project instead of a directory, or 0 */
	const char *wanted_name; /* --name of one, or NULL */
	const char *projects_file;
	struct fsq_assigned *assigned; /* of session_keep_registry(), or NULL */
	const char *projid_file;
	struct fsq_marks *marks; /* see marks.h, or NULL */
	const char *output_file; /* -f, or NULL */

	struct path_entry *paths; /* see paths.h */
	size_t path_count, path_capacity;
	int current_path;		 /* index, or -1 */
	struct fsq_mount_points *mounts; /* see session_mounts(), or NULL */
	struct fsq_id_set unseen;	 /* project IDs of directories that could not be examined */
	/* Adds a suggestion to an error about a path, see suggest.h; or NULL. */
	char *(*suggest)(struct session *session, const char *path, bool exists);
	bool no_lines;	       /* /etc/fsquota.d was not there when its budgets were read */
	struct changed *noted; /* see session_note_change() */
	size_t noted_count, noted_capacity;
	bool takes_name; /* the command that runs takes --name instead of a path */
	bool takes_over; /* it has --over PERCENT */
	bool reads;	 /* the command changes nothing */
	bool saves;	 /* people keep in a file what it prints */
	bool names_read;
	struct fsq_project_names *names;	    /* read on first use */
	struct account_table accounts[FSQ_PROJECT]; /* the names of users and of groups */

	/* Of commands that register directories; see fsquota.conf(5): */
	bool no_register;
	unsigned int lock_seconds;
	struct fsq_id_range range;
	bool range_configured;
	struct fsq_budget *budgets; /* see budgets.h */
	size_t budget_count, budget_capacity;
	bool budgets_unknown; /* a line with a budget is wrong; the user was warned */
	char *config_text;    /* some of the above point into it */
	enum log_target log;
	const char *mail; /* where check --mail sends to, or NULL */

	/* Of commands that walk trees: */
	enum progress_when progress;
	uint64_t max_errors; /* 0: no bound */

	/* Of a request of batch: */
	void *batch;	/* or NULL */
	bool read_only; /* refuse what changes something, and options that name a file */
	void (*before_waiting)(void *batch);
	struct fsq_cache *cache;     /* or NULL */
	struct config_files *config; /* as they were read before, or NULL */
	unsigned int visits;
	bool has_waited;
	bool stopped; /* by a signal */

	const struct row_fields *rows; /* of the command that runs, or NULL */
	struct table_style style;      /* how they are printed */
	struct table table;	       /* the rows of the command that runs */
	struct writer *out;
	/* In a request of batch, used instead of stderr: for the first error, and for later messages. */
	struct writer *error, *messages;
	int status;
	bool changed; /* something was changed, or would be in a dry run: see journal_write() */
};

/** @return  a session with the defaults, which prints to @out */
struct session session_new(struct writer *out);

/** @return  whether a signal came that ends the request of batch. Without batch, signals end the process instead */
bool session_is_stopped(void *session);

/**
 * Check for a signal between two operands, while signals are blocked. The work on one operand may end before it
 * checks for signals itself.
 *
 * @next     the operand that would be next
 * @return   false: a signal that ends the command is pending; this was reported
 */
bool session_goes_on(struct session *session, const char *next);

/** If session_is_stopped(), report that. @path  the operand that was not completed */
void session_report_stop(struct session *session, const char *path);

/** Call before long work: flushes the answers to earlier requests of batch. */
void session_wait(struct session *session);

/** @return  the exit status for an FSQ_E_ code, see fsquota(8) */
int session_exit_code(int code);

/** Exit status 2, wrong usage, promises that nothing was changed. If something was, set that of a partial failure. */
void session_settle_status(struct session *session);

/* How an error is reported. */
enum error_flags {
	ERROR_OF_FILE = 1,    /* about a file the user named: print no hint */
	ERROR_NO_QUOTA = 2,   /* explain why there is no quota; see errors.c */
	ERROR_OTHER_TYPE = 4, /* about quotas of users or groups */
	ERROR_AT_PATH = 8,    /* the line begins with the path, not the filesystem */
};

/** @return  the error flag for quotas of a type: ERROR_NO_QUOTA or ERROR_OTHER_TYPE */
unsigned int session_flag_of(enum fsq_type type);

/**
 * Report an error of the library on stderr, and set the exit status.
 *
 * @return   false, as all functions that report an error
 */
bool session_fail(struct session *session, const struct fsq_error *err);

/** The same. @hint  what to do about it, unless there is a better one; or NULL */
bool session_fail_hint(struct session *session, const struct fsq_error *err, const char *hint);

/** As session_fail(). If it is that the directory is not there, @hint says what makes it, unless there is a better one. */
bool session_fail_missing(struct session *session, const struct fsq_error *err,
			  const char *directory, const char *hint);

/**
 * @flags    enum error_flags
 * @code     an FSQ_E_ code: the exit status
 * @errnum   the errno, whose text is printed, too; or 0
 * @path     the object that failed, for JSON; NULL: the current filesystem
 */
bool session_error(struct session *session, unsigned int flags, int code, int errnum,
		   const char *path, const char *format, ...) __attribute__((format(printf, 6, 7)));

/** @return  the code that an errno stands for */
int session_code_of(int errnum, const char *path);

/* Report an errno, with the code that it stands for. */
#define session_errno(session, flags, errnum, path, ...) \
	session_error(session, flags, session_code_of(errnum, path), errnum, path, __VA_ARGS__)

/* Report a usage error. */
#define session_usage_error(session, ...) \
	session_error(session, 0, FSQ_E_USAGE, 0, NULL, __VA_ARGS__)

/** A command has changed a directory, of which a line of /etc/fsquota.d may say something else. Without memory none does. */
void session_note_change(struct session *session, const char *path, enum change_kind kind);

/*
 * Print a warning; leave the exit status as it is.
 *
 * @path     begins the line, and goes to JSON; or NULL
 */
#define session_warn(session, path, ...) \
	session_error(session, ERROR_AT_PATH, FSQ_OK, 0, path, __VA_ARGS__)

/** Report once that only root may read the quotas of others, whatever the filesystem and type. @return  false */
bool session_forbidden(struct session *session);

/** Report that there is no memory. @return  false */
bool session_no_memory(struct session *session);

/** Warn of limits on the filesystem of @path, or mounted there, that have no effect. */
void session_warn_not_enforced(struct session *session, const char *path);

/** @return  whether the user chose a format or columns for rows */
bool session_has_rows(const struct session *session);

/** @return  the files where commands register directories, and how */
struct fsq_registry session_registry(struct session *session);

/**
 * Read these files, and keep what they say for the changes that follow; or only see that they are as they were.
 *
 * @return   whether they can be read; else an error was reported
 */
bool session_keep_registry(struct session *session);

/** Free the memory of what it has kept. */
void session_forget_registry(struct session *session);

/** Read the usage of the project of a directory. @return  as fsq_usage_get() */
int session_usage(const struct session *session, const char *path, struct fsq_usage *usage,
		  struct fsq_error *err);

/**
 * The mounts to keep to when a path is looked up that the caller has not named. They are read on first use, and stay so
 * until session_forget_mounts().
 *
 * @return   NULL: an error was reported
 */
const struct fsq_mount_points *session_mounts(struct session *session);

void session_forget_mounts(struct session *session);

/** Report that fsq_projects_each() could not read the projects file, unless there is none. */
void session_note_projects(struct session *session, const struct fsq_error *err);

/** Read the names of projects, from the cache if there is one. @return as fsq_project_names_read() */
int session_read_names(struct session *session, struct fsq_error *err);

/** Forget the names of projects, after a change of the file. The next use reads them again. */
void session_forget_names(struct session *session);

/** @return  the names of the projid file, read on first use; NULL without memory, treated as no names */
struct fsq_project_names *session_names(struct session *session);

/**
 * @word     a number, or a name of the user, group or projid database
 * @return   whether it stands for an ID that can exist; the ID goes to @id
 */
bool names_to_id(struct session *session, enum fsq_type type, const char *word, uint32_t *id);

/** @return  whether there was no memory for the names of projects, which was reported */
bool names_are_lost(const struct session *session);

/** As names_to_id(), but report an error if it fails. For commands that change something. */
bool names_to_id_or_complain(struct session *session, enum fsq_type type, const char *word,
			     uint32_t *id);

/** @return  the name of an ID, valid until the next call, or NULL */
const char *names_of_id(struct session *session, enum fsq_type type, uint32_t id);

/**
 * Open an unusable descriptor for each standard stream that is closed. Otherwise a file that a command keeps open
 * would get the number of that stream.
 */
void session_occupy_streams(void);

/**
 * Call before reading standard input. If it is a terminal, print on stderr that the command reads it.
 *
 * @what     a noun for what is read
 */
void session_tell_of_terminal(struct session *session, const char *what);

/** @return  whether somebody looks at a terminal, who gets a word more, by session_warn() */
bool session_has_person(const struct session *session);

/** Flush @session->out and note a failure to write. */
void session_flush(struct session *session);

/**
 * Flush @session->out while signals are blocked.
 *
 * @return   false: a signal that ends the command came while the reader of the output did not read
 */
bool session_flush_unless_stopped(struct session *session);

/** Flush if the output is a terminal. */
void session_flush_terminal(struct session *session);

/** Close the filesystems of the table of paths, and empty it. */
void session_close_paths(struct session *session);

/** Forget all budgets but the first @count. */
void session_forget_budgets(struct session *session, size_t count);

/** Free what the session owns, not the session. */
void session_end(struct session *session);

/* --- signals --- */

/**
 * Block @also, and those of SIGHUP, SIGINT and SIGTERM that are not ignored, as nohup(1) does. Open a descriptor that
 * is readable when one of these signals has come.
 *
 * @also     another signal, or one of the three
 * @return   the descriptor, with O_NONBLOCK; -1: an error was reported
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

/* --- reported texts, so that none is reported twice; in trees of tsearch(3) --- */

/* Zeros at first. */
struct reported {
	void *texts, *before; /* of reported_begin() */
};

/**
 * Note that a text is reported.
 *
 * @reported NULL: report everything
 * @return   whether to report it: it was not noted yet
 */
bool reported_add(struct reported *reported, const char *text);

/** Remove a text, so that it is reported again the next time. */
void reported_remove(struct reported *reported, const char *text);

/** Between these two all is looked at: what is not noted again meanwhile is gone, and removed. */
void reported_begin(struct reported *reported);
void reported_end(struct reported *reported);

/** Remove all texts, so that they are reported again. */
void reported_clear(struct reported *reported);

/* --- config.c: /etc/fsquota.conf and /etc/fsquota.conf.d, defaults of this node, a line "KEY = VALUE" for each --- */

#define FSQ_CONFIG_FILE "/etc/fsquota.conf"
#define FSQ_CONFIG_DIRECTORY "/etc/fsquota.conf.d"

struct config_file {
	char *path;
	struct fsq_file_stamp stamp; /* only of files that are kept */
	char *text;		     /* NULL: it is not there */
	size_t length;
};

/* What was read the last time, which the requests of batch share. Zeros at first. */
struct config_files {
	bool read;
	bool checked; /* @list is up to date: do not look at the files again */
	struct fsq_file_stamp directory;
	struct config_file *list; /* in the order in which they apply */
	size_t count, capacity;
};

/**
 * Read /etc/fsquota.conf and /etc/fsquota.conf.d: id-range, projects-file, projid-file, register, lock-timeout, log,
 * mail, budget and overcommit. Call it before parsing the command line, so that options override the files.
 *
 * @reads    the command changes nothing: skip a wrong line with a warning
 * @return   false when a file is wrong; an error was reported
 */
bool config_read(struct session *session, bool reads);

/** Forget what was read, and free its memory. */
void config_forget(struct config_files *files);

/**
 * List a directory of such files: those whose name ends in ".conf" and begins with no dot, in the order of their names.
 *
 * @entries  set on success; free each of them and the array
 * @return   their count, or a negative errno
 * Source: scandir(3)
 */
int config_list(const char *directory, struct dirent ***entries);

/** Warn of files of other names, which config_list() leaves out; of backups not. */
void config_tell_of_others(struct session *session, const char *directory);

/** @return  whether a word, up to "=", is a key of fsquota.conf(5) */
bool config_is_key(const char *word);

/**
 * Parse the seconds of lock-timeout and --lock-timeout.
 *
 * @return   whether @text is a number of seconds
 */
bool config_parse_seconds(const char *text, unsigned int *seconds);

#endif
