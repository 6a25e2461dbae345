/* SPDX-License-Identifier: Apache-2.0 */
/* Shared libraries that are loaded on first use: to link them costs more than a whole query. */
#ifndef FSQ_LOAD_LIBRARY_H
#define FSQ_LOAD_LIBRARY_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

/* A function or variable of the library, and the offset of the pointer to it. */
struct library_symbol {
	const char *name;
	size_t offset;
};

/**
 * Fill a struct of pointers from a library, which stays loaded.
 *
 * @return   false when it is not installed, or too old
 * Source: dlopen(3)
 */
static inline bool load_library(const char *file, const struct library_symbol *symbols,
				size_t count, void *pointers)
{
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return false;
	for (size_t i = 0; i < count; i++) {
		void *symbol = dlsym(library, symbols[i].name);

		if (!symbol) {
			dlclose(library);
			return false;
		}
		*(void **)(void *)((char *)pointers + symbols[i].offset) = symbol;
	}
	return true;
}

#endif
