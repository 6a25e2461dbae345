/* SPDX-License-Identifier: Apache-2.0 */
#include "names.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>

#include "quota/fsquota.h"

bool names_to_id(struct session *session, enum fsq_type type, const char *word, uint32_t *id)
{
	const struct passwd *user;
	const struct group *group;

	switch (fsq_parse_id(word, id)) {
	case 0:
		return true;
	case -ERANGE:
		return false;
	}
	switch (type) {
	case FSQ_USER:
		user = getpwnam(word);
		if (user)
			*id = user->pw_uid;
		return user != NULL;
	case FSQ_GROUP:
		group = getgrnam(word);
		if (group)
			*id = group->gr_gid;
		return group != NULL;
	default:
		return fsq_project_names_id(session_names(session), word, id);
	}
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
		      names_of_type(type), word);
	return false;
}

const char *names_of_id(struct session *session, enum fsq_type type, uint32_t id)
{
	const struct passwd *user;
	const struct group *group;

	switch (type) {
	case FSQ_USER:
		user = getpwuid(id);
		return user ? user->pw_name : NULL;
	case FSQ_GROUP:
		group = getgrgid(id);
		return group ? group->gr_name : NULL;
	default:
		return fsq_project_names_name(session_names(session), id);
	}
}

const char *const names_of_types[FSQ_TYPES + 1] = { "user", "group", "project", NULL };

const char *names_of_type(enum fsq_type type)
{
	return names_of_types[type];
}
