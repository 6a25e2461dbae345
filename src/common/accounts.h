/* SPDX-License-Identifier: Apache-2.0 */
/* Parse the words for users, groups, projects and limits on a command line. */
#ifndef FSQ_ACCOUNTS_H
#define FSQ_ACCOUNTS_H

#include "quota/fsquota.h"
#include "quota/mounts/filesystem.h"

/** "user", "group" and "project", ended by NULL */
extern const char *const account_types[FSQ_TYPES + 1];

/**
 * Find a name of the user, group or projid database. Numbers are for fsq_parse_id().
 *
 * @names    names of projects, or NULL
 * @return   whether it is there; the ID goes to @id
 */
bool account_find_id(enum fsq_type type, const char *word, const struct fsq_project_names *names,
		     uint32_t *id);

/** @return  the name of an ID, valid until the next call, or NULL */
const char *account_name(enum fsq_type type, uint32_t id, struct fsq_project_names *names);

/* The users of /etc/passwd or the groups of /etc/group by ID. Zero-initialise it. */
struct account_table {
	struct account *list;
	size_t count, capacity;
	char *text; /* of the file, which has the names */
	bool read;
};

/** As account_name() of a user or group: reads the file once, not up to the name each time. */
const char *account_name_of_many(struct account_table *table, enum fsq_type type, uint32_t id);

void account_table_free(struct account_table *table);

/**
 * Find out which limit a word such as bhard=1g sets.
 *
 * @form     set, as @hard
 * @return   the text after "="; NULL: the word is no limit
 */
const char *limit_word(const char *word, enum fsq_form *form, bool *hard);

/** Add a limit to @limits. @value is in bytes or inodes */
void limit_set(struct fsq_limits *limits, enum fsq_form form, bool hard, uint64_t value);

#endif
