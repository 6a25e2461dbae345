/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the static program allocates first comes from an array in it, until that is full. A query needs
 * no more: seven system calls and a third of its time are saved. Only the last block is reused.
 *
 * With the linker's --wrap all objects, also those of the C library, call these functions for malloc(3)
 * and its kin, so each block is freed where it was allocated.
 */
#include <errno.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Pages that nobody touches cost nothing. */
#define FIRST_SIZE (128 * 1024)
#define ALIGNMENT alignof(max_align_t)

void *__real_malloc(size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void __wrap_free(void *block);

/* Before each block is its size, a multiple of the alignment. */
static alignas(ALIGNMENT) char memory[FIRST_SIZE];
static _Atomic size_t used;

static bool is_first(const void *block)
{
	return (uintptr_t)block - (uintptr_t)memory < FIRST_SIZE;
}

static size_t *size_of(void *block)
{
	return (size_t *)(void *)((char *)block - ALIGNMENT);
}

static size_t end_of(void *block)
{
	return (size_t)((char *)block - memory) + *size_of(block);
}

/* NULL when there is no room. */
static void *take(size_t size)
{
	size_t begin = atomic_load(&used), room;
	char *block;

	if (size > FIRST_SIZE)
		return NULL;
	/* Never 0: the address belongs to the array. */
	room = (size ? size + ALIGNMENT - 1 : ALIGNMENT) / ALIGNMENT * ALIGNMENT;
	do {
		if (FIRST_SIZE - begin < room + ALIGNMENT)
			return NULL;
	} while (!atomic_compare_exchange_weak(&used, &begin, begin + ALIGNMENT + room));
	block = memory + begin + ALIGNMENT;
	*size_of(block) = room;
	return block;
}

void *__wrap_malloc(size_t size)
{
	void *block = take(size);

	return block ? block : __real_malloc(size);
}

/* The real one calls the malloc of this file, and would look for its own notes beside the block. */
void *__wrap_calloc(size_t count, size_t size)
{
	size_t all;
	void *block;

	if (__builtin_mul_overflow(count, size, &all)) {
		errno = ENOMEM;
		return NULL;
	}
	block = __wrap_malloc(all);
	return block ? memset(block, 0, all) : NULL;
}

void __wrap_free(void *block)
{
	size_t end;

	if (!is_first(block)) {
		__real_free(block);
		return;
	}
	end = end_of(block);
	atomic_compare_exchange_strong(&used, &end, (size_t)((char *)size_of(block) - memory));
}

void *__wrap_realloc(void *block, size_t size)
{
	void *larger;

	if (!block)
		return __wrap_malloc(size);
	if (!is_first(block))
		return __real_realloc(block, size);
	if (size <= *size_of(block))
		return block;
	larger = __wrap_malloc(size);
	if (!larger)
		return NULL;
	memcpy(larger, block, *size_of(block));
	__wrap_free(block);
	return larger;
}
