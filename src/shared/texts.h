/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of many short texts, in a few blocks instead of an allocation for each. They stay where they
 * are until all are freed. Zero-initialise it.
 */
#ifndef FSQ_SHARED_TEXTS_H
#define FSQ_SHARED_TEXTS_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

#define TEXTS_BLOCK (16UL * 1024)

struct texts {
	char **blocks;
	size_t count, capacity;
	size_t left; /* bytes in the last block, which is filled from its end */
};

/* @alignment   a power of two, at most that of malloc(3) */
static inline char *texts_take(struct texts *texts, size_t size, size_t alignment)
{
	if (size + alignment > texts->left) {
		size_t room = size + alignment > TEXTS_BLOCK ? size + alignment : TEXTS_BLOCK;
		char **blocks =
			array_grow(texts->blocks, texts->count, &texts->capacity, sizeof(*blocks));

		if (!blocks)
			return NULL;
		texts->blocks = blocks;
		blocks[texts->count] = malloc(room);
		if (!blocks[texts->count])
			return NULL;
		texts->count++;
		texts->left = room;
	}
	texts->left = (texts->left - size) & ~(alignment - 1);
	return texts->blocks[texts->count - 1] + texts->left;
}

/** @return  a copy of @text, or NULL without memory */
static inline char *texts_keep(struct texts *texts, const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = texts_take(texts, size, 1);

	return copy ? memcpy(copy, text, size) : NULL;
}

/** @return  room for @size bytes of anything, or NULL without memory */
static inline void *texts_room(struct texts *texts, size_t size)
{
	return texts_take(texts, size, sizeof(max_align_t) / 2);
}

static inline void texts_free(struct texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(texts->blocks[i]);
	free(texts->blocks);
}

#endif
