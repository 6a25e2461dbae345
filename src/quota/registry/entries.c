/* SPDX-License-Identifier: Apache-2.0 */
#include "entries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "quota/base/error.h"
#include "shared/array.h"
#include "shared/sort.h"

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

static enum fsq_visit add(uint32_t id, const char *word, void *arg)
{
	return fsq_entries_add(arg, id, word) ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

static int check_complete(const struct fsq_entries *entries, const char *file,
			  struct fsq_error *err)
{
	return entries->incomplete ? fsq_fail(err, FSQ_E_FAILED, ENOMEM, file, "cannot read") : 0;
}

int fsq_entries_of_projects(struct fsq_entries *entries, const char *file, struct fsq_error *err)
{
	struct fsq_error why;
	int rc;

	*entries = (struct fsq_entries){ 0 };
	rc = fsq_projects_each(file, add, entries, &why);
	if (rc && (why.errnum == ENOENT || why.errnum == ENOTDIR))
		return 0;
	if (rc && err)
		*err = why;
	return rc ? rc : check_complete(entries, file, err);
}

int fsq_entries_of_projid(struct fsq_entries *entries, const char *file, struct fsq_error *err)
{
	struct fsq_project_names *names;
	int rc = fsq_project_names_read(&names, file, err);

	*entries = (struct fsq_entries){ 0 };
	if (rc)
		return rc;
	fsq_project_names_each(names, add, entries);
	fsq_project_names_free(names);
	return check_complete(entries, file, err);
}

static int compare_ids(const void *one, const void *other)
{
	const struct fsq_entry *const *a = one, *const *b = other;

	if ((*a)->id != (*b)->id)
		return (*a)->id < (*b)->id ? -1 : 1;
	return *a < *b ? -1 : *a > *b;
}

int fsq_entries_index(struct fsq_entries *entries, struct fsq_error *err)
{
	entries->by_id = reallocarray(NULL, entries->count + 1, sizeof(struct fsq_entry *));
	if (!entries->by_id)
		return fsq_fail(err, FSQ_E_FAILED, ENOMEM, NULL, "cannot go on");
	for (size_t i = 0; i < entries->count; i++)
		entries->by_id[i] = &entries->list[i];
	array_sort(entries->by_id, entries->count, sizeof(*entries->by_id), compare_ids);
	return 0;
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

void fsq_entries_free(struct fsq_entries *entries)
{
	free(entries->by_id);
	texts_free(&entries->words);
	free(entries->list);
}
