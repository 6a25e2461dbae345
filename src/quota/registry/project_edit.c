/* SPDX-License-Identifier: Apache-2.0 */
#include "project_edit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compact.h"
#include "quota/base/error.h"
#include "quota/base/units.h"
#include "quota/kernel/compat.h"
#include "shared/array.h"
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
	const char *projects_file, *projid_file;
	struct fsq_assigned *kept;  /* of the registry, or NULL */
	struct fsq_assigned own;    /* used where nothing is kept, or that is in use */
	struct fsq_assigned *files; /* one of the two */
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

/*
 * Most projects have a line in each file, in the same order: what the set has at @at already is not added.
 */
static void collect_of(struct fsq_id_set *ids, const struct fsq_project_list *list)
{
	const size_t before = ids->count;
	size_t at = 0, count = before;

	for (size_t i = 0; i < list->count; i++) {
		const struct fsq_project_entry *entry = &list->entries[i];

		if (at < before && ids->ids[at] == entry->line.id)
			at++;
		else if (fsq_project_entry_is_on(entry))
			ids->ids[count++] = entry->line.id;
	}
	for (size_t i = 0; i < list->taken.count; i++)
		ids->ids[count++] = list->taken.ids[i];
	ids->count = count;
}

static int collect_ids(struct fsq_assigned *files)
{
	const struct fsq_project_list *one = &files->projects, *other = &files->projid;

	if (one->file.is_the_same && other->file.is_the_same)
		return 0;
	files->ids.count = 0;
	if (fsq_id_set_reserve(&files->ids,
			       one->count + one->taken.count + other->count + other->taken.count))
		return -ENOMEM;
	collect_of(&files->ids, one);
	collect_of(&files->ids, other);
	fsq_id_set_sort(&files->ids);
	return 0;
}

static void begin(struct fsq_assigned *files)
{
	files->projects.kind = FSQ_PROJECTS;
	files->projid.kind = FSQ_PROJID;
	files->projects.file.fd = files->projid.file.fd = -1;
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
	edit->projects_file = registry->projects_file;
	edit->projid_file = registry->projid_file;
	edit->kept = registry->assigned;
	edit->files = &edit->own;
	begin(&edit->own);
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
	struct fsq_assigned *files;
	struct fsq_lock_wait second;
	int rc;

	if (edit->locked)
		return 0;
	edit->locked = true;
	if (edit->kept && !edit->kept->in_use)
		edit->files = edit->kept;
	files = edit->files;
	files->in_use = true;
	files->projects.file.path = edit->projects_file;
	files->projid.file.path = edit->projid_file;
	edit->wait.rolling_back = rolling_back;
	second = edit->wait;
	second.again = NULL;
	if (to_lock && edit->wait.again)
		edit->wait.again(edit->wait.arg);
	rc = edit->would_write ? fsq_locked_file_check(&files->projects.file, err) : 0;
	if (rc == 0 && edit->would_write)
		rc = fsq_locked_file_check(&files->projid.file, err);
	if (rc == 0)
		rc = fsq_project_list_open(&files->projects, to_write, to_lock ? &edit->wait : NULL,
					   NULL, err);
	if (rc == 0)
		rc = fsq_project_list_open(&files->projid, to_write, to_lock ? &second : NULL,
					   &files->projects, err);
	if (rc == 0 && collect_ids(files))
		rc = fsq_locked_file_fail(err, ENOMEM, &files->projects.file, "read");
	if (rc)
		fsq_project_edit_unlock(edit);
	return rc;
}

/* The two descriptors are mostly neighbours: then one close_range(2) drops both locks. */
static void close_both(struct fsq_assigned *files)
{
	int low = files->projects.file.fd, high = files->projid.file.fd;

	if (low < 0 || high != low + 1 || syscall(SYS_close_range, low, high, 0))
		return;
	files->projects.file.fd = files->projid.file.fd = -1;
}

static void free_files(struct fsq_assigned *files)
{
	fsq_project_list_free(&files->projid);
	fsq_project_list_free(&files->projects);
	fsq_id_set_free(&files->ids);
}

void fsq_project_edit_unlock(struct fsq_project_edit *edit)
{
	struct fsq_assigned *files = edit->files;

	if (!edit->locked)
		return;
	edit->locked = files->in_use = false;
	if (edit->mode == WRITE) {
		fsq_project_list_settle(&files->projid, &files->projects, &files->ids);
		fsq_project_list_settle(&files->projects, &files->projid, &files->ids);
		fsq_project_list_shorten(&files->projid);
		fsq_project_list_shorten(&files->projects);
	}
	if (files == edit->kept) {
		fsq_project_list_keep(&files->projects);
		fsq_project_list_keep(&files->projid);
	}
	close_both(files);
	if (files == edit->kept) {
		fsq_project_list_close(&files->projects);
		fsq_project_list_close(&files->projid);
	} else {
		free_files(files);
	}
	edit->files = &edit->own;
}

void fsq_project_edit_free(struct fsq_project_edit *edit)
{
	if (!edit)
		return;
	fsq_project_edit_unlock(edit);
	fsq_project_edit_unlock_tree(edit);
	free(edit);
}

/* --- kept between calls --- */

int fsq_assigned_open(struct fsq_assigned **out, const struct fsq_registry *registry,
		      struct fsq_error *err)
{
	if (!out)
		return fsq_fail_null(err);

	struct fsq_assigned *assigned = calloc(1, sizeof(*assigned));
	int rc = fsq_check_parts(registry, NULL, err);

	if (rc == 0 && !assigned)
		rc = fsq_fail_errno(err, ENOMEM, NULL, "cannot go on");
	if (rc == 0)
		begin(assigned);
	if (rc == 0)
		rc = fsq_assigned_read(assigned, registry, err);
	if (rc)
		fsq_assigned_close(assigned);
	else
		*out = assigned;
	return rc;
}

int fsq_assigned_read(struct fsq_assigned *assigned, const struct fsq_registry *registry,
		      struct fsq_error *err)
{
	const struct fsq_registry *files = fsq_registry_or_default(registry);
	const struct fsq_project_list *lists[] = { &assigned->projects, &assigned->projid };
	struct fsq_registry kept = *files;
	struct fsq_project_edit *edit;
	int rc = 0;

	kept.assigned = assigned;
	edit = fsq_project_edit_new(&kept, true, NULL);
	if (!edit)
		return fsq_fail_errno(err, ENOMEM, files->projects_file, "cannot read");
	edit->would_write = false;
	rc = fsq_project_edit_lock(edit, false, err);
	fsq_project_edit_free(edit);
	/* To one that may not be read it is empty. */
	for (size_t i = 0; i < 2 && rc == 0; i++)
		if (lists[i]->count == 0)
			rc = fsq_locked_file_check_read(&lists[i]->file, err);
	return rc;
}

void fsq_assigned_close(struct fsq_assigned *assigned)
{
	if (assigned)
		free_files(assigned);
	free(assigned);
}

uint32_t fsq_assigned_id(const struct fsq_project_list *list, const char *word)
{
	const struct fsq_project_key key = { FSQ_KEY_WORD, 0, word, strlen(word) };
	const struct fsq_project_entry *entry;
	uint32_t id = 0;
	size_t at = 0;

	for (int i = 0; (entry = fsq_project_list_next(list, &key, &at)); i++)
		id = i ? 0 : entry->line.id;
	return id;
}

/* --- looking --- */

uint64_t fsq_project_edit_unlisted(const struct fsq_project_edit *edit, uint64_t id)
{
	return fsq_id_set_first_missing(&edit->files->ids, id);
}

uint64_t fsq_project_edit_listed(const struct fsq_project_edit *edit, uint64_t id)
{
	return fsq_id_set_first_from(&edit->files->ids, id);
}

uint32_t fsq_project_edit_listed_before(const struct fsq_project_edit *edit, uint32_t id)
{
	return fsq_id_set_last_before(&edit->files->ids, id);
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
	return find_word(&edit->files->projects, directory, id);
}

bool fsq_project_edit_id_of_name(const struct fsq_project_edit *edit, const char *name,
				 uint32_t *id)
{
	return find_word(&edit->files->projid, name, id);
}

bool fsq_project_edit_is_shared(const struct fsq_project_edit *edit, uint32_t id,
				const char *directory)
{
	return fsq_id_set_has(&edit->files->ids, id) &&
	       fsq_project_list_find_id(&edit->files->projects, id, directory);
}

static const char *word_of(const struct fsq_project_edit *edit, const struct fsq_project_list *list,
			   uint32_t id, size_t *length)
{
	const struct fsq_project_entry *entry = fsq_id_set_has(&edit->files->ids, id)
							? fsq_project_list_find_id(list, id, NULL)
							: NULL;

	if (!entry)
		return NULL;
	*length = entry->line.length;
	return fsq_project_list_word(list, entry);
}

const char *fsq_project_edit_name_of(const struct fsq_project_edit *edit, uint32_t id,
				     size_t *length)
{
	return word_of(edit, &edit->files->projid, id, length);
}

bool fsq_project_edit_has_name(const struct fsq_project_edit *edit, uint32_t id)
{
	size_t length;

	return fsq_project_edit_name_of(edit, id, &length) != NULL;
}

const char *fsq_project_edit_directory_of(const struct fsq_project_edit *edit, uint32_t id,
					  size_t *length)
{
	return word_of(edit, &edit->files->projects, id, length);
}

void fsq_project_edit_directories_of(const struct fsq_project_edit *edit, const uint32_t *ids,
				     size_t count, const char **words, size_t *lengths)
{
	const struct fsq_project_list *list = &edit->files->projects;
	uint32_t low = ids[0], high = ids[0];

	for (size_t i = 0; i < count; i++) {
		words[i] = list->by_id.count ? word_of(edit, list, ids[i], &lengths[i]) : NULL;
		low = ids[i] < low ? ids[i] : low;
		high = ids[i] > high ? ids[i] : high;
	}
	for (size_t at = 0; at < list->count && !list->by_id.count; at++) {
		const struct fsq_project_entry *entry = &list->entries[at];

		if (entry->line.id - low > high - low || !fsq_project_entry_is_on(entry))
			continue;
		for (size_t i = 0; i < count; i++)
			if (ids[i] == entry->line.id && !words[i]) {
				words[i] = fsq_project_list_word(list, entry);
				lengths[i] = entry->line.length;
			}
	}
}

static int compare_words(const void *one, const void *other)
{
	return strcmp(*(char *const *)one, *(char *const *)other);
}

int fsq_project_edit_below(const struct fsq_project_edit *edit, const char *directory,
			   char ***paths, size_t *count)
{
	const struct fsq_project_list *list = &edit->files->projects;
	const struct fsq_project_key key = { FSQ_KEY_BELOW, 0, directory, strlen(directory) };
	const struct fsq_project_entry *entry;
	size_t at = 0, capacity = 0;

	*count = 0;
	*paths = NULL;
	while ((entry = fsq_project_list_next(list, &key, &at))) {
		char *path = strndup(fsq_project_list_word(list, entry), entry->line.length);

		if (!path || !array_add(paths, count, &capacity, &path, sizeof(path))) {
			free(path);
			return -ENOMEM;
		}
	}
	array_sort(*paths, *count, sizeof(**paths), compare_words);
	return 0;
}

int fsq_project_edit_ids_of(const struct fsq_project_edit *edit, fsq_directory_test test, void *arg,
			    struct fsq_id_set *ids)
{
	const struct fsq_project_list *list = &edit->files->projects;
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
	const struct fsq_project_list *list = &edit->files->projects;
	const struct fsq_project_key key = { FSQ_KEY_BELOW, 0, directory, strlen(directory) };
	const struct fsq_project_entry *inside;
	struct fsq_id_set below = { 0 };
	size_t at = 0;
	int rc = 0;

	*lines = (struct fsq_entries){ 0 };
	while (rc == 0 && (inside = fsq_project_list_next(list, &key, &at)))
		rc = fsq_id_set_add(&below, inside->line.id);
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
	const struct fsq_project_list *list = &edit->files->projects;
	const struct fsq_project_key key = { .kind = FSQ_KEY_ID, .id = id };
	const struct fsq_project_entry *entry = fsq_project_list_next(list, &key, at);

	return entry ? strndup(fsq_project_list_word(list, entry), entry->line.length) : NULL;
}

/* --- changing --- */

static int add_to_list(struct fsq_project_edit *edit, struct fsq_project_list *list, uint32_t id,
		       const char *word, struct fsq_error *err)
{
	int rc = fsq_id_set_insert(&edit->files->ids, id);

	if (rc == 0)
		rc = fsq_project_list_add(list, id, word);
	return rc ? fsq_locked_file_fail(err, -rc, &list->file, "write") : 0;
}

int fsq_project_edit_add_name(struct fsq_project_edit *edit, uint32_t id, const char *name,
			      struct fsq_error *err)
{
	return add_to_list(edit, &edit->files->projid, id, name, err);
}

int fsq_project_edit_add_directory(struct fsq_project_edit *edit, uint32_t id,
				   const char *directory, struct fsq_error *err)
{
	return add_to_list(edit, &edit->files->projects, id, directory, err);
}

int fsq_project_edit_remove_names(struct fsq_project_edit *edit, uint32_t id, struct fsq_error *err)
{
	int rc = fsq_project_list_retire(&edit->files->projid, id, NULL);

	return rc ? fsq_locked_file_fail(err, -rc, &edit->files->projid.file, "write") : 0;
}

int fsq_project_edit_remove(struct fsq_project_edit *edit, uint32_t id, const char *directory,
			    bool names, struct fsq_error *err)
{
	bool last = !fsq_project_edit_is_shared(edit, id, directory);
	int rc = last && names ? fsq_project_edit_remove_names(edit, id, err) : 0;

	if (rc)
		return rc;
	rc = directory ? fsq_project_list_retire(&edit->files->projects, id, directory) : 0;
	if (rc) {
		fsq_project_list_rollback_retired(&edit->files->projid);
		return fsq_locked_file_fail(err, -rc, &edit->files->projects.file, "write");
	}
	return 0;
}

void fsq_project_edit_begin_batch(struct fsq_project_edit *edit)
{
	fsq_project_list_begin_batch(&edit->files->projects);
	fsq_project_list_begin_batch(&edit->files->projid);
}

int fsq_project_edit_sync_batch(struct fsq_project_edit *edit, struct fsq_error *err)
{
	struct fsq_project_list *lists[] = { &edit->files->projid, &edit->files->projects };

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		int rc = lists[i]->file.fd < 0 ? 0 : fsq_locked_file_sync(&lists[i]->file);

		if (rc)
			return fsq_locked_file_fail(err, -rc, &lists[i]->file, "write");
	}
	return 0;
}

static uint64_t count_lines(const struct fsq_project_list *list, uint32_t id, const char *word)
{
	const struct fsq_project_key key = { .kind = FSQ_KEY_ID, .id = id };
	const struct fsq_project_entry *entry;
	uint64_t count = 0;
	size_t at = 0;

	while ((entry = fsq_project_list_next(list, &key, &at)))
		count += !word || fsq_project_list_is(list, entry, word);
	return count;
}

uint64_t fsq_project_edit_lines_of(const struct fsq_project_edit *edit, uint32_t id,
				   const char *directory, bool names)
{
	uint64_t count = directory ? count_lines(&edit->files->projects, id, directory) : 0;

	if (names && !fsq_project_edit_is_shared(edit, id, directory))
		count += count_lines(&edit->files->projid, id, NULL);
	return count;
}

uint64_t fsq_project_edit_names_of(const struct fsq_project_edit *edit, uint32_t id)
{
	return count_lines(&edit->files->projid, id, NULL);
}

void fsq_project_edit_rollback(struct fsq_project_edit *edit)
{
	fsq_project_list_rollback_retired(&edit->files->projects);
	fsq_project_list_rollback_retired(&edit->files->projid);
	fsq_project_list_rollback_added(&edit->files->projects);
	fsq_project_list_rollback_added(&edit->files->projid);
}
