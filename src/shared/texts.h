/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of many short texts, in a few blocks instead of an allocation for each. They stay where they
 * are until all are freed. Zeros are an empty set.
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
	size_t left; /* in the last block, which is filled from its end */
};

/** @return  a copy of @text, or NULL without memory */
static inline char *texts_keep(struct texts *texts, const char *text)
{
	size_t size = strlen(text) + 1;

	if (size > texts->left) {
		size_t room = size > TEXTS_BLOCK ? size : TEXTS_BLOCK;
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
	texts->left -= size;
	return memcpy(texts->blocks[texts->count - 1] + texts->left, text, size);
}

static inline void texts_free(struct texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(texts->blocks[i]);
	free(texts->blocks);
}

#endif
