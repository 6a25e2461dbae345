/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libmount, loaded on first use: linking it costs more than a whole query, and only commands that
 * look at every mount need it.
 */
#ifndef FSQ_LIBMOUNT_H
#define FSQ_LIBMOUNT_H

#include <libmount.h>

/* The functions we use, under their own names without mnt_. */
struct fsq_libmount {
	struct libmnt_table *(*new_table)(void);
	void (*unref_table)(struct libmnt_table *);
	struct libmnt_iter *(*new_iter)(int);
	void (*free_iter)(struct libmnt_iter *);
	int (*table_parse_file)(struct libmnt_table *, const char *);
	int (*table_next_fs)(struct libmnt_table *, struct libmnt_iter *, struct libmnt_fs **);
	const char *(*fs_get_source)(struct libmnt_fs *);
	const char *(*fs_get_target)(struct libmnt_fs *);
	const char *(*fs_get_fstype)(struct libmnt_fs *);
	int (*fs_is_netfs)(struct libmnt_fs *);
	int (*fs_get_id)(struct libmnt_fs *);
	int (*fs_get_parent_id)(struct libmnt_fs *);
	dev_t (*fs_get_devno)(struct libmnt_fs *);
};

/**
 * @return   the functions, or NULL when the library is not installed
 * Source: dlopen(3), libmount
 */
const struct fsq_libmount *fsq_libmount(void);

#endif
