/* SPDX-License-Identifier: Apache-2.0 */
/* Users, groups and projects: from the words people type to IDs, and back. */
#ifndef FSQ_ACCOUNTS_H
#define FSQ_ACCOUNTS_H

#include "quota/fsquota.h"

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

#endif
