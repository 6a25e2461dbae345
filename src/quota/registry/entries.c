/* SPDX-License-Identifier: Apache-2.0 */
#include "entries.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "project_line.h"
#include "quota/base/error.h"
#include "quota/base/path.h"
#include "shared/array.h"
#include "shared/read_file.h"
#include "shared/sort.h"
#include "shared/utf8.h"

/* --- one after the other --- */

/*
 * @as_written  do not strip slashes at the end of a directory
 * @return      0 or the negative errno of reading the file
 */
static int each_entry(enum fsq_project_file kind, const char *file, bool as_written,
		      fsq_project_visitor visit, void *arg)
{
	struct fsq_project_line parsed;
	char *text, *next, *line;
	size_t length;
	int rc = fsq_read_file(file, &text, &length);

	if (rc)
		return rc;
	next = text;
	while ((line = fsq_project_line_next(kind, &next, text + length, &parsed))) {
		if (parsed.kind != FSQ_LINE_ENTRY)
			continue;
		if (!as_written)
			line[parsed.word + parsed.length] = '\0';
		if (visit(parsed.id, line + parsed.word, arg) == FSQ_VISIT_STOP)
			break;
	}
	free(text);
	return 0;
}

int fsq_projects_each(const char *file, fsq_project_visitor visit, void *arg, struct fsq_error *err)
{
	if (!file || !visit)
		return fsq_fail_null(err);

	int rc = each_entry(FSQ_PROJECTS, file, true, visit, arg);

	return rc ? fsq_fail_errno(err, -rc, file, "cannot read the projects file") : 0;
}

struct search {
	const char *directory;
	uint32_t id;
};

static enum fsq_visit compare_directory(uint32_t id, const char *word, void *arg)
{
	struct search *search = arg;

	if (!fsq_path_is(search->directory, word, strlen(word)))
		return FSQ_VISIT_CONTINUE;
	search->id = id;
	return id ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

int fsq_projects_id_of(const char *file, const char *directory, uint32_t *id, struct fsq_error *err)
{
	struct search search = { .directory = directory };
	int rc = -each_entry(FSQ_PROJECTS, file, false, compare_directory, &search);

	*id = search.id;
	if (rc == 0 || rc == ENOENT || rc == ENOTDIR)
		return 0;
	return fsq_fail(err, rc == EACCES ? FSQ_E_PERMISSION : FSQ_E_FAILED, rc, file,
			"cannot read the projects file");
}

/* --- all at once --- */

int fsq_entries_add(struct fsq_entries *entries, uint32_t id, const char *word)
{
	struct fsq_entry *list =
		array_grow(entries->list, entries->count, &entries->capacity, sizeof(*list));
	const char *copy = list ? texts_keep(&entries->words, word) : NULL;

	if (list)
		entries->list = list;
	entries->incomplete |= !copy;
	if (!copy)
		return -ENOMEM;
	list[entries->count++] = (struct fsq_entry){ id, copy };
	return 0;
}

static enum fsq_visit add_entry_of_line(uint32_t id, const char *word, void *arg)
{
	/* Skip ID 0, which is no project. */
	return id == 0 || fsq_entries_add(arg, id, word) == 0 ? FSQ_VISIT_CONTINUE : FSQ_VISIT_STOP;
}

static enum fsq_visit add_name(uint32_t id, const char *word, void *arg)
{
	return fsq_entries_add(arg, id, word) ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

int fsq_entries_of_projects(struct fsq_entries *entries, const char *file, struct fsq_error *err)
{
	int rc;

	*entries = (struct fsq_entries){ 0 };
	rc = each_entry(FSQ_PROJECTS, file, false, add_entry_of_line, entries);
	if (rc && rc != -ENOENT && rc != -ENOTDIR)
		return fsq_fail_errno(err, -rc, file, "cannot read the projects file");
	return entries->incomplete ? fsq_fail_errno(err, ENOMEM, file, "cannot read") : 0;
}

int fsq_entries_of_projid(struct fsq_entries *entries, const char *file, struct fsq_error *err)
{
	int rc;

	*entries = (struct fsq_entries){ 0 };
	rc = each_entry(FSQ_PROJID, file, false, add_name, entries);
	if (entries->incomplete)
		rc = -ENOMEM;
	if (rc && rc != -ENOENT && rc != -ENOTDIR)
		return fsq_fail(err, FSQ_E_FAILED, -rc, file, "cannot read the projid file");
	return 0;
}

static int compare_ids_of_entries(const void *one, const void *other)
{
	const struct fsq_entry *const *a = one, *const *b = other;

	if ((*a)->id != (*b)->id)
		return (*a)->id < (*b)->id ? -1 : 1;
	return (*a > *b) - (*a < *b);
}

static int compare_words_of_entries(const void *one, const void *other)
{
	const struct fsq_entry *const *a = one, *const *b = other;
	int order = strcmp((*a)->word, (*b)->word);

	return order ? order : (*a > *b) - (*a < *b);
}

static const struct fsq_entry **sort(const struct fsq_entries *entries,
				     int (*compare)(const void *, const void *),
				     struct fsq_error *err)
{
	const struct fsq_entry **sorted = reallocarray(NULL, entries->count + 1, sizeof(*sorted));

	if (!sorted) {
		fsq_fail_errno(err, ENOMEM, NULL, "cannot go on");
		return NULL;
	}
	for (size_t i = 0; i < entries->count; i++)
		sorted[i] = &entries->list[i];
	array_sort(sorted, entries->count, sizeof(*sorted), compare);
	return sorted;
}

int fsq_entries_index(struct fsq_entries *entries, struct fsq_error *err)
{
	entries->by_id = sort(entries, compare_ids_of_entries, err);
	return entries->by_id ? 0 : FSQ_E_FAILED;
}

int fsq_entries_index_words(struct fsq_entries *entries, struct fsq_error *err)
{
	entries->by_word = sort(entries, compare_words_of_entries, err);
	return entries->by_word ? 0 : FSQ_E_FAILED;
}

const struct fsq_entry *const *fsq_entries_of_id(const struct fsq_entries *entries, uint32_t id,
						 size_t *count)
{
	size_t first = 0, end = entries->count;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (entries->by_id[middle]->id < id)
			first = middle + 1;
		else
			end = middle;
	}
	for (end = first; end < entries->count && entries->by_id[end]->id == id; end++)
		;
	*count = end - first;
	return entries->by_id + first;
}

uint32_t fsq_entries_id_of_word(const struct fsq_entries *entries, const char *word)
{
	size_t first = 0, end = entries->count;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (strcmp(entries->by_word[middle]->word, word) < 0)
			first = middle + 1;
		else
			end = middle;
	}
	if (first == entries->count || strcmp(entries->by_word[first]->word, word) != 0)
		return 0;
	return entries->by_word[first]->id;
}

void fsq_entries_free(struct fsq_entries *entries)
{
	free(entries->by_id);
	free(entries->by_word);
	texts_free(&entries->words);
	free(entries->list);
}

/* --- names --- */

struct fsq_project_names {
	struct fsq_entries entries; /* with their index */
	size_t next;		    /* in the index, behind the ID that was asked for last */
};

int fsq_project_names_read(struct fsq_project_names **out, const char *file, struct fsq_error *err)
{
	if (!out || !file)
		return fsq_fail_null(err);

	struct fsq_project_names *names = calloc(1, sizeof(*names));
	struct fsq_error why;
	int rc = names ? fsq_entries_of_projid(&names->entries, file, &why)
		       : fsq_fail_errno(&why, ENOMEM, file, "cannot read the projid file");

	if (rc == 0)
		rc = fsq_add_path(&why, file, fsq_entries_index(&names->entries, &why));
	/* An unreadable file has no names. Without memory the names are unknown. */
	if (rc && why.errnum == ENOMEM) {
		fsq_project_names_free(names);
		names = NULL;
	}
	if (rc && err)
		*err = why;
	*out = names;
	return rc;
}

void fsq_project_names_free(struct fsq_project_names *names)
{
	if (names)
		fsq_entries_free(&names->entries);
	free(names);
}

const char *fsq_project_names_name(struct fsq_project_names *names, uint32_t id)
{
	const struct fsq_entry *const *found;
	size_t count = 1;

	if (!names)
		return NULL;
	/* Callers mostly ask in the order of IDs: try the next entry first. */
	found = names->entries.by_id + names->next;
	if (names->next == 0 || names->next >= names->entries.count || found[0]->id != id ||
	    found[-1]->id == id)
		found = fsq_entries_of_id(&names->entries, id, &count);
	names->next = (size_t)(found - names->entries.by_id) + count;
	return count ? found[0]->word : NULL;
}

bool fsq_project_names_id(const struct fsq_project_names *names, const char *name, uint32_t *id)
{
	if (!names || !name || !id)
		return false;
	for (size_t i = 0; names && i < names->entries.count; i++)
		if (strcmp(names->entries.list[i].word, name) == 0) {
			*id = names->entries.list[i].id;
			return true;
		}
	return false;
}

void fsq_project_names_each(struct fsq_project_names *names, fsq_project_visitor visit, void *arg)
{
	if (!names || !visit)
		return;
	for (size_t i = 0; names && i < names->entries.count; i++)
		if (visit(names->entries.list[i].id, names->entries.list[i].word, arg) ==
		    FSQ_VISIT_STOP)
			break;
}

/*
 * Blanks and characters of the shell make a name dangerous in scripts and completions. What is no UTF-8 may be
 * the Latin-1 of a program that knows nothing else, but no control character.
 */
bool fsq_project_name_is_valid(const char *name)
{
	if (!name)
		return false;

	const size_t length = strlen(name);
	uint32_t id;

	for (size_t i = 0; i < length; i++) {
		const unsigned char byte = (unsigned char)name[i];
		const size_t bytes = fsq_utf8_length(name + i, NULL);

		if (byte == ' ' || (bytes && !fsq_utf8_printable(name + i)) ||
		    (!bytes && byte < 0xa0))
			return false;
		i += bytes ? bytes - 1 : 0;
	}
	return length > 0 && length <= NAME_MAX && name[0] != '#' && !strpbrk(name, ":\"'`$\\") &&
	       fsq_parse_id(name, &id) == -EINVAL;
}
