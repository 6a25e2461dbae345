/* SPDX-License-Identifier: Apache-2.0 */
#include "allocate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "quota/base/error.h"
#include "store.h"

/* The first ID that kubelet uses, and the first one above its range. */
#define RANGE_FIRST 1048577U
#define RANGE_UNSEEN_FIRST 2097153U

/* After so many calls the search takes the lowest free ID that it has found. */
#define CALLS 18

/*
 * How many IDs stay free above an ID in use that has no line: its owner may count up from it, or have counted
 * up to it. Kubelet's range has room for sixteen such owners.
 */
#define GAP 65536U

/* In how many registered directories a store is looked for, from an ID downwards: each takes two calls. */
#define LISTED 12

struct search {
	struct fsq_handle *directory;
	const struct fsq_project_edit *edit;
	int calls;
	uint64_t first; /* above the room of a store */
	size_t far;	/* of fsq_store_open() */
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

/* Does the kernel know nothing of an ID? @return  1, 0, or a negative errno */
static int is_free(struct search *search, uint32_t id)
{
	struct fsq_dquot dquot;
	int rc = fsq_quotactl_get_next(&search->directory->target, FSQ_PROJECT, id, &dquot);

	search->calls++;
	if (rc == -EINVAL || rc == -ENOSYS) {
		/* Before Linux 4.6. */
		rc = fsq_quotactl_get(&search->directory->target, FSQ_PROJECT, id, &dquot);
		search->calls++;
	}
	if (rc == -ENOENT)
		return 1;
	return rc ? rc : dquot.id != id || is_unused(&dquot);
}

/* Binary search between an ID that is in use and one that is free. */
static int bisect(struct search *search, uint64_t taken, uint32_t *free_id)
{
	while (search->calls < CALLS && taken + 1 < *free_id) {
		uint64_t middle =
			fsq_project_edit_unlisted(search->edit, taken + (*free_id - taken) / 2);
		int rc;

		if (middle >= *free_id) {
			/* The files name all IDs from the middle to @free_id. */
			middle = taken + (*free_id - taken) / 2;
			taken = middle;
			continue;
		}
		rc = is_free(search, (uint32_t)middle);
		if (rc < 0)
			return rc;
		if (rc)
			*free_id = (uint32_t)middle;
		else
			taken = middle;
	}
	return 0;
}

/* Try IDs in steps, each @growth times as long as the one before; if that finds none, try one after the other. */
static int search_range(struct search *search, const struct fsq_id_range *range,
			unsigned int growth, uint32_t *id)
{
	uint64_t candidate = fsq_project_edit_unlisted(search->edit, range->first);
	uint64_t step = 1, taken = 0;

	while (candidate <= range->last) {
		int rc = is_free(search, (uint32_t)candidate);

		if (rc < 0)
			return rc;
		if (rc) {
			*id = (uint32_t)candidate;
			return taken && growth > 1 ? bisect(search, taken, id) : 0;
		}
		taken = candidate;
		candidate = fsq_project_edit_unlisted(search->edit, candidate + step);
		step *= growth;
	}
	return growth > 1 ? search_range(search, range, 1, id) : -EBUSY;
}

/* Is a registered directory a container store? @return  1, 0 or -ENOMEM */
static int is_store(struct search *search, const char *word, size_t length)
{
	char *directory = strndup(word, length);
	int fd;

	if (!directory)
		return -ENOMEM;
	fd = fsq_store_open(search->directory, directory, &search->far);
	free(directory);
	if (fd < 0)
		return 0;
	close(fd);
	return 1;
}

/*
 * Other directories can have got the IDs after that of a store, while it was still empty.
 *
 * @store    set to the ID of the container store in whose room an ID lies, or 0
 * @return   0 or -ENOMEM
 */
static int find_store_before(struct search *search, uint32_t id, uint32_t *store)
{
	uint32_t ids[LISTED], before = id;
	const char *words[LISTED];
	size_t lengths[LISTED], count = 0;
	int rc = 0;

	*store = 0;
	while (count < LISTED) {
		before = fsq_project_edit_listed_before(search->edit, before);
		if (!before || id - before >= FSQ_STORE_ROOM)
			break;
		ids[count++] = before;
	}
	if (count)
		fsq_project_edit_directories_of(search->edit, ids, count, words, lengths);
	for (size_t i = 0; i < count && rc == 0; i++) {
		rc = words[i] ? is_store(search, words[i], lengths[i]) : 0;
		if (rc > 0)
			*store = ids[i];
	}
	return rc < 0 ? rc : 0;
}

/*
 * Find an ID far from those of programs that just take the ID after their last one: container engines, and scripts.
 *
 * @range    in which each ID of ours has a line
 * @return   1, 0: there is none, or a negative errno
 */
static int search_apart(struct search *search, const struct fsq_id_range *range, uint32_t *id)
{
	uint64_t candidate = fsq_project_edit_unlisted(search->edit, range->first);

	while (candidate <= range->last && search->calls < CALLS) {
		struct fsq_dquot next;
		int rc = fsq_quotactl_get_next(&search->directory->target, FSQ_PROJECT,
					       (uint32_t)candidate, &next);
		uint32_t store;

		search->calls++;
		if (rc && rc != -ENOENT)
			return rc == -EINVAL || rc == -ENOSYS ? 0 : rc;
		if (rc == 0 && next.id >= candidate && next.id - candidate < GAP &&
		    next.form[FSQ_INODES].used &&
		    fsq_project_edit_unlisted(search->edit, next.id) == next.id) {
			candidate =
				fsq_project_edit_unlisted(search->edit, next.id + (uint64_t)GAP);
			continue;
		}
		if (rc == 0 && next.id == candidate && !is_unused(&next))
			return 0;
		*id = (uint32_t)candidate;
		rc = find_store_before(search, *id, &store);
		if (rc || !store)
			return rc ? rc : 1;
		search->first = store + (uint64_t)FSQ_STORE_ROOM;
		candidate = fsq_project_edit_unlisted(search->edit, search->first);
	}
	return 0;
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

/*
 * Find an unused ID, but in no store's room.
 *
 * @store    set to the ID of the last store that was in the way, or 0
 * @return   0, or a negative errno: -EBUSY there is none
 */
static int search_outside(struct search *search, const struct fsq_id_range *range, uint32_t *id,
			  uint32_t *store)
{
	struct fsq_id_range rest = *range;

	for (uint32_t before = *store = 0;; *store = before) {
		int rc = search_range(search, &rest, 4, id);

		if (rc == 0)
			rc = find_store_before(search, *id, &before);
		if (rc || !before)
			return rc;
		if (range->last - before < FSQ_STORE_ROOM) {
			*store = before;
			return -EBUSY;
		}
		rest.first = before + FSQ_STORE_ROOM;
	}
}

/* @store    in whose room the last of the unused IDs are, or 0 */
static int refuse_range(const struct search *search, const struct fsq_id_range *range,
			uint32_t store, struct fsq_error *err)
{
	size_t length = 0;
	const char *word =
		store ? fsq_project_edit_directory_of(search->edit, store, &length) : NULL;
	char which[64];

	snprintf(which, sizeof(which), range->first == range->last ? "%u" : "%u to %u",
		 range->first, range->last);
	if (word)
		return fsq_fail(
			err, FSQ_E_CONFLICT, 0, NULL,
			"cannot have ID %s: the engine of the container store %.*s takes "
			"the IDs after %u, and changes their limits: choose one from %" PRIu64
			" on",
			which, (int)(length < 80 ? length : 80), word, store,
			(uint64_t)store + FSQ_STORE_ROOM);
	word = range->first == range->last
		       ? fsq_project_edit_directory_of(search->edit, range->first, &length)
		       : NULL;
	if (word)
		return fsq_fail(err, FSQ_E_CONFLICT, 0, NULL,
				"project ID %u is that of %.*s: name another, or none",
				range->first, (int)(length < 150 ? length : 150), word);
	if (range->first == range->last)
		return fsq_add_hint(err, FSQ_HINT_LOOK_AT_ID,
				    fsq_fail(err, FSQ_E_CONFLICT, 0, NULL,
					     "project ID %u is in use", range->first));
	return fsq_fail(err, FSQ_E_CONFLICT, 0, NULL, "there is no unused project ID from %u to %u",
			range->first, range->last);
}

int fsq_allocate_id(struct fsq_handle *directory, const struct fsq_project_edit *edit,
		    const struct fsq_id_range *range, bool registers, uint32_t *id,
		    struct fsq_error *err)
{
	struct search search = { directory, edit, 0, 0, SIZE_MAX };
	struct fsq_id_range all = *range, apart = *range;
	uint32_t store = 0;
	int rc = 0;

	/* Assume that from RANGE_UNSEEN_FIRST on IDs without a line belong to other programs. */
	if (apart.first < RANGE_UNSEEN_FIRST && apart.last >= RANGE_UNSEEN_FIRST)
		apart.last = RANGE_UNSEEN_FIRST - 1;
	if (registers && range->first != range->last)
		rc = search_apart(&search, &apart, id);
	if (search.first > range->first && search.first <= range->last)
		all.first = (uint32_t)search.first;
	if (all.first < FSQ_STORE_FIRST && all.last >= FSQ_STORE_END)
		all.last = FSQ_STORE_FIRST - 1;
	if (rc == 0)
		rc = search_outside(&search, &all, id, &store);
	if (rc == -EBUSY)
		return refuse_range(&search, range, store, err);
	if (rc < 0)
		return fsq_fail_errno(err, -rc, NULL, "cannot ask for unused project IDs");
	return 0;
}

int fsq_allocate_store_id(struct fsq_target *target, const struct fsq_project_edit *edit,
			  uint32_t *id)
{
	uint64_t candidate = FSQ_STORE_FIRST;

	while (candidate + FSQ_STORE_ROOM <= FSQ_STORE_END) {
		uint64_t taken = fsq_project_edit_listed(edit, candidate);
		struct fsq_dquot dquot = { .id = (uint32_t)candidate - 1 };
		int rc = 0;

		/* ext4 keeps an empty record of each ID that was asked for. */
		for (int i = 0; rc == 0 && i < CALLS; i++) {
			rc = fsq_quotactl_get_next(target, FSQ_PROJECT, dquot.id + 1, &dquot);
			if (rc == 0 && (dquot.id >= taken || !is_unused(&dquot) ||
					dquot.id >= candidate + FSQ_STORE_ROOM))
				break;
		}
		if (rc && rc != -ENOENT)
			return rc;
		if (rc == 0 && dquot.id >= candidate && dquot.id < taken)
			taken = dquot.id;
		if (taken >= candidate + FSQ_STORE_ROOM) {
			*id = (uint32_t)candidate;
			return 0;
		}
		candidate += ((taken - candidate) / FSQ_STORE_ROOM + 1) * FSQ_STORE_ROOM;
	}
	return -EBUSY;
}
