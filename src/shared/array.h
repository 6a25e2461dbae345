/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays that grow. The owner keeps the pointer, the count and the capacity:
 *
 *	struct item *items = array_grow(list->items, list->count, &list->capacity, sizeof(*items));
 *
 *	if (!items)
 *		return -ENOMEM;
 *	list->items = items;
 *	items[list->count++] = item;
 */
#ifndef FSQ_SHARED_ARRAY_H
#define FSQ_SHARED_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/**
 * Make room for some items.
 *
 * @items    from malloc(3), or NULL
 * @wanted   how many it is to hold
 * @capacity how many it can hold; updated: at least twice as many, so that adding one after the other is no work
 * @size     of an item, in bytes
 * @return   the array, which may have moved; NULL without memory, and @items stays valid
 */
static inline void *array_reserve(void *items, size_t wanted, size_t *capacity, size_t size)
{
	size_t larger = items && *capacity >= 8 ? 2 * *capacity : 16;

	if (items && wanted <= *capacity)
		return items;
	larger = wanted > larger ? wanted : larger;
	items = reallocarray(items, larger, size);
	if (items)
		*capacity = larger;
	return items;
}

/** Make room for one more item. @count  how many there are; else as array_reserve() */
static inline void *array_grow(void *items, size_t count, size_t *capacity, size_t size)
{
	return array_reserve(items, count + 1, capacity, size);
}

/**
 * Append an item.
 *
 * @array    the address of the owner's pointer to the items
 * @count    how many there are; updated, as @capacity
 * @item     @size bytes, which are copied
 * @return   false without memory: nothing has changed
 */
static inline bool array_add(void *array, size_t *count, size_t *capacity, const void *item,
			     size_t size)
{
	char *items;

	memcpy(&items, array, sizeof(items));
	items = (char *)array_grow(items, *count, capacity, size);
	if (!items)
		return false;
	memcpy(array, &items, sizeof(items));
	memcpy(items + (*count)++ * size, item, size);
	return true;
}

#endif
