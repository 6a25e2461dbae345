/* SPDX-License-Identifier: Apache-2.0 */
#include "project_edit.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "locked_file.h"
#include "syscalls.h"
#include "units.h"

/* "ID:DIRECTORY" or "NAME:ID", as a part of the file's text. */
struct entry {
	uint32_t id;
	const char *word; /* directory or name */
	size_t word_length;
	size_t start, end; /* of the line, with its newline */
};

struct list {
	struct fsq_locked_file file;
	struct entry *entries;
	size_t count;
};

struct fsq_project_edit {
	bool to_write, locked;
	struct list projects, projid;
	uint32_t *ids; /* of both, sorted */
	size_t id_count;
	char *name; /* that was asked for last */
};

bool fsq_project_name_is_valid(const char *name)
{
	uint32_t id;

	return name[0] != '\0' && name[0] != '#' && !strpbrk(name, ":\n") &&
	       fsq_parse_id(name, &id) == -EINVAL;
}

/* --- taking apart --- */

static bool parse_line(const char *line, size_t length, bool id_first, struct entry *entry)
{
	const char *colon = memchr(line, ':', length);
	const char *rest = colon + 1;
	size_t left, rest_length;

	if (length == 0 || line[0] == '#' || !colon)
		return false;
	left = (size_t)(colon - line);
	rest_length = length - left - 1;
	if (id_first) {
		entry->word = rest;
		entry->word_length = rest_length;
		/* The directory may have a slash behind it. */
		while (entry->word_length > 1 && rest[entry->word_length - 1] == '/')
			entry->word_length--;
		return fsq_parse_listed_id(line, left, &entry->id) == 0;
	}
	entry->word = line;
	entry->word_length = left;
	colon = memchr(rest, ':', rest_length);
	return fsq_parse_listed_id(rest, colon ? (size_t)(colon - rest) : rest_length,
				   &entry->id) == 0;
}

static size_t count_lines(const struct fsq_locked_file *file)
{
	const char *at = file->text, *end = file->text + file->length;
	size_t count = 1;

	while ((at = memchr(at, '\n', (size_t)(end - at))))
		count++, at++;
	return count;
}

static int take_apart(struct list *list, bool id_first)
{
	const char *text = list->file.text;
	size_t length = list->file.length, next;

	list->entries = reallocarray(NULL, count_lines(&list->file), sizeof(*list->entries));
	if (!list->entries)
		return -ENOMEM;
	for (size_t start = 0; start < length; start = next) {
		const char *newline = memchr(text + start, '\n', length - start);
		size_t end = newline ? (size_t)(newline - text) : length;
		struct entry entry = { .start = start };

		next = newline ? end + 1 : end;
		entry.end = next;
		if (parse_line(text + start, end - start, id_first, &entry))
			list->entries[list->count++] = entry;
	}
	return 0;
}

static int compare_ids(const void *one, const void *other)
{
	const uint32_t *a = one, *b = other;

	return *a < *b ? -1 : *a > *b;
}

static int collect_ids(struct fsq_project_edit *edit)
{
	size_t room = edit->projects.count + edit->projid.count;

	edit->ids = reallocarray(NULL, room ? room : 1, sizeof(*edit->ids));
	if (!edit->ids)
		return -ENOMEM;
	for (size_t i = 0; i < edit->projects.count; i++)
		edit->ids[edit->id_count++] = edit->projects.entries[i].id;
	for (size_t i = 0; i < edit->projid.count; i++)
		edit->ids[edit->id_count++] = edit->projid.entries[i].id;
	qsort(edit->ids, edit->id_count, sizeof(*edit->ids), compare_ids);
	return 0;
}

struct fsq_project_edit *fsq_project_edit_new(const char *projects, const char *projid,
					      bool to_write)
{
	struct fsq_project_edit *edit = calloc(1, sizeof(*edit));

	if (!edit)
		return NULL;
	edit->to_write = to_write;
	edit->projects.file = (struct fsq_locked_file){ .path = projects, .fd = -1 };
	edit->projid.file = (struct fsq_locked_file){ .path = projid, .fd = -1 };
	return edit;
}

int fsq_project_edit_lock(struct fsq_project_edit *edit, bool heed_signals, struct fsq_error *err)
{
	int rc;

	if (edit->locked)
		return 0;
	edit->locked = true;
	rc = fsq_locked_file_open(&edit->projects.file, edit->to_write, heed_signals, err);
	if (rc == 0)
		rc = fsq_locked_file_open(&edit->projid.file, edit->to_write, heed_signals, err);
	if (rc == 0 && (take_apart(&edit->projects, true) || take_apart(&edit->projid, false) ||
			collect_ids(edit)))
		rc = fsq_locked_file_fail(err, ENOMEM, &edit->projects.file, "read");
	if (rc)
		fsq_project_edit_unlock(edit);
	return rc;
}

static void close_list(struct list *list)
{
	fsq_locked_file_close(&list->file);
	free(list->entries);
	list->entries = NULL;
	list->count = 0;
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
	fsq_locked_file_unmake(&edit->projid.file);
	fsq_locked_file_unmake(&edit->projects.file);
	close_both(edit);
	close_list(&edit->projid);
	close_list(&edit->projects);
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
	free(edit->name);
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

static bool is_word(const struct entry *entry, const char *word)
{
	return strlen(word) == entry->word_length &&
	       memcmp(entry->word, word, entry->word_length) == 0;
}

static bool find_word(const struct list *list, const char *word, uint32_t *id)
{
	for (size_t i = 0; i < list->count; i++)
		if (is_word(&list->entries[i], word)) {
			*id = list->entries[i].id;
			return true;
		}
	return false;
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
	for (size_t i = 0; i < edit->projects.count; i++)
		if (edit->projects.entries[i].id == id &&
		    !(directory && is_word(&edit->projects.entries[i], directory)))
			return true;
	return false;
}

const char *fsq_project_edit_name_of(struct fsq_project_edit *edit, uint32_t id)
{
	for (size_t i = 0; i < edit->projid.count; i++) {
		const struct entry *entry = &edit->projid.entries[i];

		if (entry->id != id)
			continue;
		free(edit->name);
		edit->name = strndup(entry->word, entry->word_length);
		return edit->name;
	}
	return NULL;
}

/* --- changing --- */

void fsq_project_edit_undo(struct fsq_project_edit *edit)
{
	fsq_locked_file_take_back(&edit->projects.file);
	fsq_locked_file_take_back(&edit->projid.file);
}

static int append_entry(struct fsq_locked_file *file, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int append_entry(struct fsq_locked_file *file, const char *format, ...)
{
	/* Without a newline where the file ends in none: so it can be taken away without trace. */
	bool newline = fsq_locked_file_is_whole(file);
	char *line = NULL, *with_newline = NULL;
	va_list args;
	int rc = -ENOMEM;

	va_start(args, format);
	if (vasprintf(&line, format, args) < 0)
		line = NULL;
	va_end(args);
	if (line && asprintf(&with_newline, newline ? "%s\n" : "\n%s", line) < 0)
		with_newline = NULL;
	if (with_newline)
		rc = fsq_locked_file_append(file, with_newline);
	free(line);
	free(with_newline);
	if (rc)
		fsq_locked_file_take_back(file);
	return rc;
}

int fsq_project_edit_add_name(struct fsq_project_edit *edit, uint32_t id, const char *name,
			      struct fsq_error *err)
{
	struct fsq_locked_file *file = &edit->projid.file;
	int rc = append_entry(file, "%s:%u", name, id);

	return rc ? fsq_locked_file_fail(err, -rc, file, "write") : 0;
}

int fsq_project_edit_add_directory(struct fsq_project_edit *edit, uint32_t id,
				   const char *directory, struct fsq_error *err)
{
	struct fsq_locked_file *file = &edit->projects.file;
	int rc = append_entry(file, "%u:%s", id, directory);

	return rc ? fsq_locked_file_fail(err, -rc, file, "write") : 0;
}

void fsq_project_edit_clean(const struct fsq_project_edit *edit)
{
	fsq_locked_file_clean(&edit->projid.file);
	fsq_locked_file_clean(&edit->projects.file);
}

/* Without the lines that are to go. */
static int cut(struct list *list, uint32_t id, const char *word)
{
	const char *text = list->file.text;
	size_t length = list->file.length, from = 0, kept = 0;
	char *rest = malloc(length + 1);
	int rc;

	if (!rest)
		return -ENOMEM;
	for (size_t i = 0; i < list->count; i++) {
		const struct entry *entry = &list->entries[i];

		if (entry->id != id || (word && !is_word(entry, word)))
			continue;
		memcpy(rest + kept, text + from, entry->start - from);
		kept += entry->start - from;
		from = entry->end;
	}
	/* A last line without newline goes with the one before it. */
	if (from == length && kept > 0 && !fsq_locked_file_is_whole(&list->file))
		kept--;
	memcpy(rest + kept, text + from, length - from);
	kept += length - from;
	rc = fsq_locked_file_cut(&list->file, rest, kept);
	free(rest);
	return rc;
}

int fsq_project_edit_remove(struct fsq_project_edit *edit, uint32_t id, const char *directory,
			    bool names, struct fsq_error *err)
{
	struct fsq_locked_file *projects = &edit->projects.file, *projid = &edit->projid.file;
	bool last = !fsq_project_edit_is_shared(edit, id, directory);
	int rc = last && names ? cut(&edit->projid, id, NULL) : 0;

	if (rc) {
		fsq_locked_file_put_back(projid);
		return fsq_locked_file_fail(err, -rc, projid, "write");
	}
	rc = directory ? cut(&edit->projects, id, directory) : 0;
	if (rc) {
		fsq_locked_file_put_back(projects);
		fsq_locked_file_put_back(projid);
		return fsq_locked_file_fail(err, -rc, projects, "write");
	}
	return 0;
}
