/* SPDX-License-Identifier: Apache-2.0 */
/* Users, groups and projects: from the words people type to IDs, and back. */
#ifndef FSQ_NAMES_H
#define FSQ_NAMES_H

#include "common/accounts.h"
#include "session.h"
#include "quota/fsquota.h"

/**
 * @word     a number, or a name of the user, group or projid database
 * @return   whether it stands for an ID that can exist; the ID goes to @id
 */
bool names_to_id(struct session *session, enum fsq_type type, const char *word, uint32_t *id);

/** @return  whether there was no memory for the names of projects, which was reported */
bool names_are_lost(const struct session *session);

/** As names_to_id(), for commands that change something: if it fails an error is reported. */
bool names_to_id_or_complain(struct session *session, enum fsq_type type, const char *word,
			     uint32_t *id);

/** @return  the name of an ID, valid until the next call, or NULL */
const char *names_of_id(struct session *session, enum fsq_type type, uint32_t id);

#endif
