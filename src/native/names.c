/* SPDX-License-Identifier: Apache-2.0 */
#include "names.h"

#include <errno.h>

#include "quota/fsquota.h"

bool names_to_id(struct session *session, enum fsq_type type, const char *word, uint32_t *id)
{
	int rc = fsq_parse_id(word, id);

	/* A number is none of the names, which are read on first use. */
	if (rc == 0 || rc == -ERANGE)
		return rc == 0;
	return account_find_id(type, word, type == FSQ_PROJECT ? session_names(session) : NULL, id);
}

bool names_are_lost(const struct session *session)
{
	return session->no_memory && session->names_read && !session->names;
}

bool names_to_id_or_complain(struct session *session, enum fsq_type type, const char *word,
			     uint32_t *id)
{
	if (names_to_id(session, type, word, id))
		return true;
	if (names_are_lost(session))
		return false;
	session_error(session, 0, FSQ_E_NOT_FOUND, 0, NULL, "there is no %s %s",
		      account_types[type], word);
	return false;
}

const char *names_of_id(struct session *session, enum fsq_type type, uint32_t id)
{
	return account_name(type, id, type == FSQ_PROJECT ? session_names(session) : NULL);
}
