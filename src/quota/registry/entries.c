/* SPDX-License-Identifier: Apache-2.0 */
#include "entries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "quota/base/error.h"
#include "shared/array.h"

static enum fsq_visit add(uint32_t id, const char *word, void *arg)
{
	struct fsq_entries *entries = arg;
	struct fsq_entry *list =
		array_grow(entries->list, entries->count, &entries->capacity, sizeof(*list));
	const char *copy = list ? texts_keep(&entries->words, word) : NULL;

	if (list)
		entries->list = list;
	if (!copy) {
		entries->incomplete = true;
		return FSQ_VISIT_STOP;
	}
	list[entries->count++] = (struct fsq_entry){ id, copy };
	return FSQ_VISIT_CONTINUE;
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

void fsq_entries_free(struct fsq_entries *entries)
{
	texts_free(&entries->words);
	free(entries->list);
}
