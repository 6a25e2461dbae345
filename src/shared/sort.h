/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FSQ_SHARED_SORT_H
#define FSQ_SHARED_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/** @return  less than, equal to or greater than 0, as @one is less than, equal to or greater than @other */
static inline int compare_numbers(uint64_t one, uint64_t other)
{
	return (one > other) - (one < other);
}

static inline bool array_is_sorted(const void *list, size_t count, size_t size,
				   int (*compare)(const void *, const void *))
{
	const char *item = list;

	for (size_t i = 1; i < count; i++, item += size)
		if (compare(item, item + size) > 0)
			return false;
	return true;
}

/**
 * Sort as qsort(3) does, unless the list is in order already. Most are: files grow at their end, and the kernel lists
 * in order.
 *
 * @list     may be NULL when @count is 0
 */
static inline void array_sort(void *list, size_t count, size_t size,
			      int (*compare)(const void *, const void *))
{
	if (!array_is_sorted(list, count, size, compare))
		qsort(list, count, size, compare);
}

/**
 * bsearch(3)
 *
 * @list     may be NULL when @count is 0
 */
static inline void *array_search(const void *key, const void *list, size_t count, size_t size,
				 int (*compare)(const void *, const void *))
{
	return count ? bsearch(key, list, count, size, compare) : NULL;
}

#endif
