/* SPDX-License-Identifier: Apache-2.0 */
#include "allocate.h"

#include <errno.h>

#include "quota/base/error.h"

/* Kubelet's first ID, and the first that it does not use. */
#define RANGE_FIRST 1048577U
#define RANGE_UNSEEN_FIRST 2097153U

/* How many calls the search makes before it takes the best ID that it has. */
#define CALLS 18

struct search {
	struct fsq_target *target;
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
	int rc = fsq_quotactl_get_next(search->target, FSQ_PROJECT, id, &dquot);

	search->calls++;
	if (rc == -EINVAL || rc == -ENOSYS) {
		/* Before Linux 4.6. */
		rc = fsq_quotactl_get(search->target, FSQ_PROJECT, id, &dquot);
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

/* A binary search between an ID that is taken and one that is free. */
static int bisect(struct search *search, uint64_t taken, uint32_t *free_id)
{
	uint64_t next;

	while (search->calls < CALLS && taken + 1 < *free_id) {
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

static int try_each(struct search *search, const struct fsq_id_range *range, uint32_t *id)
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
			return taken ? bisect(search, taken, id) : 0;
		}
		taken = candidate;
		candidate = fsq_project_edit_unlisted(search->edit, candidate + step);
		step *= 4;
	}
	return try_each(search, range, id);
}

struct fsq_id_range fsq_allocate_range(const struct fsq_id_range *range,
				       const struct fsq_registry *registry)
{
	if (range->first)
		return *range;
	return (struct fsq_id_range){ fsq_registry_is_visible(registry) ? RANGE_FIRST
									: RANGE_UNSEEN_FIRST,
				      FSQ_ID_MAX };
}

int fsq_allocate_id(struct fsq_target *target, const struct fsq_project_edit *edit,
		    const struct fsq_id_range *range, uint32_t *id, struct fsq_error *err)
{
	struct search search = { target, edit, 0 };
	int rc = search_range(&search, range, id);

	if (rc == -EBUSY)
		return fsq_fail(err, FSQ_E_CONFLICT, 0, NULL,
				"there is no unused project ID from %u to %u", range->first,
				range->last);
	if (rc)
		return fsq_fail(err, fsq_error_kind_of(-rc), -rc, NULL,
				"cannot ask for unused project IDs");
	return 0;
}
