/* SPDX-License-Identifier: Apache-2.0 */
#include "libmount.h"

#include <pthread.h>

#include "shared/load_library.h"

LIBRARY_NOTE_MOUNT;

/* A struct of function pointers, filled by name. */
static const struct library_symbol symbols[] = {
	{ "mnt_new_table", offsetof(struct fsq_libmount, new_table) },
	{ "mnt_unref_table", offsetof(struct fsq_libmount, unref_table) },
	{ "mnt_new_iter", offsetof(struct fsq_libmount, new_iter) },
	{ "mnt_free_iter", offsetof(struct fsq_libmount, free_iter) },
	{ "mnt_table_parse_file", offsetof(struct fsq_libmount, table_parse_file) },
	{ "mnt_table_next_fs", offsetof(struct fsq_libmount, table_next_fs) },
	{ "mnt_fs_get_source", offsetof(struct fsq_libmount, fs_get_source) },
	{ "mnt_fs_get_target", offsetof(struct fsq_libmount, fs_get_target) },
	{ "mnt_fs_get_fstype", offsetof(struct fsq_libmount, fs_get_fstype) },
	{ "mnt_fs_is_netfs", offsetof(struct fsq_libmount, fs_is_netfs) },
	{ "mnt_fs_get_id", offsetof(struct fsq_libmount, fs_get_id) },
	{ "mnt_fs_get_parent_id", offsetof(struct fsq_libmount, fs_get_parent_id) },
	{ "mnt_fs_get_devno", offsetof(struct fsq_libmount, fs_get_devno) },
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
