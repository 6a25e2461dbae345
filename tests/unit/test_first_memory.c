/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

/* src/shared/first_memory.c as the linker's --wrap has it. */
void *__real_malloc(size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void __wrap_free(void *block);

static int from_system;

void *__real_malloc(size_t size)
{
	from_system++;
	return malloc(size);
}

void *__real_realloc(void *block, size_t size)
{
	return realloc(block, size);
}

void __real_free(void *block)
{
	if (block)
		from_system--;
	free(block);
}

static void test_blocks(void)
{
	char *one = __wrap_malloc(1), *none = __wrap_malloc(0), *other = __wrap_malloc(100);

	ok(one && none && other && one != none && none != other, "each block has its own address");
	ok((uintptr_t)one % 16 == 0 && (uintptr_t)other % 16 == 0, "a block is aligned");
	memset(other, 1, 100);
	__wrap_free(other);
	ok(__wrap_malloc(50) == other, "the last block is used again");
	__wrap_free(other);
	other = __wrap_calloc(10, 10);
	ok(other && !other[0] && !memcmp(other, other + 1, 99),
	   "calloc clears a block that was used");
	ok(!__wrap_calloc(SIZE_MAX / 2, 3), "calloc notices an overflow");
	__wrap_free(NULL);
	__wrap_free(one);
	ok(from_system == 0, "all that came from the first memory");
}

static void test_realloc(void)
{
	char *block = __wrap_realloc(NULL, 20), *behind = __wrap_malloc(1);

	strcpy(block, "a text that is kept");
	ok(__wrap_realloc(block, 10) == block, "a smaller block stays");
	block = __wrap_realloc(block, 200);
	ok(block && strcmp(block, "a text that is kept") == 0, "a larger block has what was in it");
	block = __wrap_realloc(block, 1 << 20);
	ok(block && strcmp(block, "a text that is kept") == 0 && from_system == 1,
	   "one that has no room there comes from the system");
	block = __wrap_realloc(block, 2 << 20);
	ok(block && strcmp(block, "a text that is kept") == 0, "and grows there");
	__wrap_free(block);
	__wrap_free(behind);
	ok(from_system == 0, "and goes back there");
}

static void test_end(void)
{
	static char *blocks[10000];
	size_t count = 0;

	while (count < 10000 && from_system == 0) {
		blocks[count] = __wrap_malloc(100);
		memset(blocks[count], (int)(count % 100), 100);
		count++;
	}
	ok(count > 100 && from_system == 1, "when it is full the system gives more");
	for (size_t i = 0; i < count; i++)
		if (blocks[i][0] != (char)(i % 100) || blocks[i][99] != (char)(i % 100))
			from_system = 100;
	ok(from_system == 1, "no block overlaps another");
	while (count > 0)
		__wrap_free(blocks[--count]);
	ok(from_system == 0, "each is freed where it came from");
	blocks[0] = __wrap_malloc(100 * 1024);
	ok(blocks[0] && from_system == 0, "and all is there again");
}

int main(void)
{
	test_blocks();
	test_realloc();
	test_end();
	return tap_end();
}
