/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /etc/projects or /etc/projid, locked, as a list of entries that can be added and taken away. Only
 * project_edit.c uses it.
 *
 * Other programs read the file without a lock, and this process may be killed or lose power between
 * any two writes. So every change of the list is the change of one byte: it switches an entry on or
 * off, and everything written before and after it has no meaning to any program that reads the
 * file. The file keeps its inode. What is switched off is cut off later, while nobody else has the
 * file open, or its space is used again; when there is much of it, the last entries move there.
 */
#ifndef FSQ_PROJECT_LIST_H
#define FSQ_PROJECT_LIST_H

#include "locked_file.h"
#include "project_line.h"
#include "quota/base/id_set.h"

/* The kernel writes a page atomically. */
#define FSQ_LIST_PAGE 4096

/* Among so many entries of a list that stays, or spaces, a line looks for its own. */
#define FSQ_LIST_SPACES 4096

struct fsq_project_entry {
	struct fsq_project_line line;
	uint32_t start, end; /* in the file; with the newline, where there is one */
	bool off;	     /* switched off by fsq_project_list_retire() */
	bool added;	     /* by fsq_project_list_add() */
};

/* Numbers of entries. */
struct fsq_entry_numbers {
	uint32_t *list;
	size_t count, capacity;
};

struct fsq_project_list {
	enum fsq_project_file kind;
	struct fsq_locked_file file;
	struct fsq_project_entry *entries; /* and retired lines, in the order of the file */
	size_t count, capacity;
	size_t retired; /* how many lines are */
	/* The entries sorted, for who asks more than a few times; empty: there is no index */
	struct fsq_entry_numbers by_word, by_id;
	struct fsq_entry_numbers touched; /* since the file was opened */
	unsigned int uses;		  /* how often it was opened without being read */
	size_t space_from;		  /* where to look for the space of a retired line */
	bool batch;
	bool broken;		 /* a change has failed, so the file may be another one */
	struct fsq_id_set taken; /* by lines that are no entries, but others may take for some */
};

/** What is looked for. */
struct fsq_project_key {
	enum { FSQ_KEY_ID, FSQ_KEY_WORD, FSQ_KEY_BELOW } kind;
	uint32_t id;
	const char *word; /* a directory or a name; the directory above */
	size_t length;	  /* of it */
};

/**
 * Open, lock and parse a file; arguments and result as of fsq_locked_file_open(). One that is as it was when it was closed
 * the last time is not parsed again, if it was kept.
 *
 * @list     with only its kind and the file's path set, or as fsq_project_list_close() has left it
 */
int fsq_project_list_open(struct fsq_project_list *list, bool to_write,
			  const struct fsq_lock_wait *wait, const struct fsq_project_list *other,
			  struct fsq_error *err);

/**
 * What was added and removed stays: it cannot be rolled back any more.
 *
 * @ids      of both lists, sorted: loses those that neither this one nor @other has any more
 */
void fsq_project_list_settle(struct fsq_project_list *list, const struct fsq_project_list *other,
			     struct fsq_id_set *ids);

/** After that: cut off what is switched off, if nobody else has the file open; otherwise it stays where it is. */
void fsq_project_list_tidy(struct fsq_project_list *list);

/** Find entries in a logarithm of their number from now on, if there is memory for it. */
void fsq_project_list_index(struct fsq_project_list *list);

/** Take the text apart again, after lines were written in it; without memory the list is broken. */
void fsq_project_list_read_again(struct fsq_project_list *list);

/** Before it is closed: have the next fsq_project_list_open() know it again. */
void fsq_project_list_keep(struct fsq_project_list *list);

/** Close it, which drops the lock. What was read stays. */
void fsq_project_list_close(struct fsq_project_list *list);

/** Close it, and forget what was read. */
void fsq_project_list_free(struct fsq_project_list *list);

/**
 * @at       0 for the first one, and set for the next; nothing may be added meanwhile
 * @return   the next entry that is on and has the key, in the order of the file, or for FSQ_KEY_BELOW of the paths; or
 *           NULL
 */
const struct fsq_project_entry *fsq_project_list_next(const struct fsq_project_list *list,
						      const struct fsq_project_key *key,
						      size_t *at);

/** @return  the first entry of that word, or NULL */
const struct fsq_project_entry *fsq_project_list_find(const struct fsq_project_list *list,
						      const char *word);

/** @return  the first entry of an ID, in a batch any, but not the one of @but; or NULL */
const struct fsq_project_entry *fsq_project_list_find_id(const struct fsq_project_list *list,
							 uint32_t id, const char *but);

/**
 * Begin a batch: entries are found in a logarithm of their number, and fsq_project_list_retire() leaves the sync to the
 * caller. It ends when the list is closed.
 */
void fsq_project_list_begin_batch(struct fsq_project_list *list);

/** @return  where the word of an entry begins; no NUL ends it; until something is added */
const char *fsq_project_list_word(const struct fsq_project_list *list,
				  const struct fsq_project_entry *entry);

/** @return  whether it is an entry that is on, of this word */
bool fsq_project_list_is(const struct fsq_project_list *list, const struct fsq_project_entry *entry,
			 const char *word);

/** @return  whether it is an entry that is on */
static inline bool fsq_project_entry_is_on(const struct fsq_project_entry *entry)
{
	return entry->line.kind == FSQ_LINE_ENTRY && !entry->off;
}

/** @return  whether it is a line that was switched off, whose space can be used again */
static inline bool fsq_project_entry_is_retired(const struct fsq_project_entry *entry)
{
	return entry->line.kind == FSQ_LINE_RETIRED;
}

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
