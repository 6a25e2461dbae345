/* SPDX-License-Identifier: Apache-2.0 */
#include "allocate.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "units.h"

/* Of this many calls the search for a gap near its beginning may make use. */
#define CALLS 18

struct search {
	const struct fsq_target *target;
	const struct fsq_project_edit *edit;
	int calls;
};

static bool is_unused(const struct fsq_dquot *dquot)
{
	for (int form = 0; form < FSQ_FORMS; form++) {
		const struct fsq_amounts *amounts = &dquot->form[form];

		if (amounts->used || amounts->soft || amounts->hard)
			return false;
	}
	return true;
}

/*
 * Does the kernel know nothing of an ID?
 * @return   1, 0, or a negative errno; the next ID that it knows goes to @next
 */
static int is_free(struct search *search, uint32_t id, uint64_t *next)
{
	struct fsq_dquot dquot;
	int rc = fsq_kernel_get_next(search->target, FSQ_PROJECT, id, &dquot);

	search->calls++;
	if (rc == -EINVAL || rc == -ENOSYS) {
		/* Before Linux 4.6. */
		rc = fsq_kernel_get(search->target, FSQ_PROJECT, id, &dquot);
		search->calls++;
	}
	*next = (uint64_t)id + 1;
	if (rc == -ENOENT)
		return 1;
	if (rc)
		return rc;
	if (dquot.id > id)
		*next = dquot.id;
	return dquot.id != id || is_unused(&dquot);
}

/* Between what is taken and what is free: nearer to the former. */
static int go_back(struct search *search, uint64_t taken, uint32_t *free_id)
{
	uint64_t next;

	while (search->calls<CALLS && * free_id - taken> 1) {
		uint64_t middle =
			fsq_project_edit_unlisted(search->edit, taken + (*free_id - taken) / 2);
		int rc;

		if (middle >= *free_id) {
			/* The files have all above the middle. */
			middle = taken + (*free_id - taken) / 2;
			taken = middle;
			continue;
		}
		rc = is_free(search, (uint32_t)middle, &next);
		if (rc < 0)
			return rc;
		if (rc)
			*free_id = (uint32_t)middle;
		else
			taken = middle;
	}
	return 0;
}

/* One after the other, where steps lead out of the range. */
static int look_at_each(struct search *search, const struct fsq_id_range *range, uint32_t *id)
{
	uint64_t candidate = fsq_project_edit_unlisted(search->edit, range->first), next;

	while (candidate <= range->last) {
		int rc = is_free(search, (uint32_t)candidate, &next);

		if (rc < 0)
			return rc;
		if (rc) {
			*id = (uint32_t)candidate;
			return 0;
		}
		candidate = fsq_project_edit_unlisted(search->edit, candidate + 1);
	}
	return -EBUSY;
}

static int search_range(struct search *search, const struct fsq_id_range *range, uint32_t *id)
{
	uint64_t step = 1, taken = 0, next;
	uint64_t candidate = fsq_project_edit_unlisted(search->edit, range->first);

	while (candidate <= range->last) {
		int rc = is_free(search, (uint32_t)candidate, &next);

		if (rc < 0)
			return rc;
		if (rc) {
			*id = (uint32_t)candidate;
			return taken ? go_back(search, taken, id) : 0;
		}
		taken = candidate;
		candidate = fsq_project_edit_unlisted(search->edit, candidate + step);
		step *= 4;
	}
	return look_at_each(search, range, id);
}

int fsq_allocate_id(const struct fsq_target *target, const struct fsq_project_edit *edit,
		    const struct fsq_id_range *range, uint32_t *id, struct fsq_error *err)
{
	struct search search = { target, edit, 0 };
	int rc = search_range(&search, range, id);

	if (rc == -EBUSY)
		return fsq_fail(err, FSQ_E_CONFLICT, 0, NULL,
				"there is no unused project ID from %u to %u", range->first,
				range->last);
	if (rc)
		return fsq_fail(err, fsq_code_of_errno(-rc), -rc, NULL,
				"cannot ask for unused project IDs");
	return 0;
}

int fsq_parse_id_range(const char *text, struct fsq_id_range *range)
{
	const char *dash = strchr(text, '-');
	char first[16];

	if (!dash || (size_t)(dash - text) >= sizeof(first))
		return -EINVAL;
	snprintf(first, sizeof(first), "%.*s", (int)(dash - text), text);
	if (fsq_parse_id(first, &range->first) || fsq_parse_id(dash + 1, &range->last) ||
	    range->first == 0 || range->last < range->first)
		return -EINVAL;
	return 0;
}
