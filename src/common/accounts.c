/* SPDX-License-Identifier: Apache-2.0 */
#include "accounts.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>

#include "quota/base/units.h"

const char *const account_types[FSQ_TYPES + 1] = { "user", "group", "project", NULL };

bool account_find_id(enum fsq_type type, const char *word, const struct fsq_project_names *names,
		     uint32_t *id)
{
	int rc = fsq_parse_id(word, id);
	const struct passwd *user;
	const struct group *group;

	if (rc == 0 || rc == -ERANGE)
		return rc == 0;
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
		return names && fsq_project_names_id(names, word, id);
	}
}

const char *account_name(enum fsq_type type, uint32_t id, struct fsq_project_names *names)
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
		return names ? fsq_project_names_name(names, id) : NULL;
	}
}

const char *limit_word(const char *word, enum fsq_form *form, bool *hard)
{
	static const struct {
		const char *key;
		enum fsq_form form;
		bool hard;
	} keys[] = {
		{ "bsoft=", FSQ_BLOCKS, false },     { "bhard=", FSQ_BLOCKS, true },
		{ "isoft=", FSQ_INODES, false },     { "ihard=", FSQ_INODES, true },
		{ "rtbsoft=", FSQ_REALTIME, false }, { "rtbhard=", FSQ_REALTIME, true },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strncmp(word, keys[i].key, strlen(keys[i].key)) == 0) {
			*form = keys[i].form;
			*hard = keys[i].hard;
			return word + strlen(keys[i].key);
		}
	return NULL;
}

void limit_set(struct fsq_limits *limits, enum fsq_form form, bool hard, uint64_t value)
{
	if (form != FSQ_INODES)
		value = fsq_limit_blocks(value);
	(hard ? limits->hard : limits->soft)[form] = value;
	limits->mask |= hard ? FSQ_HARD(form) : FSQ_SOFT(form);
}
