/* SPDX-License-Identifier: Apache-2.0 */
/* What directories should have, a line each: see fsquota.d(5). */
#ifndef FSQ_APPLY_FILE_H
#define FSQ_APPLY_FILE_H

#include <errno.h>
#include <glob.h>

#include "native/cli/session.h"
#include "quota/fsquota.h"

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

#endif
