/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /etc/projects or /etc/projid, locked, as a list of entries that can be added and taken away. Only
 * project_edit.c uses it.
 *
 * Other programs read the file without a lock, and this process may be killed or lose power between
 * any two writes. So every change of the list is the change of one byte: it switches an entry on or
 * off, and everything written before and after it has no meaning to any program that reads the
 * file. An entry keeps its place, and the file its inode. What is switched off is cut off later,
 * while nobody else has the file open, or its space is used again.
 */
#ifndef FSQ_PROJECT_LIST_H
#define FSQ_PROJECT_LIST_H

#include "locked_file.h"
#include "project_line.h"
#include "quota/base/id_set.h"

struct fsq_project_entry {
	struct fsq_project_line line;
	size_t start, end; /* in the file; with the newline, where there is one */
	bool off;	   /* switched off by fsq_project_list_retire() */
	bool added;	   /* by fsq_project_list_add() */
};

struct fsq_project_list {
	enum fsq_project_file kind;
	struct fsq_locked_file file;
	struct fsq_project_entry *entries; /* and retired lines, in the order of the file */
	size_t count, capacity;
	/* Of a batch: entries in another order, or NULL. */
	struct fsq_project_entry **by_word, **by_id;
	struct fsq_id_set taken; /* by lines that are no entries, but others may take for some */
};

/**
 * Open, lock and parse a file; arguments and result as of fsq_locked_file_open().
 *
 * @list     with only its kind and the file's path set
 */
int fsq_project_list_open(struct fsq_project_list *list, bool to_write,
			  const struct fsq_lock_wait *wait, const struct fsq_project_list *other,
			  struct fsq_error *err);

/** Cut off what is switched off, if nobody else has the file open; otherwise it stays. */
void fsq_project_list_tidy(struct fsq_project_list *list);

/** Close it, which drops the lock. */
void fsq_project_list_close(struct fsq_project_list *list);

/** @return  the first entry of that word, or NULL */
const struct fsq_project_entry *fsq_project_list_find(const struct fsq_project_list *list,
						      const char *word);

/** @return  the first entry of an ID, in a batch any, but not the one of @but; or NULL */
const struct fsq_project_entry *fsq_project_list_find_id(const struct fsq_project_list *list,
							 uint32_t id, const char *but);

/**
 * Begin a batch: entries are found in a logarithm of their number, nothing is added, and
 * fsq_project_list_retire() leaves the sync to the caller. It ends when the list is closed.
 *
 * @return   0 or -ENOMEM
 */
int fsq_project_list_begin_batch(struct fsq_project_list *list);

/** @return  where the word of an entry begins; no NUL ends it; until something is added */
const char *fsq_project_list_word(const struct fsq_project_list *list,
				  const struct fsq_project_entry *entry);

/** @return  whether it is an entry that is on, of this word */
bool fsq_project_list_is(const struct fsq_project_list *list, const struct fsq_project_entry *entry,
			 const char *word);

/** @return  whether it is an entry that is on */
bool fsq_project_entry_is_on(const struct fsq_project_entry *entry);

/**
 * Add an entry. It is on the disk on return.
 *
 * @return   0 or a negative errno: then nothing was added
 */
int fsq_project_list_add(struct fsq_project_list *list, uint32_t id, const char *word);

/** Switch off what was added since the file was opened. */
void fsq_project_list_rollback_added(struct fsq_project_list *list);

/**
 * Switch off the entries of an ID, of all words or only of @word.
 *
 * @return   0; a negative errno: then none is, nor any of the batch
 */
int fsq_project_list_retire(struct fsq_project_list *list, uint32_t id, const char *word);

/** Switch on again what was switched off since the file was opened. */
void fsq_project_list_rollback_retired(struct fsq_project_list *list);

#endif
