/* SPDX-License-Identifier: Apache-2.0 */
#include "marks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "quota/registry/compact.h"
#include "quota/registry/project_list.h"

struct fsq_marks {
	struct fsq_project_list list;
	unsigned int seconds;
	bool locked;  /* by fsq_marks_lock() */
	bool changed; /* before, since fsq_marks_forget() */
	char file[];
};

struct fsq_marks *fsq_marks_new(const char *file, unsigned int seconds)
{
	const size_t size = strlen(file) + 1;
	struct fsq_marks *marks = calloc(1, sizeof(*marks) + size);

	if (!marks)
		return NULL;
	memcpy(marks->file, file, size);
	marks->seconds = seconds;
	marks->list.kind = FSQ_PROJECTS;
	marks->list.file.path = marks->file;
	marks->list.file.fd = -1;
	return marks;
}

static int open_marks(struct fsq_marks *marks, struct fsq_error *err)
{
	const struct fsq_lock_wait wait = { .seconds = marks->seconds };

	return marks->locked ? 0 : fsq_project_list_open(&marks->list, true, &wait, NULL, err);
}

static void close_marks(struct fsq_marks *marks)
{
	const struct fsq_project_list none = { 0 };
	struct fsq_id_set ids = { 0 };

	if (marks->locked)
		return;
	fsq_project_list_settle(&marks->list, &none, &ids);
	fsq_project_list_shorten(&marks->list);
	/* The first change is mostly the only one. */
	if (marks->changed)
		fsq_project_list_keep(&marks->list);
	fsq_project_list_close(&marks->list);
	if (!marks->changed)
		fsq_project_list_free(&marks->list);
	marks->changed = true;
}

static bool is_marked(const struct fsq_project_list *list, uint32_t id, const char *directory)
{
	const struct fsq_project_key key = { FSQ_KEY_WORD, 0, directory, strlen(directory) };
	const struct fsq_project_entry *entry;
	size_t at = 0;

	while ((entry = fsq_project_list_next(list, &key, &at)))
		if (entry->line.id == id)
			return true;
	return false;
}

int fsq_marks_add(struct fsq_marks *marks, uint32_t id, const char *directory,
		  struct fsq_error *err)
{
	struct fsq_project_list *list = &marks->list;
	int rc = open_marks(marks, err), errnum = 0;

	if (rc == 0 && !is_marked(list, id, directory))
		errnum = -fsq_project_list_add(list, id, directory);
	if (errnum)
		rc = fsq_locked_file_fail(err, errnum, &list->file, "write");
	close_marks(marks);
	return rc;
}

static int remove_chosen(struct fsq_project_list *list,
			 bool (*chooses)(uint32_t id, const char *directory, void *arg), void *arg)
{
	int rc = 0;

	fsq_project_list_begin_batch(list);
	for (size_t i = 0; i < list->count && rc == 0; i++) {
		const struct fsq_project_entry *entry = &list->entries[i];
		char *directory;

		if (!fsq_project_entry_is_on(entry))
			continue;
		directory = strndup(fsq_project_list_word(list, entry), entry->line.length);
		if (!directory)
			rc = -ENOMEM;
		else if (chooses(entry->line.id, directory, arg))
			rc = fsq_project_list_retire(list, entry->line.id, directory);
		free(directory);
	}
	if (rc == 0)
		rc = fsq_locked_file_sync(&list->file);
	if (rc)
		fsq_project_list_rollback_retired(list);
	return rc;
}

int fsq_marks_remove(struct fsq_marks *marks,
		     bool (*chooses)(uint32_t id, const char *directory, void *arg), void *arg,
		     struct fsq_error *err)
{
	int rc = open_marks(marks, err), errnum = 0;

	if (rc == 0)
		errnum = -remove_chosen(&marks->list, chooses, arg);
	if (errnum)
		rc = fsq_locked_file_fail(err, errnum, &marks->list.file, "write");
	close_marks(marks);
	return rc;
}

int fsq_marks_lock(struct fsq_marks *marks, struct fsq_error *err)
{
	int rc = open_marks(marks, err);

	if (rc)
		close_marks(marks);
	marks->locked = rc == 0;
	return rc;
}

void fsq_marks_unlock(struct fsq_marks *marks)
{
	marks->locked = false;
	close_marks(marks);
}

void fsq_marks_forget(struct fsq_marks *marks)
{
	fsq_project_list_free(&marks->list);
	marks->changed = false;
}

void fsq_marks_free(struct fsq_marks *marks)
{
	if (marks)
		fsq_project_list_free(&marks->list);
	free(marks);
}
