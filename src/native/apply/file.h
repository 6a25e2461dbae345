/* SPDX-License-Identifier: Apache-2.0 */
/* What directories should have, a line each: see fsquota.d(5). */
#ifndef FSQ_APPLY_FILE_H
#define FSQ_APPLY_FILE_H

#include "native/cli/session.h"
#include "quota/fsquota.h"
#include "quota/kernel/quotactl.h"
#include "shared/texts.h"
#include "texts.h"

#define APPLY_DIRECTORY "/etc/fsquota.d"

struct apply_entry {
	struct fsq_assign_request request; /* with the path, but in the list of patterns */
	const char *file;
	unsigned int line;
	const char *instead_of; /* the file of a line that this one overrides, or NULL */
	unsigned int instead_of_line;
	const char *pattern;	 /* as fnmatch(3) has it, or NULL: the path is written */
	bool registered;	 /* only while another program has it in the projects file */
	char *real;		 /* of apply_list_locate(): the path without symlinks */
	dev_t dev;		 /* of the directory, for apply_list_identify(); 0: not known */
	ino_t ino;		 /* 0: it is not there */
	struct fsq_timers grace; /* of the filesystem */
};

struct apply_entries {
	struct apply_entry *list;
	size_t count, capacity;
};

struct apply_list {
	struct apply_entries
		directories;	       /* in the order of the lines, and sorted in each pattern */
	struct apply_entries graces;   /* lines that set grace times */
	struct apply_entries patterns; /* lines with a pattern */
	struct texts texts;	       /* that entries point into */
	struct texts matches;	       /* paths that patterns have matched */
	bool identified, located;
	enum apply_reads { APPLY_ALL, APPLY_BUDGETS, APPLY_AS_WRITTEN } reads;
	/* With --watch, see reported_add(): paths that were passed over, and what is wrong with the lines. */
	struct reported *reported, *wrong;
	/* Each directory in which a part of a pattern is looked for, held open, before it is read; or with an errno, one that
	 * cannot be looked at. NULL: nobody wants to know. */
	void (*looked_in)(const char *path, int fd, int errnum, void *arg);
	void *looker;
};

/**
 * Add what the lines of a text say. Patterns are expanded, but not with APPLY_AS_WRITTEN, which also ignores budgets; with
 * APPLY_BUDGETS only these are read, and go to the session.
 *
 * @list     zeros at first; free it with apply_list_free(), also after a failure
 * @return   whether all lines are right; else each that is wrong was reported
 */
bool apply_list_parse(struct session *session, struct apply_list *list,
		      const struct apply_text *text);

/**
 * Resolve conflicts between lines, after all files were read: a literal path overrides a pattern, and a later file an
 * earlier one.
 *
 * @return   whether no directory has two lines of the same kind in one file; else an error was reported
 */
bool apply_list_settle(struct session *session, struct apply_list *list);

/**
 * The same by the directories that the paths lead to: by "..", symlinks or a bind mount two paths can name
 * one directory, which each run would change back and forth. An overridden entry has no directory then. Call
 * it once.
 *
 * Source: fsq_lookup()
 */
bool apply_list_identify(struct session *session, struct apply_list *list);

/**
 * Resolve conflicts between lines that set the grace times of one filesystem by two mount points, as
 * apply_list_identify() does.
 */
bool apply_list_identify_graces(struct session *session, struct apply_list *list);

/**
 * Find where the paths lead to that lines name, as apply_list_reach() wants it.
 *
 * @return   whether that is possible; without memory it is not
 */
bool apply_list_locate(struct session *session, struct apply_list *list);

/**
 * After the entries were dealt with: keep those that a line names, and forget what patterns have matched.
 *
 * @return   whether apply_list_reach() is possible; without memory it is not
 */
bool apply_list_rest(struct session *session, struct apply_list *list);

/**
 * Find what the lines say of a directory that has appeared, and of what is in it.
 *
 * @list     of apply_list_locate(); it must stay
 * @path     of the directory, without symlinks
 * @some     zeros but for reported and wrong; free it with apply_list_free()
 * @return   false: that depends on other directories, too, so all must be looked at
 */
bool apply_list_reach(struct session *session, const struct apply_list *list, const char *path,
		      struct apply_list *some);

/**
 * Find the lines with the word registered, whose limits other programs may set: nothing tells when they do.
 *
 * @list     of apply_list_rest(); it must stay
 * @some     as of apply_list_reach()
 * @return   false without memory, which was reported
 */
bool apply_list_registered(struct session *session, const struct apply_list *list,
			   struct apply_list *some);

/** Warn of lines of /etc/fsquota.d that say something else of directories than a command has changed. */
void apply_tell_of_lines(struct session *session);

/**
 * Read the words budget and overcommit of /etc/fsquota.d, and nothing else; those of /etc/fsquota.conf are in the
 * session already.
 *
 * @return   whether they are right; else an error was reported
 */
bool apply_read_budgets(struct session *session);

void apply_list_free(struct apply_list *list);

#endif
