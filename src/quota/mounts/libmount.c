/* SPDX-License-Identifier: Apache-2.0 */
#include "libmount.h"

#include <pthread.h>

#include "shared/load_library.h"

LIBRARY_NOTE_MOUNT;

/* A struct of function pointers, filled by name. */
static const struct library_symbol symbols[] = {
	LIBRARY_SYMBOL(mnt_fstype_is_netfs, fsq_libmount, fstype_is_netfs),
};

static struct fsq_libmount functions;
static bool loaded;

static void load(void)
{
	loaded = load_library(LIBRARY_MOUNT, symbols, sizeof(symbols) / sizeof(symbols[0]),
			      &functions);
}

const struct fsq_libmount *fsq_libmount(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	return loaded ? &functions : NULL;
}
