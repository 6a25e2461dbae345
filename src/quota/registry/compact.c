/* SPDX-License-Identifier: Apache-2.0 */
#include "compact.h"

#include <stdlib.h>
#include <string.h>

#include "shared/array.h"

/* Retired lines that follow each other: @used bytes of the space are taken again. */
struct space {
	size_t start, end, used;
};

/* An entry, and where its copy goes; NO_COPY: one is there already. */
struct moved {
	size_t number, to;
	size_t at; /* the byte of the line that switches it */
};

#define NO_COPY SIZE_MAX

struct compaction {
	struct fsq_project_list *list;
	struct space *spaces;
	size_t space_count, space_capacity, first_free;
	struct moved *moved;
	size_t count, capacity;
};

static bool find_spaces(struct compaction *c)
{
	const struct fsq_project_list *list = c->list;

	for (size_t i = 0; i < list->count; i++) {
		const struct fsq_project_entry *entry = &list->entries[i];
		struct space *last = c->space_count ? &c->spaces[c->space_count - 1] : NULL;
		const struct space space = { entry->start, entry->end, 0 };

		if (!fsq_project_entry_is_retired(entry))
			continue;
		if (last && last->end == space.start)
			last->end = space.end;
		else if (!array_add(&c->spaces, &c->space_count, &c->space_capacity, &space,
				    sizeof(space)))
			return false;
	}
	return true;
}

/* @return   the first space before @end that has room for @length bytes: for them alone, or for a retired line, too */
static struct space *find_room(struct compaction *c, size_t end, size_t length)
{
	const size_t least = 1 + strlen(FSQ_LINE_FILL);

	while (c->first_free < c->space_count &&
	       c->spaces[c->first_free].end - c->spaces[c->first_free].start ==
		       c->spaces[c->first_free].used)
		c->first_free++;
	for (size_t i = c->first_free, tries = FSQ_LIST_SPACES; i < c->space_count && tries;
	     i++, tries--) {
		struct space *space = &c->spaces[i];
		const size_t left = space->end - space->start - space->used;

		if (space->end > end)
			return NULL;
		if (left == length || left > length + least)
			return space;
	}
	return NULL;
}

/*
 * Choose where an entry goes. One that is not the first of its ID stays: it may be that of a project with several
 * directories, or what a call that was killed has copied and not yet retired.
 */
static bool choose(struct compaction *c, size_t number)
{
	const struct fsq_project_list *list = c->list;
	const struct fsq_project_entry *entry = &list->entries[number], *first;
	const struct fsq_project_key key = { .kind = FSQ_KEY_ID, .id = entry->line.id };
	const size_t length = entry->end - entry->start;
	struct moved moved = { number, NO_COPY, 0 };
	struct space *space;
	size_t at = 0;
	char off;

	moved.at = fsq_project_line_switch(list->file.text + entry->start, length, &off);
	if (off != FSQ_LINE_OFF)
		return false;
	first = fsq_project_list_next(list, &key, &at);
	if (first != entry) {
		if (first->end - first->start != length ||
		    memcmp(list->file.text + first->start, list->file.text + entry->start,
			   length) != 0)
			return false;
	} else {
		space = find_room(c, entry->start, length);
		if (!space)
			return false;
		moved.to = space->start + space->used;
		space->used += length;
	}
	return array_add(&c->moved, &c->count, &c->capacity, &moved, sizeof(moved));
}

/* From the last line on, until one cannot be moved: an entry, or what is none. */
static void choose_all(struct compaction *c)
{
	const struct fsq_project_list *list = c->list;
	size_t end = list->file.length;

	for (size_t i = list->count; i > 0 && list->entries[i - 1].end == end; i--) {
		if (!fsq_project_entry_is_retired(&list->entries[i - 1]) && !choose(c, i - 1))
			return;
		end = list->entries[i - 1].start;
	}
}

/* Write the copies, switched off, and a retired line behind those of each space. */
static int write_copies(struct compaction *c)
{
	struct fsq_locked_file *file = &c->list->file;
	int rc = 0;

	for (size_t i = 0; i < c->count; i++) {
		const struct fsq_project_entry *entry = &c->list->entries[c->moved[i].number];
		const size_t to = c->moved[i].to;

		if (to == NO_COPY)
			continue;
		memcpy(file->text + to, file->text + entry->start, entry->end - entry->start);
		file->text[to + c->moved[i].at] = FSQ_LINE_OFF;
	}
	for (size_t i = 0; i < c->space_count && rc == 0; i++) {
		const struct space *space = &c->spaces[i];
		const size_t left = space->end - space->start - space->used;

		if (!space->used)
			continue;
		if (left) {
			fsq_project_line_fill(file->text + space->start + space->used, left - 1);
			file->text[space->end - 1] = '\n';
		}
		rc = fsq_locked_file_write(file, space->start, file->text + space->start,
					   space->end - space->start);
	}
	return rc ? rc : fsq_locked_file_sync(file);
}

/* The copies are switched on, or else the entries off. */
static int switch_moved(struct compaction *c, bool copies)
{
	struct fsq_locked_file *file = &c->list->file;
	const char byte = copies ? ':' : FSQ_LINE_OFF;
	int rc = 0;

	for (size_t i = 0; i < c->count && rc == 0; i++) {
		const struct fsq_project_entry *entry = &c->list->entries[c->moved[i].number];
		const size_t start = copies ? c->moved[i].to : entry->start;

		if (start != NO_COPY)
			rc = fsq_locked_file_write(file, start + c->moved[i].at, &byte, 1);
	}
	return rc ? rc : fsq_locked_file_sync(file);
}

static void compact(struct fsq_project_list *list)
{
	struct compaction c = { .list = list };
	int rc;

	/* Within a page fsq_project_list_tidy() does it at once. */
	if (list->file.fd < 0 || list->broken || list->file.length <= FSQ_LIST_PAGE ||
	    list->retired <= (list->count - list->retired) / 2)
		return;
	fsq_project_list_index(list);
	if (list->by_id.count > 0 && find_spaces(&c))
		choose_all(&c);
	if (c.count) {
		rc = write_copies(&c);
		if (rc == 0)
			rc = switch_moved(&c, true);
		if (rc == 0)
			rc = switch_moved(&c, false);
		fsq_project_list_read_again(list);
		list->broken |= rc != 0;
	}
	free(c.spaces);
	free(c.moved);
}

void fsq_project_list_shorten(struct fsq_project_list *list)
{
	compact(list);
	fsq_project_list_tidy(list);
}
