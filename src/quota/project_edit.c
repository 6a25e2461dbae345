/* SPDX-License-Identifier: Apache-2.0 */
#include "project_edit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "project_list.h"
#include "syscalls.h"
#include "units.h"

struct fsq_project_edit {
	struct fsq_lock_wait wait;
	enum fsq_edit_mode mode;
	bool locked;
	struct fsq_project_list projects, projid;
	uint32_t *ids; /* of both, sorted */
	size_t id_count;
	char *word; /* that was asked for last */
};

bool fsq_project_name_is_valid(const char *name)
{
	uint32_t id;

	return name[0] != '\0' && name[0] != '#' && !strpbrk(name, ":\n") &&
	       fsq_parse_id(name, &id) == -EINVAL;
}

/* --- opening --- */

static int compare_ids(const void *one, const void *other)
{
	const uint32_t *a = one, *b = other;

	return *a < *b ? -1 : *a > *b;
}

static void collect_of(struct fsq_project_edit *edit, const struct fsq_project_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (fsq_project_entry_is_on(&list->entries[i]))
			edit->ids[edit->id_count++] = list->entries[i].line.id;
	for (size_t i = 0; i < list->taken_count; i++)
		edit->ids[edit->id_count++] = list->taken[i];
}

static int collect_ids(struct fsq_project_edit *edit)
{
	const struct fsq_project_list *a = &edit->projects, *b = &edit->projid;
	size_t room = a->count + a->taken_count + b->count + b->taken_count;

	edit->ids = reallocarray(NULL, room + 1, sizeof(*edit->ids));
	if (!edit->ids)
		return -ENOMEM;
	collect_of(edit, a);
	collect_of(edit, b);
	qsort(edit->ids, edit->id_count, sizeof(*edit->ids), compare_ids);
	return 0;
}

struct fsq_project_edit *fsq_project_edit_new(const struct fsq_registry *registry,
					      enum fsq_edit_mode mode)
{
	struct fsq_project_edit *edit = calloc(1, sizeof(*edit));

	if (!edit)
		return NULL;
	edit->mode = mode;
	edit->wait.seconds = registry->lock_seconds;
	edit->projects.kind = FSQ_PROJECTS;
	edit->projects.file = (struct fsq_locked_file){ .path = registry->projects_file, .fd = -1 };
	edit->projid.kind = FSQ_PROJID;
	edit->projid.file = (struct fsq_locked_file){ .path = registry->projid_file, .fd = -1 };
	return edit;
}

int fsq_project_edit_lock(struct fsq_project_edit *edit, bool undoing, struct fsq_error *err)
{
	const struct fsq_lock_wait *wait = edit->mode == FSQ_EDIT_LOOK ? NULL : &edit->wait;
	bool to_write = edit->mode == FSQ_EDIT_WRITE;
	int rc;

	if (edit->locked)
		return 0;
	edit->locked = true;
	edit->wait.undoing = undoing;
	rc = fsq_project_list_open(&edit->projects, to_write, wait, NULL, err);
	if (rc == 0)
		rc = fsq_project_list_open(&edit->projid, to_write, wait, &edit->projects, err);
	if (rc == 0 && collect_ids(edit))
		rc = fsq_locked_file_fail(err, ENOMEM, &edit->projects.file, "read");
	if (rc)
		fsq_project_edit_unlock(edit);
	return rc;
}

/* Mostly their descriptors stand side by side: then one call closes both, and drops both locks. */
static void close_both(struct fsq_project_edit *edit)
{
	int low = edit->projects.file.fd, high = edit->projid.file.fd;

	if (low < 0 || high != low + 1 || syscall(SYS_close_range, low, high, 0))
		return;
	edit->projects.file.fd = edit->projid.file.fd = -1;
}

void fsq_project_edit_unlock(struct fsq_project_edit *edit)
{
	if (edit->mode == FSQ_EDIT_WRITE) {
		fsq_project_list_tidy(&edit->projid);
		fsq_project_list_tidy(&edit->projects);
	}
	close_both(edit);
	fsq_project_list_close(&edit->projid);
	fsq_project_list_close(&edit->projects);
	free(edit->ids);
	edit->ids = NULL;
	edit->id_count = 0;
	edit->locked = false;
}

void fsq_project_edit_free(struct fsq_project_edit *edit)
{
	if (!edit)
		return;
	fsq_project_edit_unlock(edit);
	free(edit->word);
	free(edit);
}

/* --- looking --- */

uint64_t fsq_project_edit_unlisted(const struct fsq_project_edit *edit, uint64_t id)
{
	size_t low = 0, high = edit->id_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (edit->ids[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < edit->id_count && edit->ids[low] <= id; low++)
		if (edit->ids[low] == id)
			id++;
	return id;
}

static bool find_word(const struct fsq_project_list *list, const char *word, uint32_t *id)
{
	const struct fsq_project_entry *entry = fsq_project_list_find(list, word);

	if (entry)
		*id = entry->line.id;
	return entry != NULL;
}

bool fsq_project_edit_id_of(const struct fsq_project_edit *edit, const char *directory,
			    uint32_t *id)
{
	return find_word(&edit->projects, directory, id);
}

bool fsq_project_edit_id_of_name(const struct fsq_project_edit *edit, const char *name,
				 uint32_t *id)
{
	return find_word(&edit->projid, name, id);
}

/* The first entry of an ID, but not the one of @but. */
static const struct fsq_project_entry *find_id(const struct fsq_project_list *list, uint32_t id,
					       const char *but)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct fsq_project_entry *entry = &list->entries[i];

		if (fsq_project_entry_is_on(entry) && entry->line.id == id &&
		    !(but && fsq_project_list_is(list, entry, but)))
			return entry;
	}
	return NULL;
}

bool fsq_project_edit_is_shared(const struct fsq_project_edit *edit, uint32_t id,
				const char *directory)
{
	return find_id(&edit->projects, id, directory) != NULL;
}

static const char *word_of(struct fsq_project_edit *edit, const struct fsq_project_list *list,
			   uint32_t id)
{
	const struct fsq_project_entry *entry = find_id(list, id, NULL);

	if (!entry)
		return NULL;
	free(edit->word);
	edit->word = strndup(fsq_project_list_word(list, entry), entry->line.length);
	return edit->word;
}

const char *fsq_project_edit_name_of(struct fsq_project_edit *edit, uint32_t id)
{
	return word_of(edit, &edit->projid, id);
}

const char *fsq_project_edit_directory_of(struct fsq_project_edit *edit, uint32_t id)
{
	return word_of(edit, &edit->projects, id);
}

static bool is_below(const struct fsq_project_list *list, const struct fsq_project_entry *entry,
		     const char *directory)
{
	size_t length = strlen(directory);
	const char *path = fsq_project_list_word(list, entry);

	return entry->line.length > length + 1 && memcmp(path, directory, length) == 0 &&
	       path[length] == '/';
}

static int compare_words(const void *one, const void *other)
{
	return strcmp(*(char *const *)one, *(char *const *)other);
}

int fsq_project_edit_below(const struct fsq_project_edit *edit, const char *directory,
			   char ***paths, size_t *count)
{
	const struct fsq_project_list *list = &edit->projects;

	*count = 0;
	*paths = reallocarray(NULL, list->count + 1, sizeof(**paths));
	if (!*paths)
		return -ENOMEM;
	for (size_t i = 0; i < list->count; i++) {
		const struct fsq_project_entry *entry = &list->entries[i];
		char *path;

		if (!fsq_project_entry_is_on(entry) || !is_below(list, entry, directory))
			continue;
		path = strndup(fsq_project_list_word(list, entry), entry->line.length);
		if (!path)
			return -ENOMEM;
		(*paths)[(*count)++] = path;
	}
	if (*count > 0)
		qsort(*paths, *count, sizeof(**paths), compare_words);
	return 0;
}

/* The IDs of what is registered below a directory, or of all else, sorted. */
static size_t ids_of(const struct fsq_project_list *list, const char *directory, bool below,
		     uint32_t *ids)
{
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct fsq_project_entry *entry = &list->entries[i];

		if (fsq_project_entry_is_on(entry) && is_below(list, entry, directory) == below)
			ids[count++] = entry->line.id;
	}
	if (count > 0)
		qsort(ids, count, sizeof(*ids), compare_ids);
	return count;
}

size_t fsq_project_edit_strays(const struct fsq_project_edit *edit, const char *directory,
			       uint32_t id, uint32_t **ids)
{
	const struct fsq_project_list *list = &edit->projects;
	uint32_t *own = reallocarray(NULL, list->count + 1, sizeof(*own));
	size_t count = 0, all = 0, own_count = 0;

	*ids = reallocarray(NULL, list->count + 1, sizeof(**ids));
	if (own && *ids) {
		own_count = ids_of(list, directory, true, own);
		all = ids_of(list, directory, false, *ids);
	}
	for (size_t i = 0; i < all; i++) {
		uint32_t stray = (*ids)[i];

		if (stray != 0 && stray != id &&
		    !(own_count > 0 && bsearch(&stray, own, own_count, sizeof(stray), compare_ids)))
			(*ids)[count++] = stray;
	}
	free(own);
	return count;
}

/* --- changing --- */

static int add(struct fsq_project_list *list, uint32_t id, const char *word, struct fsq_error *err)
{
	int rc = fsq_project_list_add(list, id, word);

	return rc ? fsq_locked_file_fail(err, -rc, &list->file, "write") : 0;
}

int fsq_project_edit_add_name(struct fsq_project_edit *edit, uint32_t id, const char *name,
			      struct fsq_error *err)
{
	return add(&edit->projid, id, name, err);
}

int fsq_project_edit_add_directory(struct fsq_project_edit *edit, uint32_t id,
				   const char *directory, struct fsq_error *err)
{
	return add(&edit->projects, id, directory, err);
}

int fsq_project_edit_remove(struct fsq_project_edit *edit, uint32_t id, const char *directory,
			    bool names, struct fsq_error *err)
{
	bool last = !fsq_project_edit_is_shared(edit, id, directory);
	int rc = last && names ? fsq_project_list_retire(&edit->projid, id, NULL) : 0;

	if (rc)
		return fsq_locked_file_fail(err, -rc, &edit->projid.file, "write");
	rc = directory ? fsq_project_list_retire(&edit->projects, id, directory) : 0;
	if (rc) {
		fsq_project_list_restore(&edit->projid);
		return fsq_locked_file_fail(err, -rc, &edit->projects.file, "write");
	}
	return 0;
}

void fsq_project_edit_undo(struct fsq_project_edit *edit)
{
	fsq_project_list_restore(&edit->projects);
	fsq_project_list_restore(&edit->projid);
	fsq_project_list_undo(&edit->projects);
	fsq_project_list_undo(&edit->projid);
}
