/* SPDX-License-Identifier: Apache-2.0 */
#include "id_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shared/array.h"

/* Three digits of eleven bits are the 32 of a number. */
#define DIGIT_BITS 11
#define DIGITS (1U << DIGIT_BITS)
/* From so many numbers on it is less work than comparing them. */
#define MANY 512

int fsq_id_set_reserve(struct fsq_id_set *set, size_t more)
{
	uint32_t *ids = array_reserve(set->ids, set->count + more, &set->capacity, sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	set->ids = ids;
	return 0;
}

int fsq_id_set_add(struct fsq_id_set *set, uint32_t id)
{
	if (fsq_id_set_reserve(set, 1))
		return -ENOMEM;
	set->ids[set->count++] = id;
	return 0;
}

static int compare_id_numbers(const void *one, const void *other)
{
	const uint32_t *a = one, *b = other;

	return (*a > *b) - (*a < *b);
}

/* Sort by a part of the numbers, in a stable way. */
static void sort_by_digit(const uint32_t *from, uint32_t *to, size_t count, unsigned int shift)
{
	size_t place[DIGITS] = { 0 }, next = 0;

	for (size_t i = 0; i < count; i++)
		place[from[i] >> shift & (DIGITS - 1)]++;
	for (size_t digit = 0; digit < DIGITS; digit++) {
		size_t here = place[digit];

		place[digit] = next;
		next += here;
	}
	for (size_t i = 0; i < count; i++)
		to[place[from[i] >> shift & (DIGITS - 1)]++] = from[i];
}

/* By the digits of the numbers a long list is sorted in a fraction of the time that comparing takes. */
static void sort_ids(struct fsq_id_set *set)
{
	const size_t count = set->count, size = sizeof(*set->ids);
	uint32_t *other = NULL;

	if (count >= MANY)
		other = malloc(count * size);
	if (!other) {
		qsort(set->ids, count, size, compare_id_numbers);
		return;
	}
	sort_by_digit(set->ids, other, count, 0);
	sort_by_digit(other, set->ids, count, DIGIT_BITS);
	sort_by_digit(set->ids, other, count, 2 * DIGIT_BITS);
	free(set->ids);
	set->ids = other;
	set->capacity = count;
}

void fsq_id_set_sort(struct fsq_id_set *set)
{
	size_t kept = 0, at = 1;

	while (at < set->count && set->ids[at - 1] < set->ids[at])
		at++;
	if (at >= set->count)
		return;
	sort_ids(set);
	for (size_t i = 0; i < set->count; i++)
		if (kept == 0 || set->ids[kept - 1] != set->ids[i])
			set->ids[kept++] = set->ids[i];
	set->count = kept;
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

int fsq_id_set_insert(struct fsq_id_set *set, uint32_t id)
{
	const size_t at = find_position(set, id);
	int rc;

	if (at < set->count && set->ids[at] == id)
		return 0;
	rc = fsq_id_set_add(set, id);
	if (rc)
		return rc;
	memmove(set->ids + at + 1, set->ids + at, (set->count - 1 - at) * sizeof(id));
	set->ids[at] = id;
	return 0;
}

void fsq_id_set_remove(struct fsq_id_set *set, uint32_t id)
{
	const size_t at = find_position(set, id);

	if (at < set->count && set->ids[at] == id)
		memmove(set->ids + at, set->ids + at + 1, (--set->count - at) * sizeof(id));
}

bool fsq_id_set_has(const struct fsq_id_set *set, uint32_t id)
{
	size_t at = find_position(set, id);

	return at < set->count && set->ids[at] == id;
}

uint64_t fsq_id_set_first_missing(const struct fsq_id_set *set, uint64_t id)
{
	const size_t at = find_position(set, id);
	size_t low = at, high = set->count;

	/* Each is there once, so as long as none is missing the numbers grow as their places do. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (set->ids[middle] == id + (middle - at))
			low = middle + 1;
		else
			high = middle;
	}
	return id + (low - at);
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
