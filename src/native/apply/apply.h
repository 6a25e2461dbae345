/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of apply: its files, what it has assigned itself, and what --watch waits for. */
#ifndef FSQ_APPLY_H
#define FSQ_APPLY_H

#include <errno.h>
#include <glob.h>

#include "native/cli/session.h"
#include "quota/fsquota.h"

/* --- apply_file.c: what directories should have, a line each, see fsquota.d(5) --- */

#define APPLY_DIRECTORY "/etc/fsquota.d"

struct apply_entry {
	struct fsq_assign_request request; /* with the path */
	const char *file;
	unsigned int line;
	const char *pattern; /* as glob(3) has it, or NULL: the path is written */
	dev_t dev;	     /* of the directory, for apply_list_identify() */
	ino_t ino;	     /* 0: it is not there */
};

struct apply_list {
	struct apply_entry *entries; /* in the order of the lines, and sorted in each pattern */
	size_t count, capacity;
	char **texts; /* that entries point into */
	size_t text_count, text_capacity;
	char **patterns; /* as glob(3) has them */
	size_t pattern_count, pattern_capacity;
	bool identified;
	bool only_budgets; /* read nothing else */
	/* With --watch, see reported_add(): paths that were passed over, and what is wrong with the lines. */
	void **reported, **wrong;
};

/**
 * Read a file, or all files *.conf of a directory in the order of their names, or "-": standard input.
 * Patterns are expanded.
 *
 * @list     zeros at first; free it with apply_list_free(), also after a failure
 * @return   whether all lines are right; else each that is wrong was reported
 */
bool apply_list_read(struct session *session, struct apply_list *list, const char *path);

/**
 * Resolve conflicts between lines, after all files were read: a literal path overrides a pattern.
 *
 * @return   whether no directory has two lines of the same kind; else an error was reported
 */
bool apply_list_settle(struct session *session, struct apply_list *list);

/**
 * The same by the directories that the paths lead to: by "..", symlinks or a bind mount two paths can name
 * one directory, which each run would change back and forth. An overridden entry has no directory then. Call
 * it once.
 *
 * Source: stat(2)
 */
bool apply_list_identify(struct session *session, struct apply_list *list);

/**
 * Read the words budget and overcommit of /etc/fsquota.d, and nothing else; those of /etc/fsquota.conf are in the
 * session already.
 *
 * @return   whether they are right; else an error was reported
 */
bool apply_read_budgets(struct session *session);

/** @return  whether an errno says that a path is not there; else it hides whether it is */
static inline bool apply_is_gone(int errnum)
{
	return errnum == ENOENT || errnum == ENOTDIR || errnum == ELOOP;
}

/**
 * Expand a pattern.
 *
 * @found    free it with globfree(3), also after a failure
 * @return   0, also where nothing matches; or a negative errno, where some directory cannot be looked at
 * Source: glob(3)
 */
int apply_glob(const char *pattern, glob_t *found);

void apply_list_free(struct apply_list *list);

/*
 * --- apply_marks.c: what apply has assigned itself, which --prune may release when no line wants it any more:
 * /etc/projects.applied has a line ID:DIRECTORY for each, as in projects(5). What people assigned is not in it. ---
 */

struct apply_mark {
	uint32_t id;
	char *directory;
	bool is_registered; /* as it was then */
	bool is_there, is_wanted;
	dev_t dev;
	ino_t ino;
	bool is_done; /* to be forgotten */
};

struct apply_marks {
	struct apply_mark *list; /* sorted by directory */
	size_t count, capacity;
	bool no_memory;
};

/** Mark a directory as assigned. If the file cannot be written, warn; --prune then leaves the directory alone. */
void apply_marks_add(struct session *session, uint32_t id, const char *directory);

/**
 * Read all of them, and what is registered now.
 *
 * @marks    zeros; free it with apply_marks_free(), also after a failure
 * @return   whether it was read; else an error was reported
 */
bool apply_marks_read(struct session *session, struct apply_marks *marks);

/**
 * Find the line of each mark, by its path or by the directory that this leads to. Call apply_list_identify() first.
 *
 * @return   false: without memory, which was reported
 */
bool apply_marks_compare(struct session *session, struct apply_marks *marks,
			 const struct apply_list *list);

/** Remove the marks that are done. A failure is reported. */
void apply_marks_forget(struct session *session, const struct apply_marks *marks);

/**
 * Forget a directory that was assigned by hand: it may have got the ID that it had when apply assigned it. A failure
 * is a warning.
 */
void apply_marks_forget_one(struct session *session, uint32_t id, const char *directory);

/** Move the mark of a renamed directory to its new path, if it has one. */
void apply_marks_follow(struct session *session, uint32_t id, const char *from, const char *to);

void apply_marks_free(struct apply_marks *marks);

/*
 * --- apply_watch.c: that the lines, or the directories that they may be about, have changed. It only says that
 * something has; apply then looks at all, so an event that is lost costs nothing but time. ---
 */

struct watched_directory;

struct apply_watch {
	struct session *session;
	int events, mounts, signals; /* descriptors */
	struct watched_directory *list;
	size_t count, capacity;
	unsigned int look;    /* its number */
	bool limited, warned; /* not everything can be watched, and that was reported */
	int64_t began, ended; /* the last look, in milliseconds */
};

/** @return  whether it can be waited; else an error was reported */
bool apply_watch_begin(struct apply_watch *watch, struct session *session);

/**
 * A look was taken: watch the directories of the files, and those in which the list's paths and what its patterns
 * match may appear.
 *
 * @files    operands of apply
 * @return   whether a new directory is watched: it may have changed before, so look again
 */
bool apply_watch_follow(struct apply_watch *watch, const struct apply_list *list,
			char *const *files, int count);

/**
 * Wait for a change, but pause after a look for as long as it took.
 *
 * @return   false: a signal has come, which is pending, or it cannot be waited; that was reported
 * Source: inotify(7); signalfd(2)
 */
bool apply_watch_wait(struct apply_watch *watch);

void apply_watch_end(struct apply_watch *watch);

#endif
