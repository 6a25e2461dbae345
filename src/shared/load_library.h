/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load shared libraries on first use: linking to them would cost more than a whole query. With LINKED_LIBRARIES the
 * program is static and contains them; that costs nothing at run time either.
 *
 * Packagers find them in the binary, as ELF notes (.note.dlopen) with a JSON array:
 * https://uapi-group.org/specifications/specs/elf_dlopen_metadata/
 */
#ifndef FSQ_LOAD_LIBRARY_H
#define FSQ_LOAD_LIBRARY_H

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LIBRARY_MOUNT "libmount.so.1"
#define LIBRARY_BLKID "libblkid.so.1"
#define LIBRARY_EDIT "libedit.so.2"
#define LIBRARY_TINFO "libtinfo.so.6"
#define LIBRARY_MICROHTTPD "libmicrohttpd.so.12"

/* Use each in the file that loads the library. */
#define LIBRARY_NOTE_MOUNT \
	LIBRARY_NOTE("mount", "Mount tables and fstab", "required", LIBRARY_MOUNT)
#define LIBRARY_NOTE_BLKID \
	LIBRARY_NOTE("blkid", "What a device is, UUID= and LABEL=", "required", LIBRARY_BLKID)
#define LIBRARY_NOTE_EDIT \
	LIBRARY_NOTE("edit", "Line editing in the shell", "recommended", LIBRARY_EDIT)
#define LIBRARY_NOTE_TINFO LIBRARY_NOTE("tinfo", "The screen of top", "recommended", LIBRARY_TINFO)
#define LIBRARY_NOTE_MICROHTTPD \
	LIBRARY_NOTE("microhttpd", "metrics --listen", "recommended", LIBRARY_MICROHTTPD)

#define LIBRARY_NOTE(feature, description, priority, soname)                           \
	LIBRARY_NOTE_OF("[{\"feature\":\"" feature "\",\"description\":\"" description \
			"\",\"priority\":\"" priority "\",\"soname\":[\"" soname "\"]}]")

#ifdef LINKED_LIBRARIES
#define LIBRARY_NOTE_OF(text) _Static_assert(1, "nothing is loaded")
#else
#define LIBRARY_NOTE_OF(text)                                                                   \
	__attribute__((used, section(".note.dlopen"))) _Alignas(uint32_t) static const struct { \
		uint32_t name_size, text_size, type;                                            \
		char name[4];                                                                   \
		_Alignas(uint32_t) char json[sizeof(text)];                                     \
	} library_note = { 4, sizeof(text), 0x407c0c0a, "FDO", text }
#endif

/* A function or variable of the library, and the offset of the member that will point to it. */
struct library_symbol {
	const char *name;
	void *linked; /* its address if it is linked statically, else NULL */
	size_t offset;
};

#ifdef LINKED_LIBRARIES
#define LIBRARY_LINKED(symbol) ((void *)&symbol)
#else
#define LIBRARY_LINKED(symbol) NULL
#endif

/* clang-format off */
#define LIBRARY_SYMBOL(symbol, pointers, member) \
	{ #symbol, LIBRARY_LINKED(symbol), offsetof(struct pointers, member) }
/* clang-format on */

/**
 * Fill a struct of pointers from a library, which stays loaded.
 *
 * @return   false when it is not installed, or too old
 * Source: dlopen(3)
 */
static inline bool load_library(const char *file, const struct library_symbol *symbols,
				size_t count, void *pointers)
{
	void *library = NULL;

	if (!symbols[0].linked && !(library = dlopen(file, RTLD_NOW | RTLD_LOCAL)))
		return false;
	for (size_t i = 0; i < count; i++) {
		void *symbol = library ? dlsym(library, symbols[i].name) : symbols[i].linked;

		if (!symbol) {
			if (library)
				dlclose(library);
			return false;
		}
		*(void **)(void *)((char *)pointers + symbols[i].offset) = symbol;
	}
	return true;
}

/* A library that several threads may need. */
struct loading {
	pthread_mutex_t mutex;
	bool done;
};

/*
 * dlopen(3) reports an errno only as part of the text of dlerror(3): look for it there.
 *
 * @return   the errno, or -1: the library is not installed, or too old
 */
static inline int load_errno(void)
{
	static const int momentary[] = { EMFILE, ENFILE, ENOMEM, EINTR, EIO };
	const int after = errno;
	const char *text = dlerror();

	for (size_t i = 0; text && i < sizeof(momentary) / sizeof(momentary[0]); i++)
		if (strstr(text, strerror(momentary[i])))
			return momentary[i];
	return after == ENOMEM ? ENOMEM : -1;
}

/**
 * Call load_library() unless it has succeeded before. Try again after a failure: it may have been a lack of
 * descriptors or memory.
 *
 * @return   0, or as load_errno()
 */
static inline int load_library_once(struct loading *loading, const char *file,
				    const struct library_symbol *symbols, size_t count,
				    void *pointers)
{
	int errnum = 0;

	pthread_mutex_lock(&loading->mutex);
	errno = 0;
	if (!loading->done)
		loading->done = load_library(file, symbols, count, pointers);
	if (!loading->done)
		errnum = load_errno();
	pthread_mutex_unlock(&loading->mutex);
	return errnum;
}

/**
 * Load the libraries before the root directory changes.
 *
 * @serves   also load libmicrohttpd. Only a server needs it, and it loads many other libraries
 * @return   NULL, or the first library that cannot be loaded
 */
static inline const char *load_libraries(bool serves)
{
#ifdef LINKED_LIBRARIES
	(void)serves;
#else
	const char *files[] = { LIBRARY_MOUNT, LIBRARY_BLKID, LIBRARY_TINFO,
				serves ? LIBRARY_MICROHTTPD : NULL };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (files[i] && !dlopen(files[i], RTLD_NOW | RTLD_LOCAL))
			return files[i];
#endif
	return NULL;
}

#endif
