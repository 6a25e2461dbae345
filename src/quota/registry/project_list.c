/* SPDX-License-Identifier: Apache-2.0 */
#include "project_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "quota/base/path.h"
#include "shared/array.h"
#include "shared/read_file.h"
#include "shared/sort.h"

/* Most lists have longer lines: then there is room for all at once. */
#define SHORT_LINE 16

/* The index is made when a list was used so often. */
#define USES 3

/* --- the index --- */

static int compare_words(const struct fsq_project_list *list, const struct fsq_project_entry *entry,
			 const char *word, size_t length)
{
	const size_t own = entry->line.length;
	int rc = memcmp(fsq_project_list_word(list, entry), word, own < length ? own : length);

	return rc ? rc : compare_numbers(own, length);
}

static int compare_by_word(const void *one, const void *other, void *arg)
{
	const struct fsq_project_list *list = arg;
	const uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
	const struct fsq_project_entry *entry = &list->entries[b];
	int rc = compare_words(list, &list->entries[a], fsq_project_list_word(list, entry),
			       entry->line.length);

	return rc ? rc : compare_numbers(a, b);
}

static int compare_by_id(const void *one, const void *other, void *arg)
{
	const struct fsq_project_list *list = arg;
	const uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
	int rc = compare_numbers(list->entries[a].line.id, list->entries[b].line.id);

	return rc ? rc : compare_numbers(a, b);
}

static void drop_index(struct fsq_project_list *list)
{
	free(list->by_word.list);
	free(list->by_id.list);
	list->by_word = list->by_id = (struct fsq_entry_numbers){ 0 };
}

static int add_number(struct fsq_entry_numbers *numbers, size_t number)
{
	const uint32_t new = (uint32_t)number;

	return array_add(&numbers->list, &numbers->count, &numbers->capacity, &new, sizeof(new))
		       ? 0
		       : -ENOMEM;
}

static void sort_numbers(struct fsq_project_list *list, struct fsq_entry_numbers *numbers,
			 int (*compare)(const void *, const void *, void *))
{
	size_t at = 1;

	while (at < numbers->count && compare(&numbers->list[at - 1], &numbers->list[at], list) < 0)
		at++;
	if (at < numbers->count)
		qsort_r(numbers->list, numbers->count, sizeof(*numbers->list), compare, list);
}

/* Is it the path of a directory that another entry may spell in another way? */
static bool has_other_spelling(const struct fsq_project_list *list,
			       const struct fsq_project_entry *entry)
{
	const char *at = fsq_project_list_word(list, entry), *end = at + entry->line.length;

	while ((at = memchr(at, '/', (size_t)(end - at)))) {
		at++;
		if (at < end && (*at == '/' || (*at == '.' && (at + 1 == end || at[1] == '/'))))
			return true;
	}
	return false;
}

/* Without memory there is none, nor one of words where a directory is not spelled as we spell it. */
static void make_index(struct fsq_project_list *list)
{
	bool good = true, spelled = true;

	drop_index(list);
	for (size_t i = 0; i < list->count && good; i++) {
		const struct fsq_project_entry *entry = &list->entries[i];

		if (entry->line.kind != FSQ_LINE_ENTRY)
			continue;
		good = add_number(&list->by_word, i) == 0 && add_number(&list->by_id, i) == 0;
		spelled &= list->kind == FSQ_PROJID || !has_other_spelling(list, entry);
	}
	if (!good) {
		drop_index(list);
		return;
	}
	sort_numbers(list, &list->by_id, compare_by_id);
	if (spelled)
		sort_numbers(list, &list->by_word, compare_by_word);
	else
		list->by_word.count = 0;
}

/* The place of an entry in the index. */
static size_t find_number(struct fsq_project_list *list, const struct fsq_entry_numbers *numbers,
			  size_t number, int (*compare)(const void *, const void *, void *))
{
	const uint32_t key = (uint32_t)number;
	size_t low = 0, high = numbers->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(&numbers->list[middle], &key, list) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int insert_number(struct fsq_project_list *list, struct fsq_entry_numbers *numbers,
			 size_t number, int (*compare)(const void *, const void *, void *))
{
	size_t at;

	if (!numbers->count)
		return 0;
	at = find_number(list, numbers, number, compare);
	if (add_number(numbers, number))
		return -ENOMEM;
	memmove(numbers->list + at + 1, numbers->list + at,
		(numbers->count - 1 - at) * sizeof(*numbers->list));
	numbers->list[at] = (uint32_t)number;
	return 0;
}

static void remove_number(struct fsq_project_list *list, struct fsq_entry_numbers *numbers,
			  size_t number, int (*compare)(const void *, const void *, void *))
{
	size_t at = find_number(list, numbers, number, compare);

	if (at < numbers->count && numbers->list[at] == number)
		memmove(numbers->list + at, numbers->list + at + 1,
			(--numbers->count - at) * sizeof(*numbers->list));
}

static void index_entry(struct fsq_project_list *list, const struct fsq_project_entry *entry)
{
	const size_t number = (size_t)(entry - list->entries);

	if (!list->by_id.count)
		return;
	if (insert_number(list, &list->by_id, number, compare_by_id) ||
	    (list->kind == FSQ_PROJECTS && has_other_spelling(list, entry)) ||
	    insert_number(list, &list->by_word, number, compare_by_word))
		drop_index(list);
}

static void unindex_entry(struct fsq_project_list *list, const struct fsq_project_entry *entry)
{
	const size_t number = (size_t)(entry - list->entries);

	remove_number(list, &list->by_id, number, compare_by_id);
	remove_number(list, &list->by_word, number, compare_by_word);
}

/* --- taking apart --- */

/* @count    of entries, in all */
static int make_room(struct fsq_project_list *list, size_t count)
{
	struct fsq_project_entry *entries =
		array_reserve(list->entries, count, &list->capacity, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	list->entries = entries;
	return 0;
}

/* Any line. @return  0 or -ENOMEM */
static int parse_line(struct fsq_project_list *list, struct fsq_project_entry *entry, size_t length)
{
	fsq_project_line_parse(list->kind, list->file.text + entry->start, length, &entry->line);
	if (entry->line.takes_id && entry->line.taken != entry->line.id &&
	    fsq_id_set_add(&list->taken, entry->line.taken))
		return -ENOMEM;
	list->retired += entry->line.kind == FSQ_LINE_RETIRED;
	list->count += entry->line.kind != FSQ_LINE_OTHER &&
		       !fsq_project_line_is_of_zero(list->kind, &entry->line);
	return 0;
}

/* The rest of the text, from @start on. @return  0 or -ENOMEM */
static int parse(struct fsq_project_list *list, size_t start)
{
	const char *begin = list->file.text, *text = begin + start,
		   *end = begin + list->file.length;

	if (text < end && make_room(list, list->count + (size_t)(end - text) / SHORT_LINE + 1))
		return -ENOMEM;
	while (text < end) {
		struct fsq_project_entry *entry;
		size_t plain;

		if (list->count == list->capacity && make_room(list, list->count + 1))
			return -ENOMEM;
		entry = &list->entries[list->count];
		entry->start = (uint32_t)(text - begin);
		entry->off = entry->added = false;
		plain = fsq_project_line_parse_plain(list->kind, text, end, &entry->line);
		if (plain) {
			text += plain;
			list->count++;
		} else {
			const char *newline = memchr(text, '\n', (size_t)(end - text));
			const size_t length = (size_t)((newline ? newline : end) - text);

			text += length + (newline != NULL);
			if (parse_line(list, entry, length))
				return -ENOMEM;
		}
		entry->end = (uint32_t)(text - begin);
	}
	return 0;
}

void fsq_project_list_index(struct fsq_project_list *list)
{
	if (!list->by_id.count)
		make_index(list);
}

static void forget_entries(struct fsq_project_list *list)
{
	drop_index(list);
	list->count = list->retired = list->space_from = 0;
	list->taken.count = 0;
	list->uses = 0;
	list->broken = false;
}

void fsq_project_list_read_again(struct fsq_project_list *list)
{
	forget_entries(list);
	list->broken = parse(list, 0) != 0;
	make_index(list);
}

int fsq_project_list_open(struct fsq_project_list *list, bool to_write,
			  const struct fsq_lock_wait *wait, const struct fsq_project_list *other,
			  struct fsq_error *err)
{
	int rc =
		fsq_locked_file_open(&list->file, to_write, wait, other ? &other->file : NULL, err);

	if (rc == 0 && list->file.is_the_same) {
		if (++list->uses >= USES && list->by_id.count == 0)
			make_index(list);
		return 0;
	}
	forget_entries(list);
	if (rc)
		return rc;
	rc = parse(list, 0);
	if (rc == 0)
		return 0;
	rc = fsq_locked_file_fail(err, -rc, &list->file, "read");
	fsq_project_list_free(list);
	return rc;
}

/* --- looking --- */

const char *fsq_project_list_word(const struct fsq_project_list *list,
				  const struct fsq_project_entry *entry)
{
	return list->file.text + entry->start + entry->line.word;
}

static bool is_word(const struct fsq_project_list *list, const struct fsq_project_entry *entry,
		    const char *word, size_t length)
{
	const char *own = fsq_project_list_word(list, entry);

	if (entry->line.length == length)
		return memcmp(word, own, length) == 0;
	return entry->line.length > length && list->kind == FSQ_PROJECTS &&
	       fsq_path_is(word, own, entry->line.length);
}

bool fsq_project_list_is(const struct fsq_project_list *list, const struct fsq_project_entry *entry,
			 const char *word)
{
	return fsq_project_entry_is_on(entry) && is_word(list, entry, word, strlen(word));
}

static bool is_below(const struct fsq_project_list *list, const struct fsq_project_entry *entry,
		     const char *directory)
{
	const char *path = fsq_project_list_word(list, entry);
	const char *below = fsq_path_below(directory, path, entry->line.length);

	return below && below < path + entry->line.length;
}

static bool has_key(const struct fsq_project_list *list, const struct fsq_project_entry *entry,
		    const struct fsq_project_key *key)
{
	switch (key->kind) {
	case FSQ_KEY_ID:
		return entry->line.id == key->id && fsq_project_entry_is_on(entry);
	case FSQ_KEY_WORD:
		return is_word(list, entry, key->word, key->length) &&
		       fsq_project_entry_is_on(entry);
	default:
		return entry->line.length > key->length && fsq_project_entry_is_on(entry) &&
		       is_below(list, entry, key->word);
	}
}

/* Where an entry lies beside those of a key, in the index; 0: among them, or for FSQ_KEY_BELOW maybe. */
static int compare_key(const struct fsq_project_list *list, const struct fsq_project_entry *entry,
		       const struct fsq_project_key *key)
{
	if (key->kind == FSQ_KEY_ID)
		return compare_numbers(entry->line.id, key->id);
	if (key->kind == FSQ_KEY_BELOW && entry->line.length > key->length)
		return memcmp(fsq_project_list_word(list, entry), key->word, key->length);
	return compare_words(list, entry, key->word, key->length);
}

/* The first place in the index with an entry of the key, or behind it. */
static size_t find_key(const struct fsq_project_list *list, const struct fsq_entry_numbers *numbers,
		       const struct fsq_project_key *key)
{
	size_t low = 0, high = numbers->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_key(list, &list->entries[numbers->list[middle]], key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Most entries are others, which shows in a moment: another spelling of a directory is longer, and ends as that does, or
 * with "/" or ".".
 *
 * @entry    its word is at least as long as the key
 */
static inline bool may_have_key(const struct fsq_project_list *list,
				const struct fsq_project_entry *entry,
				const struct fsq_project_key *key)
{
	const size_t length = entry->line.length;
	char last;

	if (key->kind == FSQ_KEY_ID)
		return entry->line.id == key->id;
	if (key->kind == FSQ_KEY_BELOW || key->length == 0)
		return true;
	last = list->file.text[entry->start + entry->line.word + length - 1];
	return last == key->word[key->length - 1] ||
	       (list->kind == FSQ_PROJECTS && (last == '/' || last == '.'));
}

static const struct fsq_project_entry *next_unsorted(const struct fsq_project_list *list,
						     const struct fsq_project_key *key, size_t *at)
{
	const uint32_t least = key->kind == FSQ_KEY_ID ? 0 : (uint32_t)key->length;

	for (size_t i = *at; i < list->count; i++) {
		const struct fsq_project_entry *entry = &list->entries[i];

		if (entry->line.length < least || !may_have_key(list, entry, key) ||
		    !has_key(list, entry, key))
			continue;
		*at = i + 1;
		return entry;
	}
	*at = list->count;
	return NULL;
}

const struct fsq_project_entry *fsq_project_list_next(const struct fsq_project_list *list,
						      const struct fsq_project_key *key, size_t *at)
{
	const struct fsq_entry_numbers *numbers =
		key->kind == FSQ_KEY_ID ? &list->by_id : &list->by_word;

	if (numbers->count == 0)
		return next_unsorted(list, key, at);
	if (*at == 0)
		*at = find_key(list, numbers, key);
	while (*at < numbers->count) {
		const struct fsq_project_entry *entry = &list->entries[numbers->list[*at]];

		if (compare_key(list, entry, key) > 0)
			break;
		(*at)++;
		if (has_key(list, entry, key))
			return entry;
	}
	return NULL;
}

const struct fsq_project_entry *fsq_project_list_find(const struct fsq_project_list *list,
						      const char *word)
{
	const struct fsq_project_key key = { FSQ_KEY_WORD, 0, word, strlen(word) };
	size_t at = 0;

	return fsq_project_list_next(list, &key, &at);
}

const struct fsq_project_entry *fsq_project_list_find_id(const struct fsq_project_list *list,
							 uint32_t id, const char *but)
{
	const struct fsq_project_key key = { .kind = FSQ_KEY_ID, .id = id };
	const struct fsq_project_key behind = { .kind = FSQ_KEY_ID, .id = id + 1 };
	const struct fsq_project_entry *entry;
	size_t at = 0, end;

	if (!list->batch || !list->by_id.count) {
		while ((entry = fsq_project_list_next(list, &key, &at)))
			if (!but || !is_word(list, entry, but, strlen(but)))
				return entry;
		return NULL;
	}
	/* A batch retires its entries from the first to the last, so look from the end. */
	at = find_key(list, &list->by_id, &key);
	for (end = find_key(list, &list->by_id, &behind); end > at; end--) {
		entry = &list->entries[list->by_id.list[end - 1]];
		if (fsq_project_entry_is_on(entry) &&
		    !(but && is_word(list, entry, but, strlen(but))))
			return entry;
	}
	return NULL;
}

void fsq_project_list_begin_batch(struct fsq_project_list *list)
{
	list->batch = true;
	make_index(list);
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
	list->file.changed = true;
	if (pwrite(list->file.fd, &byte, 1, (off_t)(entry->start + at)) == 1)
		return 0;
	list->broken = true;
	return -errno;
}

/* @return   NULL: there was no memory to add it */
static struct fsq_project_entry *touched_entry(const struct fsq_project_list *list, size_t i)
{
	const size_t at = list->touched.list[i];

	return at < list->count ? &list->entries[at] : NULL;
}

void fsq_project_list_rollback_retired(struct fsq_project_list *list)
{
	bool any = false;

	for (size_t i = 0; i < list->touched.count; i++) {
		struct fsq_project_entry *entry = touched_entry(list, i);

		if (entry && entry->off && set_switch(list, entry, true) == 0) {
			entry->off = false;
			any = true;
		}
	}
	if (any)
		fsq_locked_file_sync(&list->file);
}

int fsq_project_list_retire(struct fsq_project_list *list, uint32_t id, const char *word)
{
	const struct fsq_project_key key = { word ? FSQ_KEY_WORD : FSQ_KEY_ID, id, word,
					     word ? strlen(word) : 0 };
	const struct fsq_project_entry *found;
	bool any = false;
	size_t at = 0;
	int rc = 0;

	while (rc == 0 && (found = fsq_project_list_next(list, &key, &at))) {
		struct fsq_project_entry *entry = &list->entries[found - list->entries];

		if (entry->line.id != id)
			continue;
		rc = add_number(&list->touched, (size_t)(found - list->entries));
		if (rc == 0)
			rc = set_switch(list, entry, false);
		entry->off = rc == 0;
		any = true;
	}
	if (rc == 0 && any && !list->batch)
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
	size_t left = list->uses && list->count > FSQ_LIST_SPACES ? FSQ_LIST_SPACES : list->count;

	for (; list->retired && left; left--) {
		struct fsq_project_entry *entry = &list->entries[list->space_from++ % list->count];
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
		entry->end = entry->start + (uint32_t)length;
		entry->added = true;
		fsq_project_line_parse(list->kind, line, length - 1, &entry->line);
		list->retired--;
	}
	return rc;
}

/* @line   prefixed with a newline if the file ends without one */
static int write_line_at(struct fsq_project_list *list, char *line, size_t length, size_t at,
			 char off)
{
	const size_t start = list->file.length;
	const bool is_half = start > 0 && list->file.text[start - 1] != '\n';
	struct fsq_project_entry entry = { .start = (uint32_t)start + is_half,
					   .end = (uint32_t)(start + length),
					   .added = true };
	int rc;

	if (start + length + 1 > FSQ_FILE_MAX)
		return -EFBIG;
	fsq_project_line_parse(list->kind, line, length - 1, &entry.line);
	/*
	 * If the file ends without a newline, the entry begins with one and has none at its end, so it can be
	 * removed without a trace.
	 */
	if (is_half) {
		memmove(line + 1, line, length - 1);
		line[0] = '\n';
	}
	rc = make_room(list, list->count + 1);
	if (rc)
		return rc;
	list->entries[list->count++] = entry;
	/* A write within one page moves the end of the file with the data. */
	if (start / FSQ_LIST_PAGE == (start + length - 1) / FSQ_LIST_PAGE)
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
	rc = add_number(&list->touched, space ? (size_t)(space - list->entries) : list->count);
	if (rc == 0 && space)
		rc = reuse(list, space, line, length, at);
	else if (rc == 0)
		rc = write_line_at(list, line, length, at, off);
	free(line);
	if (rc == 0)
		rc = fsq_locked_file_sync(&list->file);
	if (rc == 0) {
		index_entry(list, space ? space : &list->entries[list->count - 1]);
		return 0;
	}
	list->broken = true;
	if (space) {
		fsq_project_list_rollback_added(list);
		return rc;
	}
	/* Remove what was appended, completely or in part. */
	while (list->count > 0 && list->entries[list->count - 1].start >= old)
		list->count--;
	/* A newline that was written first belongs to the line before. */
	if (list->count > 0 && list->entries[list->count - 1].end > old)
		list->entries[list->count - 1].end = (uint32_t)old;
	if (fsq_locked_file_cut(&list->file, old) == 0)
		fsq_locked_file_sync(&list->file);
	return rc;
}

void fsq_project_list_rollback_added(struct fsq_project_list *list)
{
	bool any = false;

	for (size_t i = 0; i < list->touched.count; i++) {
		struct fsq_project_entry *entry = touched_entry(list, i);

		if (!entry || !entry->added)
			continue;
		if (set_switch(list, entry, false) == 0) {
			unindex_entry(list, entry);
			entry->line.kind = FSQ_LINE_RETIRED;
			list->retired++;
		}
		entry->added = false;
		any = true;
	}
	if (any)
		fsq_locked_file_sync(&list->file);
}

/* --- settling --- */

/* What was switched in the file is switched in the text. */
static void settle_entry(struct fsq_project_list *list, struct fsq_project_entry *entry)
{
	char *line = list->file.text + entry->start, off = FSQ_LINE_OFF;
	const size_t length = length_of(list, entry);

	if (memchr(line, ':', length))
		line[fsq_project_line_switch(line, length, &off)] = off;
	entry->line.kind = off == FSQ_LINE_OFF ? FSQ_LINE_RETIRED : FSQ_LINE_OTHER;
}

/* Find where the retired lines at the end of the file begin, with the newline that a line without one was given. */
static size_t live_length(const struct fsq_project_list *list, size_t *count)
{
	size_t length = list->file.length;

	*count = list->count;
	while (*count > 0 && fsq_project_entry_is_retired(&list->entries[*count - 1]) &&
	       list->entries[*count - 1].end == length)
		length = list->entries[--*count].start;
	if (length > 0 && length < list->file.length &&
	    list->file.text[list->file.length - 1] != '\n')
		length--;
	return length;
}

/* Move the live lines of the last page into the space of the first retired line in it. */
static void shorten_last_page(struct fsq_project_list *list)
{
	const char *text = list->file.text;
	size_t length = list->file.length, first = list->count, kept = 0, page, from;
	char *rest;

	page = length > 0 ? (length - 1) / FSQ_LIST_PAGE * FSQ_LIST_PAGE : 0;
	for (size_t i = list->count; i > 0 && list->entries[i - 1].start >= page; i--)
		if (fsq_project_entry_is_retired(&list->entries[i - 1]))
			first = i - 1;
	if (first == list->count)
		return;
	from = list->entries[first].start;
	rest = malloc(length - from);
	if (!rest)
		return;
	for (size_t i = first, at = from; i <= list->count; i++) {
		size_t end = i < list->count ? list->entries[i].start : length;

		if (i < list->count && !fsq_project_entry_is_retired(&list->entries[i]))
			continue;
		memcpy(rest + kept, text + at, end - at);
		kept += end - at;
		at = i < list->count ? list->entries[i].end : end;
	}
	for (size_t i = first; i < list->count; i++)
		unindex_entry(list, &list->entries[i]);
	if (kept > 0 && fsq_locked_file_shorten(&list->file, from, rest, kept)) {
		for (size_t i = first; i < list->count; i++)
			list->retired -= fsq_project_entry_is_retired(&list->entries[i]);
		list->count = first;
		list->broken |= parse(list, from) != 0;
	}
	for (size_t i = first; i < list->count; i++)
		if (fsq_project_entry_is_on(&list->entries[i]))
			index_entry(list, &list->entries[i]);
	free(rest);
}

void fsq_project_list_tidy(struct fsq_project_list *list)
{
	size_t count, length;

	if (list->file.fd < 0 || !list->retired)
		return;
	length = live_length(list, &count);
	if (length < list->file.length && !fsq_locked_file_shorten(&list->file, length, NULL, 0))
		return;
	list->retired -= list->count - count;
	list->count = count;
	if (list->retired)
		shorten_last_page(list);
}

static bool mentions(const struct fsq_project_list *list, uint32_t id)
{
	for (size_t i = 0; i < list->taken.count; i++)
		if (list->taken.ids[i] == id)
			return true;
	return fsq_project_list_find_id(list, id, NULL) != NULL;
}

void fsq_project_list_settle(struct fsq_project_list *list, const struct fsq_project_list *other,
			     struct fsq_id_set *ids)
{
	for (size_t i = 0; i < list->touched.count; i++) {
		struct fsq_project_entry *entry = touched_entry(list, i);
		uint32_t id;

		if (!entry)
			continue;
		id = entry->line.id;
		entry->added = false;
		if (entry->off) {
			unindex_entry(list, entry);
			entry->off = false;
			list->retired++;
		} else if (!fsq_project_entry_is_retired(entry)) {
			continue;
		}
		settle_entry(list, entry);
		list->retired -= !fsq_project_entry_is_retired(entry);
		if (!mentions(list, id) && !mentions(other, id))
			fsq_id_set_remove(ids, id);
	}
	list->touched.count = 0;
}

void fsq_project_list_keep(struct fsq_project_list *list)
{
	if (!list->broken) {
		fsq_locked_file_keep(&list->file);
		return;
	}
	fsq_locked_file_forget(&list->file);
	forget_entries(list);
}

void fsq_project_list_close(struct fsq_project_list *list)
{
	fsq_locked_file_close(&list->file);
	list->batch = false;
}

void fsq_project_list_free(struct fsq_project_list *list)
{
	fsq_project_list_close(list);
	fsq_locked_file_forget(&list->file);
	drop_index(list);
	free(list->entries);
	free(list->touched.list);
	fsq_id_set_free(&list->taken);
	*list = (struct fsq_project_list){ .kind = list->kind, .file = list->file };
}
