/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the fuzzers share. Each target is a file fuzz_NAME.c with libFuzzer's function; tools/fuzz
 * builds them with clang, AddressSanitizer and UndefinedBehaviorSanitizer, and runs them from
 * corpus/NAME. A target checks what must be true of any input, not only that nothing crashes.
 */
#ifndef FSQ_FUZZ_H
#define FSQ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Also where assertions are compiled out. */
#define MUST(condition)                                                                         \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                \
		}                                                                               \
	} while (0)

/** The input with a NUL behind it, for free(3). */
static inline char *text_of(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	MUST(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

/** The path of a file in memory with that content; the same file each time. */
static inline const char *file_of(const uint8_t *data, size_t size)
{
	static char path[32];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	MUST(fd >= 0 && ftruncate(fd, 0) == 0);
	MUST(pwrite(fd, data, size, 0) == (ssize_t)size);
	return path;
}

#endif
