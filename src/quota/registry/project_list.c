/* SPDX-License-Identifier: Apache-2.0 */
#include "project_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "quota/base/path.h"
#include "shared/array.h"
#include "shared/sort.h"

/* The kernel writes a page atomically. */
#define PAGE 4096

/* --- taking apart --- */

static int add_entry(struct fsq_project_list *list, const struct fsq_project_entry *entry)
{
	struct fsq_project_entry *entries =
		array_grow(list->entries, list->count, &list->capacity, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	list->entries = entries;
	entries[list->count++] = *entry;
	return 0;
}

int fsq_project_list_open(struct fsq_project_list *list, bool to_write,
			  const struct fsq_lock_wait *wait, const struct fsq_project_list *other,
			  struct fsq_error *err)
{
	struct fsq_locked_file *file = &list->file;
	size_t next;
	int rc = fsq_locked_file_open(file, to_write, wait, other ? &other->file : NULL, err);

	if (rc)
		return rc;
	for (size_t start = 0; start < file->length; start = next) {
		const char *text = file->text + start;
		const char *newline = memchr(text, '\n', file->length - start);
		size_t length = newline ? (size_t)(newline - text) : file->length - start;
		struct fsq_project_entry entry = { .start = start };

		next = entry.end = start + length + (newline != NULL);
		fsq_project_line_parse(list->kind, text, length, &entry.line);
		if (fsq_project_line_is_of_zero(list->kind, &entry.line))
			entry.line.kind = FSQ_LINE_OTHER;
		if (entry.line.kind != FSQ_LINE_OTHER && add_entry(list, &entry))
			goto fail;
		if (entry.line.takes_id && entry.line.taken != entry.line.id &&
		    fsq_id_set_add(&list->taken, entry.line.taken))
			goto fail;
	}
	return 0;
fail:
	rc = fsq_locked_file_fail(err, ENOMEM, file, "read");
	fsq_locked_file_close(file);
	return rc;
}

/* --- looking --- */

bool fsq_project_entry_is_on(const struct fsq_project_entry *entry)
{
	return entry->line.kind == FSQ_LINE_ENTRY && !entry->off;
}

const char *fsq_project_list_word(const struct fsq_project_list *list,
				  const struct fsq_project_entry *entry)
{
	return list->file.text + entry->start + entry->line.word;
}

bool fsq_project_list_is(const struct fsq_project_list *list, const struct fsq_project_entry *entry,
			 const char *word)
{
	const char *own = fsq_project_list_word(list, entry);
	const size_t length = entry->line.length;

	if (!fsq_project_entry_is_on(entry))
		return false;
	if (list->kind == FSQ_PROJECTS)
		return fsq_path_is(word, own, length);
	return strlen(word) == length && memcmp(word, own, length) == 0;
}

struct key {
	const char *word; /* NULL: search by ID */
	size_t length;
	uint32_t id;
};

static int compare_key(const struct fsq_project_list *list, const struct fsq_project_entry *entry,
		       const struct key *key)
{
	size_t length = entry->line.length;
	int rc;

	if (!key->word)
		return (entry->line.id > key->id) - (entry->line.id < key->id);
	rc = memcmp(fsq_project_list_word(list, entry), key->word,
		    length < key->length ? length : key->length);
	return rc ? rc : (length > key->length) - (length < key->length);
}

static int compare_entry_words(const void *one, const void *other, void *list)
{
	const struct fsq_project_entry *const *a = one, *const *b = other;
	const struct key key = { .word = fsq_project_list_word(list, *b),
				 .length = (*b)->line.length };
	int rc = compare_key(list, *a, &key);

	return rc ? rc : (*a > *b) - (*a < *b);
}

static int compare_entry_ids(const void *one, const void *other, void *list)
{
	const struct fsq_project_entry *const *a = one, *const *b = other;
	int rc = compare_key(list, *a, &(struct key){ .id = (*b)->line.id });

	return rc ? rc : (*a > *b) - (*a < *b);
}

int fsq_project_list_begin_batch(struct fsq_project_list *list)
{
	list->by_word = reallocarray(list->by_word, list->count + 1, sizeof(*list->by_word));
	list->by_id = reallocarray(list->by_id, list->count + 1, sizeof(*list->by_id));
	if (!list->by_word || !list->by_id)
		return -ENOMEM;
	for (size_t i = 0; i < list->count; i++)
		list->by_word[i] = list->by_id[i] = &list->entries[i];
	qsort_r(list->by_word, list->count, sizeof(*list->by_word), compare_entry_words, list);
	qsort_r(list->by_id, list->count, sizeof(*list->by_id), compare_entry_ids, list);
	return 0;
}

/*
 * @return   the end of the range of a key for entry_at(), which begins at @first; only in a batch smaller
 * than the list
 */
static size_t find_range(const struct fsq_project_list *list, const struct key *key, size_t *first)
{
	struct fsq_project_entry **sorted = key->word ? list->by_word : list->by_id;
	size_t low = 0, end = list->count;

	*first = 0;
	if (!sorted)
		return end;
	while (low < end) {
		size_t middle = low + (end - low) / 2;

		if (compare_key(list, sorted[middle], key) < 0)
			low = middle + 1;
		else
			end = middle;
	}
	*first = low;
	while (end < list->count && compare_key(list, sorted[end], key) == 0)
		end++;
	return end;
}

static struct fsq_project_entry *entry_at(const struct fsq_project_list *list,
					  const struct key *key, size_t at)
{
	if (!list->by_id)
		return &list->entries[at];
	return key->word ? list->by_word[at] : list->by_id[at];
}

const struct fsq_project_entry *fsq_project_list_find(const struct fsq_project_list *list,
						      const char *word)
{
	const struct key key = { .word = word, .length = strlen(word) };
	size_t first, end = find_range(list, &key, &first);

	for (size_t i = first; i < end; i++)
		if (fsq_project_list_is(list, entry_at(list, &key, i), word))
			return entry_at(list, &key, i);
	return NULL;
}

const struct fsq_project_entry *fsq_project_list_find_id(const struct fsq_project_list *list,
							 uint32_t id, const char *but)
{
	const struct key key = { .id = id };
	size_t first, end = find_range(list, &key, &first);

	for (size_t i = first; i < end; i++) {
		/* A batch retires its entries from the first to the last, so look from the end. */
		const struct fsq_project_entry *entry =
			entry_at(list, &key, list->by_id ? end - 1 - (i - first) : i);

		if (fsq_project_entry_is_on(entry) && entry->line.id == id &&
		    !(but && fsq_project_list_is(list, entry, but)))
			return entry;
	}
	return NULL;
}

/* --- switching --- */

/* The length of a line without its newline. */
static size_t length_of(const struct fsq_project_list *list, const struct fsq_project_entry *entry)
{
	size_t length = entry->end - entry->start;

	return length > 0 && list->file.text[entry->end - 1] == '\n' ? length - 1 : length;
}

/* The list keeps the line in memory; only the file changes. */
static int set_switch(struct fsq_project_list *list, const struct fsq_project_entry *entry, bool on)
{
	const char *line = list->file.text + entry->start;
	char off, byte;
	size_t at = fsq_project_line_switch(line, length_of(list, entry), &off);

	byte = on ? line[at] : off;
	return pwrite(list->file.fd, &byte, 1, (off_t)(entry->start + at)) == 1 ? 0 : -errno;
}

void fsq_project_list_rollback_retired(struct fsq_project_list *list)
{
	bool any = false;

	for (size_t i = 0; i < list->count; i++) {
		struct fsq_project_entry *entry = &list->entries[i];

		if (entry->off && set_switch(list, entry, true) == 0) {
			entry->off = false;
			any = true;
		}
	}
	if (any)
		fsq_locked_file_sync(&list->file);
}

int fsq_project_list_retire(struct fsq_project_list *list, uint32_t id, const char *word)
{
	const struct key key = { word, word ? strlen(word) : 0, id };
	size_t first, end = find_range(list, &key, &first);
	bool any = false;
	int rc = 0;

	for (size_t i = first; i < end && rc == 0; i++) {
		struct fsq_project_entry *entry = entry_at(list, &key, i);

		if (!fsq_project_entry_is_on(entry) || entry->line.id != id ||
		    (word && !fsq_project_list_is(list, entry, word)))
			continue;
		rc = set_switch(list, entry, false);
		entry->off = rc == 0;
		any = true;
	}
	if (rc == 0 && any && !list->by_id)
		rc = fsq_locked_file_sync(&list->file);
	if (rc)
		fsq_project_list_rollback_retired(list);
	return rc;
}

/* --- adding --- */

/* Write the line switched off, then the single byte that switches it on. */
static int write_switched_line(struct fsq_project_list *list, size_t start, char *text, size_t at,
			       size_t length, char off)
{
	char byte = text[at];
	int rc;

	text[at] = off;
	rc = fsq_locked_file_write(&list->file, start, text, length);
	text[at] = byte;
	if (rc == 0)
		rc = fsq_locked_file_sync(&list->file);
	return rc ? rc : fsq_locked_file_write(&list->file, start + at, &byte, 1);
}

/* Find a retired line of the right length: exactly, or with room for another retired line. */
static struct fsq_project_entry *find_space(struct fsq_project_list *list, size_t length)
{
	for (size_t i = 0; i < list->count; i++) {
		struct fsq_project_entry *entry = &list->entries[i];
		size_t space = entry->end - entry->start;

		if (entry->line.kind == FSQ_LINE_RETIRED && space > length_of(list, entry) &&
		    (space == length || space > length + strlen(FSQ_LINE_FILL)))
			return entry;
	}
	return NULL;
}

/* Write an entry into a retired line. The filler behind it has no colon, so nobody reads it as an entry. */
static int reuse(struct fsq_project_list *list, struct fsq_project_entry *entry, const char *line,
		 size_t length, size_t at)
{
	size_t space = entry->end - entry->start;
	char *text = malloc(space);
	int rc;

	if (!text)
		return -ENOMEM;
	fsq_project_line_fill(text + length, space - length);
	memcpy(text, line, length);
	text[space - 1] = '\n';
	rc = write_switched_line(list, entry->start, text, at, space, FSQ_LINE_OFF);
	free(text);
	if (rc == 0) {
		entry->end = entry->start + length;
		entry->added = true;
		fsq_project_line_parse(list->kind, line, length - 1, &entry->line);
	}
	return rc;
}

/* @line   prefixed with a newline if the file ends without one */
static int write_line_at(struct fsq_project_list *list, char *line, size_t length, size_t at,
			 char off)
{
	const size_t start = list->file.length;
	const bool is_half = start > 0 && list->file.text[start - 1] != '\n';
	struct fsq_project_entry entry = { .start = start + is_half,
					   .end = start + length,
					   .added = true };
	int rc;

	fsq_project_line_parse(list->kind, line, length - 1, &entry.line);
	/*
	 * If the file ends without a newline, the entry begins with one and has none at its end, so it can be
	 * removed without a trace.
	 */
	if (is_half) {
		memmove(line + 1, line, length - 1);
		line[0] = '\n';
	}
	rc = add_entry(list, &entry);
	if (rc)
		return rc;
	/* A write within one page moves the end of the file with the data. */
	if (start / PAGE == (start + length - 1) / PAGE)
		rc = fsq_locked_file_write(&list->file, start, line, length);
	else
		rc = write_switched_line(list, start, line, at + is_half, length, off);
	/* The newline belongs to the line before. */
	if (rc)
		list->count--;
	else if (is_half && list->count > 1 && list->entries[list->count - 2].end == start)
		list->entries[list->count - 2].end++;
	return rc;
}

int fsq_project_list_add(struct fsq_project_list *list, uint32_t id, const char *word)
{
	size_t old = list->file.length, length, at;
	struct fsq_project_entry *space = NULL;
	char *line, off;
	int rc = list->kind == FSQ_PROJECTS ? asprintf(&line, "%u:%s\n", id, word)
					    : asprintf(&line, "%s:%u\n", word, id);

	if (rc < 0)
		return -ENOMEM;
	length = strlen(line);
	at = fsq_project_line_switch(line, length, &off);
	if (off == FSQ_LINE_OFF)
		space = find_space(list, length);
	if (space)
		rc = reuse(list, space, line, length, at);
	else
		rc = write_line_at(list, line, length, at, off);
	free(line);
	if (rc == 0)
		rc = fsq_locked_file_sync(&list->file);
	if (rc && space)
		fsq_project_list_rollback_added(list);
	if (rc == 0 || space)
		return rc;
	/* Remove what was appended, completely or in part. */
	while (list->count > 0 && list->entries[list->count - 1].start >= old)
		list->count--;
	/* A newline that was written first belongs to the line before. */
	if (list->count > 0 && list->entries[list->count - 1].end > old)
		list->entries[list->count - 1].end = old;
	if (fsq_locked_file_cut(&list->file, old) == 0)
		fsq_locked_file_sync(&list->file);
	return rc;
}

/* --- tidying --- */

static bool is_dead(const struct fsq_project_entry *entry)
{
	return entry->off || entry->line.kind == FSQ_LINE_RETIRED;
}

void fsq_project_list_rollback_added(struct fsq_project_list *list)
{
	bool any = false;

	for (size_t i = 0; i < list->count; i++) {
		struct fsq_project_entry *entry = &list->entries[i];

		if (!entry->added)
			continue;
		if (set_switch(list, entry, false) == 0)
			entry->line.kind = FSQ_LINE_RETIRED;
		entry->added = false;
		any = true;
	}
	if (any)
		fsq_locked_file_sync(&list->file);
}

/* Find where the dead lines at the end of the file begin, with the newline that a line without one was given. */
static size_t live_length(const struct fsq_project_list *list, size_t *dead)
{
	size_t length = list->file.length;

	*dead = list->count;
	while (*dead > 0 && is_dead(&list->entries[*dead - 1]) &&
	       list->entries[*dead - 1].end == length)
		length = list->entries[--*dead].start;
	if (length > 0 && length < list->file.length &&
	    list->file.text[list->file.length - 1] != '\n')
		length--;
	return length;
}

/* Move the live lines of the last page into the space of the first dead line in it. */
static void shorten_last_page(struct fsq_project_list *list, size_t count)
{
	const char *text = list->file.text;
	size_t length = list->file.length, page, first, from, kept = 0;
	char *rest;

	page = length > 0 ? (length - 1) / PAGE * PAGE : 0;
	for (first = 0; first < count; first++)
		if (is_dead(&list->entries[first]) && list->entries[first].start >= page)
			break;
	if (first == count)
		return;
	from = list->entries[first].start;
	rest = malloc(length - from);
	if (!rest)
		return;
	for (size_t i = first, at = from; i <= count; i++) {
		size_t end = i < count ? list->entries[i].start : length;

		if (i < count && !is_dead(&list->entries[i]))
			continue;
		memcpy(rest + kept, text + at, end - at);
		kept += end - at;
		at = i < count ? list->entries[i].end : end;
	}
	if (kept > 0)
		fsq_locked_file_shorten(&list->file, from, rest, kept);
	free(rest);
}

void fsq_project_list_tidy(struct fsq_project_list *list)
{
	size_t count = 0, length;

	while (count < list->count && !is_dead(&list->entries[count]))
		count++;
	if (list->file.fd < 0 || count == list->count)
		return;
	length = live_length(list, &count);
	if (length < list->file.length && !fsq_locked_file_shorten(&list->file, length, NULL, 0))
		return;
	shorten_last_page(list, count);
}

void fsq_project_list_close(struct fsq_project_list *list)
{
	fsq_locked_file_close(&list->file);
	free(list->entries);
	free(list->by_word);
	free(list->by_id);
	fsq_id_set_free(&list->taken);
	*list = (struct fsq_project_list){ .kind = list->kind, .file = list->file };
}
