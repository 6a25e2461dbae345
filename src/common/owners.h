/* SPDX-License-Identifier: Apache-2.0 */
/* Users, groups and projects: by the words people type, and what each owns. */
#ifndef FSQ_OWNERS_H
#define FSQ_OWNERS_H

#include "quota/fsquota.h"
#include "quota/mounts/filesystem.h"

/** "user", "group" and "project", ended by NULL */
extern const char *const account_types[FSQ_TYPES + 1];

/**
 * @word     a number, or a name of the user, group or projid database
 * @names    of projects: where to look, or NULL
 * @return   whether it stands for an ID that can exist; the ID goes to @id
 */
bool account_find_id(enum fsq_type type, const char *word, const struct fsq_project_names *names,
		     uint32_t *id);

/** @return  the name of an ID, valid until the next call, or NULL */
const char *account_name(enum fsq_type type, uint32_t id, struct fsq_project_names *names);

/**
 * Find out what a word such as bhard=1g is about.
 *
 * @form     set, as @hard
 * @return   what is behind the "=", or NULL: it is no limit
 */
const char *limit_word(const char *word, enum fsq_form *form, bool *hard);

/** Set a limit, in bytes or inodes. */
void limit_set(struct fsq_limits *limits, enum fsq_form form, bool hard, uint64_t value);

/* --- what each of a filesystem owns, counted inode by inode: for quot --- */

/* Files from this size on are counted together. */
#define OWNERS_LARGE_KIB 499

struct owner {
	uint32_t id;
	uint64_t kib, files;
	uint64_t unread_kib[3]; /* that were not read for 30, 60 and 90 days */
};

struct owners {
	struct owner *list; /* those with space first, the largest in front */
	size_t count;
	uint64_t size_files[OWNERS_LARGE_KIB +
			    1]; /* how many files have a size; at last all others */
	uint64_t large_kib;	/* of the last */
	bool no_memory;		/* some are not counted */
};

/**
 * Count the owners of an XFS, or with @sizes the files of each size.
 *
 * @owners   filled; clear it with owners_clear()
 * @is_over  whether to stop, or NULL
 * @return   as fsq_filesystem_each_inode()
 */
int owners_count(struct owners *owners, struct fsq_filesystem *fs, enum fsq_type type, bool sizes,
		 bool (*is_over)(void *arg), void *arg, struct fsq_error *err);

void owners_clear(struct owners *owners);

#endif
