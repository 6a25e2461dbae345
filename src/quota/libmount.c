/* SPDX-License-Identifier: Apache-2.0 */
#include "libmount.h"

#include "load_library.h"

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

const struct fsq_libmount *fsq_libmount(void)
{
	static struct fsq_libmount functions;
	static bool loaded;

	if (!loaded)
		loaded = load_library(FSQ_LIBMOUNT, symbols, sizeof(symbols) / sizeof(symbols[0]),
				      &functions);
	return loaded ? &functions : NULL;
}
