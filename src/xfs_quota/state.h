/* SPDX-License-Identifier: Apache-2.0 */
/* One run of xfs_quota: its options, its table of paths, its output and its exit status. */
#ifndef FSQ_XFS_QUOTA_STATE_H
#define FSQ_XFS_QUOTA_STATE_H

#include "common/accounts.h"
#include "quota/base/error.h"
#include "quota/fsquota.h"
#include "shared/writer.h"

/*
 * Which version of xfs_quota to imitate. Every use of XFS_QUOTA_7_2 is a difference between the two;
 * doc/xfs_quota.md lists them.
 */
enum generation { XFS_QUOTA_6_1, XFS_QUOTA_7_2 };

/* A line of the table of paths: a mounted filesystem, or the directory of a project. */
struct path {
	bool is_project;
	bool foreign; /* not XFS */
	char *directory;
	struct fsq_filesystem *fs; /* of a project: where its directory is */
	const struct fsq_filesystem_info *info;
	uint32_t project;
};

struct state {
	const char *program; /* the name that begins messages */
	enum generation generation;
	bool strict;		   /* --strict: the exit codes of fsquota(8) */
	bool expert;		   /* -x */
	bool foreign_allowed;	   /* -f */
	const char *mount_table;   /* -t; NULL: the system's */
	const char *projects_file; /* -D */
	const char *projid_file;   /* -P */
	char **only_projects;	   /* -d: use only these projects (names or IDs) */
	size_t only_project_count;

	bool path_given;    /* as an operand; otherwise the table has all mounts */
	struct path *paths; /* XFS first, then foreign, each in the order of insertion */
	size_t path_count, path_capacity, xfs_path_count;
	int current; /* index, or -1 */
	int home;    /* the current path when run_on_all() began, or -1 */
	size_t pass; /* of run_on_all(), from 0 */
	bool projects_loaded;
	struct fsq_mount_points *mounts; /* to look registered directories up in, or NULL */

	bool names_read, names_failed;
	struct fsq_project_names *names;

	bool quit; /* run no further command */
	struct writer *out;
	int status;
};

/* --- output.c --- */

/** Flush state->out, and report a failure to write. */
void xq_flush(struct state *state);

/** Flush if the output is a terminal. */
void xq_flush_terminal(struct state *state);

enum xq_error_flags {
	XQ_BARE = 1,	 /* without the name of the program */
	XQ_STATUS_0 = 2, /* change the exit status only with --strict */
	XQ_SILENT = 4,	 /* the same, and print nothing */
};

/**
 * Report an error on stderr. The first one sets the exit status.
 *
 * EIO, EUCLEAN, EFBIG and ENOMEM are always printed and always set the status: a filesystem that
 * was shut down must not look like an empty one, nor incomplete output like complete one.
 *
 * @flags    enum xq_error_flags
 * @kind     sets the exit status with --strict; FSQ_OK: this is a warning
 * @errnum   the errno, whose text ends the line; or 0
 */
void xq_error(struct state *state, unsigned int flags, enum fsq_error_kind kind, int errnum,
	      const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Report an errno; the kind follows from it. */
#define xq_errno(state, flags, errnum, ...) \
	xq_error(state, flags, fsq_error_kind_of(errnum), errnum, __VA_ARGS__)

/* Report wrong usage. */
#define xq_usage_error(state, ...) xq_error(state, 0, FSQ_E_USAGE, 0, __VA_ARGS__)

void xq_out_of_memory(struct state *state);

/* --- paths.c --- */

/**
 * Add the filesystem of a path to the table; a failure is reported.
 *
 * @path     a mount point, device, or anything on the filesystem
 * @return   its index, or -1
 */
int xq_add_path(struct state *state, const char *path);

/** Add every mounted filesystem to the table, each once. */
void xq_add_all_paths(struct state *state);

/**
 * Add the directories of the projects file to the table; with -d, only those of its projects. Only commands that
 * need them call this, so that a query opens no file. A second call does nothing.
 */
void xq_load_projects(struct state *state);

/** @return  the index of the first entry of the filesystem on which a path lies, or -1 */
int xq_find_path(const struct state *state, const char *path);
int xq_find_dev(const struct state *state, dev_t dev);

void xq_free_paths(struct state *state);

/* --- names.c --- */

/** "User", "Group" and "Project" */
extern const char *const xq_type_titles[FSQ_TYPES];

/** @return  the names of the projid file, read on first use; NULL without memory, treated as no names */
struct fsq_project_names *xq_project_names(struct state *state);

/** If the projid file could not be read, let the next command read it again. */
void xq_forget_failed_names(struct state *state);

/**
 * @word     a number, or a name of the user, group or projid database
 * @return   whether it stands for an ID that can exist; the ID goes to @id
 */
bool xq_find_id(struct state *state, enum fsq_type type, const char *word, uint32_t *id);

/** @return  whether a name was not found because there was no memory, which was reported */
bool xq_names_are_lost(const struct state *state);

/** @return  the name of an ID, valid until the next call, or NULL */
const char *xq_name_of(struct state *state, enum fsq_type type, uint32_t id);

struct id_range {
	uint32_t lower;
	uint32_t upper;	    /* 0: no bound */
	bool zero_is_known; /* xq_each_record() tries project 0 even without a name */
};

/**
 * Call @visit for each quota record in the order of IDs. If the kernel cannot find the next ID, or does not let
 * this user ask for it, try every ID of the user, group or projid database instead.
 */
void xq_each_record(struct state *state, struct fsq_filesystem *fs, enum fsq_type type,
		    const struct id_range *range,
		    void (*visit)(const struct fsq_dquot *dquot, void *arg), void *arg);

#endif
