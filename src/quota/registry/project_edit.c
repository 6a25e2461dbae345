/* SPDX-License-Identifier: Apache-2.0 */
#include "project_edit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "project_list.h"
#include "quota/base/path.h"
#include "quota/base/units.h"
#include "quota/kernel/compat.h"
#include "shared/sort.h"

enum mode {
	LOOK,  /* read without locks; a missing or unreadable file is empty */
	LOCK,  /* read with locks */
	WRITE, /* read with locks to change both, which are created if missing */
};

struct fsq_project_edit {
	struct fsq_lock_wait wait;
	enum mode mode;
	bool would_write; /* if this were no dry run */
	bool locked;
	int tree; /* descriptor of the lock of a tree, or -1 */
	struct fsq_project_list projects, projid;
	struct fsq_id_set ids; /* of both */
};

/* --- opening --- */

const struct fsq_registry *fsq_registry_or_default(const struct fsq_registry *registry)
{
	static const struct fsq_registry of_etc = {
		.size = sizeof(of_etc),
		.projects_file = FSQ_PROJECTS_FILE,
		.projid_file = FSQ_PROJID_FILE,
		.lock_seconds = FSQ_LOCK_SECONDS,
	};

	return registry ? registry : &of_etc;
}

bool fsq_registry_is_visible(const struct fsq_registry *registry)
{
	registry = fsq_registry_or_default(registry);
	return !registry->none && strcmp(registry->projects_file, FSQ_PROJECTS_FILE) == 0 &&
	       strcmp(registry->projid_file, FSQ_PROJID_FILE) == 0;
}

static int collect_of(struct fsq_project_edit *edit, const struct fsq_project_list *list)
{
	int rc = 0;

	for (size_t i = 0; i < list->count && rc == 0; i++)
		if (fsq_project_entry_is_on(&list->entries[i]))
			rc = fsq_id_set_add(&edit->ids, list->entries[i].line.id);
	for (size_t i = 0; i < list->taken.count && rc == 0; i++)
		rc = fsq_id_set_add(&edit->ids, list->taken.ids[i]);
	return rc;
}

static int collect_ids(struct fsq_project_edit *edit)
{
	int rc = collect_of(edit, &edit->projects);

	if (rc == 0)
		rc = collect_of(edit, &edit->projid);
	fsq_id_set_sort(&edit->ids);
	return rc;
}

struct fsq_project_edit *fsq_project_edit_new(const struct fsq_registry *registry, bool dry_run,
					      const struct fsq_call_options *options)
{
	struct fsq_project_edit *edit = calloc(1, sizeof(*edit));

	if (!edit)
		return NULL;
	registry = fsq_registry_or_default(registry);
	edit->mode = dry_run ? LOOK : registry->none ? LOCK : WRITE;
	edit->would_write = dry_run && !registry->none;
	edit->wait.seconds = registry->lock_seconds;
	edit->wait.options = options;
	edit->tree = -1;
	edit->projects.kind = FSQ_PROJECTS;
	edit->projects.file = (struct fsq_locked_file){ .path = registry->projects_file, .fd = -1 };
	edit->projid.kind = FSQ_PROJID;
	edit->projid.file = (struct fsq_locked_file){ .path = registry->projid_file, .fd = -1 };
	return edit;
}

struct fsq_project_edit *fsq_project_edit_new_reader(const struct fsq_registry *registry,
						     bool dry_run,
						     const struct fsq_call_options *options)
{
	struct fsq_project_edit *edit = fsq_project_edit_new(registry, dry_run, options);

	if (edit && edit->mode == WRITE)
		edit->mode = LOCK;
	if (edit)
		edit->would_write = false;
	return edit;
}

void fsq_project_edit_before_locks(struct fsq_project_edit *edit, void (*before)(void *arg),
				   void *arg)
{
	edit->wait.again = before;
	edit->wait.arg = arg;
}

int fsq_project_edit_lock_tree(struct fsq_project_edit *edit, int fd, const char *path,
			       bool rolling_back, struct fsq_error *err)
{
	struct fsq_lock_wait wait = edit->wait;

	wait.again = NULL;
	wait.rolling_back = rolling_back;
	if (edit->mode == LOOK || edit->tree >= 0)
		return 0;
	return fsq_tree_lock(fd, path, &wait, &edit->tree, err);
}

void fsq_project_edit_unlock_tree(struct fsq_project_edit *edit)
{
	if (edit->tree >= 0)
		close(edit->tree);
	edit->tree = -1;
}

int fsq_project_edit_lock(struct fsq_project_edit *edit, bool rolling_back, struct fsq_error *err)
{
	bool to_lock = edit->mode != LOOK, to_write = edit->mode == WRITE;
	struct fsq_lock_wait second;
	int rc;

	if (edit->locked)
		return 0;
	edit->locked = true;
	edit->wait.rolling_back = rolling_back;
	second = edit->wait;
	second.again = NULL;
	if (to_lock && edit->wait.again)
		edit->wait.again(edit->wait.arg);
	rc = edit->would_write ? fsq_locked_file_check(&edit->projects.file, err) : 0;
	if (rc == 0 && edit->would_write)
		rc = fsq_locked_file_check(&edit->projid.file, err);
	if (rc == 0)
		rc = fsq_project_list_open(&edit->projects, to_write, to_lock ? &edit->wait : NULL,
					   NULL, err);
	if (rc == 0)
		rc = fsq_project_list_open(&edit->projid, to_write, to_lock ? &second : NULL,
					   &edit->projects, err);
	if (rc == 0 && collect_ids(edit))
		rc = fsq_locked_file_fail(err, ENOMEM, &edit->projects.file, "read");
	if (rc)
		fsq_project_edit_unlock(edit);
	return rc;
}

/* The two descriptors are mostly neighbours: then one close_range(2) drops both locks. */
static void close_both(struct fsq_project_edit *edit)
{
	int low = edit->projects.file.fd, high = edit->projid.file.fd;

	if (low < 0 || high != low + 1 || syscall(SYS_close_range, low, high, 0))
		return;
	edit->projects.file.fd = edit->projid.file.fd = -1;
}

void fsq_project_edit_unlock(struct fsq_project_edit *edit)
{
	if (edit->mode == WRITE) {
		fsq_project_list_tidy(&edit->projid);
		fsq_project_list_tidy(&edit->projects);
	}
	close_both(edit);
	fsq_project_list_close(&edit->projid);
	fsq_project_list_close(&edit->projects);
	fsq_id_set_free(&edit->ids);
	edit->locked = false;
}

void fsq_project_edit_free(struct fsq_project_edit *edit)
{
	if (!edit)
		return;
	fsq_project_edit_unlock(edit);
	fsq_project_edit_unlock_tree(edit);
	free(edit);
}

/* --- looking --- */

uint64_t fsq_project_edit_unlisted(const struct fsq_project_edit *edit, uint64_t id)
{
	return fsq_id_set_first_missing(&edit->ids, id);
}

uint64_t fsq_project_edit_listed(const struct fsq_project_edit *edit, uint64_t id)
{
	return fsq_id_set_first_from(&edit->ids, id);
}

uint32_t fsq_project_edit_listed_before(const struct fsq_project_edit *edit, uint32_t id)
{
	return fsq_id_set_last_before(&edit->ids, id);
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

bool fsq_project_edit_is_shared(const struct fsq_project_edit *edit, uint32_t id,
				const char *directory)
{
	return fsq_project_list_find_id(&edit->projects, id, directory) != NULL;
}

static const char *word_of(const struct fsq_project_list *list, uint32_t id, size_t *length)
{
	const struct fsq_project_entry *entry = fsq_project_list_find_id(list, id, NULL);

	if (!entry)
		return NULL;
	*length = entry->line.length;
	return fsq_project_list_word(list, entry);
}

const char *fsq_project_edit_name_of(const struct fsq_project_edit *edit, uint32_t id,
				     size_t *length)
{
	return word_of(&edit->projid, id, length);
}

bool fsq_project_edit_has_name(const struct fsq_project_edit *edit, uint32_t id)
{
	return fsq_project_list_find_id(&edit->projid, id, NULL) != NULL;
}

const char *fsq_project_edit_directory_of(const struct fsq_project_edit *edit, uint32_t id,
					  size_t *length)
{
	return word_of(&edit->projects, id, length);
}

static bool is_entry_below(const struct fsq_project_list *list,
			   const struct fsq_project_entry *entry, const char *directory)
{
	const char *path = fsq_project_list_word(list, entry);
	const char *below = fsq_path_below(directory, path, entry->line.length);

	return below && below < path + entry->line.length;
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

		if (!fsq_project_entry_is_on(entry) || !is_entry_below(list, entry, directory))
			continue;
		path = strndup(fsq_project_list_word(list, entry), entry->line.length);
		if (!path)
			return -ENOMEM;
		(*paths)[(*count)++] = path;
	}
	array_sort(*paths, *count, sizeof(**paths), compare_words);
	return 0;
}

int fsq_project_edit_ids_of(const struct fsq_project_edit *edit, fsq_directory_test test, void *arg,
			    struct fsq_id_set *ids)
{
	const struct fsq_project_list *list = &edit->projects;
	int rc = 0;

	for (size_t i = 0; i < list->count && rc == 0; i++) {
		const struct fsq_project_entry *entry = &list->entries[i];

		if (fsq_project_entry_is_on(entry) &&
		    test(fsq_project_list_word(list, entry), entry->line.length, arg))
			rc = fsq_id_set_add(ids, entry->line.id);
	}
	return rc;
}

void fsq_project_edit_elsewhere(const struct fsq_project_edit *edit, const char *directory,
				uint32_t id, struct fsq_entries *lines)
{
	const struct fsq_project_list *list = &edit->projects;
	struct fsq_id_set below = { 0 };
	int rc = 0;

	*lines = (struct fsq_entries){ 0 };
	for (size_t i = 0; i < list->count && rc == 0; i++)
		if (fsq_project_entry_is_on(&list->entries[i]) &&
		    is_entry_below(list, &list->entries[i], directory))
			rc = fsq_id_set_add(&below, list->entries[i].line.id);
	fsq_id_set_sort(&below);
	for (size_t i = 0; i < list->count && rc == 0; i++) {
		const struct fsq_project_entry *entry = &list->entries[i];
		uint32_t other = entry->line.id;
		char *path;

		if (!fsq_project_entry_is_on(entry) || other == 0 || other == id ||
		    fsq_id_set_has(&below, other))
			continue;
		path = strndup(fsq_project_list_word(list, entry), entry->line.length);
		rc = path ? fsq_entries_add(lines, other, path) : -ENOMEM;
		free(path);
	}
	fsq_id_set_free(&below);
	if (rc || fsq_entries_index(lines, NULL)) {
		fsq_entries_free(lines);
		*lines = (struct fsq_entries){ 0 };
	}
}

char *fsq_project_edit_next_directory(const struct fsq_project_edit *edit, uint32_t id, size_t *at)
{
	const struct fsq_project_list *list = &edit->projects;

	while (*at < list->count) {
		const struct fsq_project_entry *entry = &list->entries[(*at)++];

		if (fsq_project_entry_is_on(entry) && entry->line.id == id)
			return strndup(fsq_project_list_word(list, entry), entry->line.length);
	}
	return NULL;
}

/* --- changing --- */

static int add_to_list(struct fsq_project_list *list, uint32_t id, const char *word,
		       struct fsq_error *err)
{
	int rc = fsq_project_list_add(list, id, word);

	return rc ? fsq_locked_file_fail(err, -rc, &list->file, "write") : 0;
}

int fsq_project_edit_add_name(struct fsq_project_edit *edit, uint32_t id, const char *name,
			      struct fsq_error *err)
{
	return add_to_list(&edit->projid, id, name, err);
}

int fsq_project_edit_add_directory(struct fsq_project_edit *edit, uint32_t id,
				   const char *directory, struct fsq_error *err)
{
	return add_to_list(&edit->projects, id, directory, err);
}

int fsq_project_edit_remove_names(struct fsq_project_edit *edit, uint32_t id, struct fsq_error *err)
{
	int rc = fsq_project_list_retire(&edit->projid, id, NULL);

	return rc ? fsq_locked_file_fail(err, -rc, &edit->projid.file, "write") : 0;
}

int fsq_project_edit_remove(struct fsq_project_edit *edit, uint32_t id, const char *directory,
			    bool names, struct fsq_error *err)
{
	bool last = !fsq_project_edit_is_shared(edit, id, directory);
	int rc = last && names ? fsq_project_edit_remove_names(edit, id, err) : 0;

	if (rc)
		return rc;
	rc = directory ? fsq_project_list_retire(&edit->projects, id, directory) : 0;
	if (rc) {
		fsq_project_list_rollback_retired(&edit->projid);
		return fsq_locked_file_fail(err, -rc, &edit->projects.file, "write");
	}
	return 0;
}

int fsq_project_edit_begin_batch(struct fsq_project_edit *edit, struct fsq_error *err)
{
	if (fsq_project_list_begin_batch(&edit->projects) ||
	    fsq_project_list_begin_batch(&edit->projid))
		return fsq_locked_file_fail(err, ENOMEM, &edit->projects.file, "read");
	return 0;
}

int fsq_project_edit_sync_batch(struct fsq_project_edit *edit, struct fsq_error *err)
{
	struct fsq_project_list *lists[] = { &edit->projid, &edit->projects };

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		int rc = lists[i]->file.fd < 0 ? 0 : fsq_locked_file_sync(&lists[i]->file);

		if (rc)
			return fsq_locked_file_fail(err, -rc, &lists[i]->file, "write");
	}
	return 0;
}

static uint64_t count_lines(const struct fsq_project_list *list, uint32_t id, const char *word)
{
	uint64_t count = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct fsq_project_entry *entry = &list->entries[i];

		count += fsq_project_entry_is_on(entry) && entry->line.id == id &&
			 (!word || fsq_project_list_is(list, entry, word));
	}
	return count;
}

uint64_t fsq_project_edit_lines_of(const struct fsq_project_edit *edit, uint32_t id,
				   const char *directory, bool names)
{
	uint64_t count = directory ? count_lines(&edit->projects, id, directory) : 0;

	if (names && !fsq_project_edit_is_shared(edit, id, directory))
		count += count_lines(&edit->projid, id, NULL);
	return count;
}

uint64_t fsq_project_edit_names_of(const struct fsq_project_edit *edit, uint32_t id)
{
	return count_lines(&edit->projid, id, NULL);
}

void fsq_project_edit_rollback(struct fsq_project_edit *edit)
{
	fsq_project_list_rollback_retired(&edit->projects);
	fsq_project_list_rollback_retired(&edit->projid);
	fsq_project_list_rollback_added(&edit->projects);
	fsq_project_list_rollback_added(&edit->projid);
}
