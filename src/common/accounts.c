/* SPDX-License-Identifier: Apache-2.0 */
#include "accounts.h"

#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "quota/base/units.h"
#include "shared/array.h"
#include "shared/read_file.h"
#include "shared/sort.h"

struct account {
	uint32_t id;
	uint32_t place; /* of several with one ID the first counts */
	const char *name;
};

const char *const account_types[FSQ_TYPES + 1] = { "user", "group", "project", NULL };

bool account_find_id(enum fsq_type type, const char *word, const struct fsq_project_names *names,
		     uint32_t *id)
{
	const struct passwd *user;
	const struct group *group;

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

static int compare_accounts(const void *one, const void *other)
{
	const struct account *a = one, *b = other;

	return compare_numbers(a->id, b->id) ?: compare_numbers(a->place, b->place);
}

/* A line is NAME:x:ID:... in both files. Without memory the table lacks some, which are looked up one by one. */
static void read_accounts(struct account_table *table, enum fsq_type type)
{
	char *rest, *line;
	size_t length;

	if (fsq_read_file(type == FSQ_USER ? "/etc/passwd" : "/etc/group", &table->text, &length))
		return;
	for (rest = table->text; (line = fsq_next_line(&rest, table->text + length));) {
		struct account account = { .place = (uint32_t)table->count };
		const char *id;

		account.name = strsep(&line, ":");
		strsep(&line, ":");
		id = strsep(&line, ":");
		/* Lines of nss_compat include or exclude others. */
		if (id && !strchr("+-", account.name[0]) && fsq_parse_id(id, &account.id) == 0)
			array_add(&table->list, &table->count, &table->capacity, &account,
				  sizeof(account));
	}
	array_sort(table->list, table->count, sizeof(*table->list), compare_accounts);
}

const char *account_name_of_many(struct account_table *table, enum fsq_type type, uint32_t id)
{
	size_t low = 0, high;

	if (!table->read)
		read_accounts(table, type);
	table->read = true;
	for (high = table->count; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (table->list[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < table->count && table->list[low].id == id ? table->list[low].name
							       : account_name(type, id, NULL);
}

void account_table_free(struct account_table *table)
{
	free(table->list);
	free(table->text);
	*table = (struct account_table){ 0 };
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
