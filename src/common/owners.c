/* SPDX-License-Identifier: Apache-2.0 */
#include "owners.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "quota/base/units.h"
#include "shared/sort.h"

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

#define DAY 86400

struct count {
	struct owners *owners; /* its list is a hash table by ID; one without files is free */
	size_t capacity;
	enum fsq_type type;
	bool sizes;
	int64_t now;
	bool (*is_over)(void *arg);
	void *arg;
};

static struct owner *slot(struct owner *list, size_t capacity, uint32_t id)
{
	size_t at = (id * 2654435761U) & (capacity - 1);

	while (list[at].files && list[at].id != id)
		at = (at + 1) & (capacity - 1);
	return &list[at];
}

static struct owner *find_owner(struct count *count, uint32_t id)
{
	struct owners *owners = count->owners;

	if (2 * owners->count >= count->capacity) {
		size_t capacity = count->capacity ? 2 * count->capacity : 256;
		struct owner *larger = calloc(capacity, sizeof(*larger));

		if (!larger)
			return NULL;
		for (size_t i = 0; i < count->capacity; i++)
			if (owners->list[i].files)
				*slot(larger, capacity, owners->list[i].id) = owners->list[i];
		free(owners->list);
		owners->list = larger;
		count->capacity = capacity;
	}
	return slot(owners->list, count->capacity, id);
}

static enum fsq_visit count_inode(const struct fsq_inode *inode, void *arg)
{
	struct count *count = arg;
	struct owners *owners = count->owners;
	uint64_t kib = (inode->bytes + 1023) / 1024;
	struct owner *owner;

	if (count->is_over && count->is_over(count->arg))
		return FSQ_VISIT_STOP;
	if (count->sizes) {
		if (S_ISREG(inode->mode) || S_ISDIR(inode->mode)) {
			owners->size_files[kib < OWNERS_LARGE_KIB ? kib : OWNERS_LARGE_KIB]++;
			owners->large_kib += kib < OWNERS_LARGE_KIB ? 0 : kib;
		}
		return FSQ_VISIT_CONTINUE;
	}
	owner = find_owner(count, inode->owner[count->type]);
	if (!owner) {
		owners->no_memory = true;
		return FSQ_VISIT_CONTINUE;
	}
	owners->count += owner->files == 0;
	owner->id = inode->owner[count->type];
	owner->files++;
	owner->kib += kib;
	for (int i = 0; i < 3; i++)
		if (count->now - inode->read > (i + 1) * 30 * DAY)
			owner->unread_kib[i] += kib;
	return FSQ_VISIT_CONTINUE;
}

static int by_size(const void *one, const void *other)
{
	const struct owner *a = one, *b = other;

	if (a->kib != b->kib)
		return a->kib > b->kib ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

int owners_count(struct owners *owners, struct fsq_filesystem *fs, enum fsq_type type, bool sizes,
		 bool (*is_over)(void *arg), void *arg, struct fsq_error *err)
{
	struct count count = { owners, 0, type, sizes, time(NULL), is_over, arg };
	int rc;

	*owners = (struct owners){ 0 };
	rc = fsq_filesystem_each_inode(fs, count_inode, &count, err);
	if (owners->list)
		array_sort(owners->list, count.capacity, sizeof(*owners->list), by_size);
	for (owners->count = 0; owners->count < count.capacity && owners->list[owners->count].kib;)
		owners->count++;
	return rc;
}

void owners_clear(struct owners *owners)
{
	free(owners->list);
	*owners = (struct owners){ 0 };
}
