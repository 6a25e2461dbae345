/* SPDX-License-Identifier: Apache-2.0 */
#include "id_set.h"

#include <errno.h>
#include <stdlib.h>

#include "shared/array.h"
#include "shared/sort.h"

int fsq_id_set_add(struct fsq_id_set *set, uint32_t id)
{
	uint32_t *ids = array_grow(set->ids, set->count, &set->capacity, sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	set->ids = ids;
	ids[set->count++] = id;
	return 0;
}

static int compare_id_numbers(const void *one, const void *other)
{
	const uint32_t *a = one, *b = other;

	return (*a > *b) - (*a < *b);
}

void fsq_id_set_sort(struct fsq_id_set *set)
{
	array_sort(set->ids, set->count, sizeof(*set->ids), compare_id_numbers);
}

/* The first index that holds @id or more. */
static size_t find_position(const struct fsq_id_set *set, uint64_t id)
{
	size_t low = 0, high = set->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (set->ids[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool fsq_id_set_has(const struct fsq_id_set *set, uint32_t id)
{
	size_t at = find_position(set, id);

	return at < set->count && set->ids[at] == id;
}

uint64_t fsq_id_set_first_missing(const struct fsq_id_set *set, uint64_t id)
{
	for (size_t at = find_position(set, id); at < set->count && set->ids[at] <= id; at++)
		if (set->ids[at] == id)
			id++;
	return id;
}

uint64_t fsq_id_set_first_from(const struct fsq_id_set *set, uint64_t id)
{
	size_t at = find_position(set, id);

	return at < set->count ? set->ids[at] : UINT64_MAX;
}

uint32_t fsq_id_set_last_before(const struct fsq_id_set *set, uint32_t id)
{
	size_t at = find_position(set, id);

	return at ? set->ids[at - 1] : 0;
}

void fsq_id_set_free(struct fsq_id_set *set)
{
	free(set->ids);
	*set = (struct fsq_id_set){ 0 };
}
