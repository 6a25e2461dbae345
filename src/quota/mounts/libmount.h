/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libmount, loaded on first use: linking it costs more than a whole query, and only commands that
 * look at every mount need it.
 */
#ifndef FSQ_LIBMOUNT_H
#define FSQ_LIBMOUNT_H

#include <libmount.h>

/*
 * The functions we use, under their own names without mnt_. Its tables are not used: without memory
 * it leaves out mounts, and does not say so.
 */
struct fsq_libmount {
	int (*fstype_is_netfs)(const char *type);
};

/**
 * @return   the functions, or NULL when the library is not installed
 * Source: dlopen(3), libmount
 */
const struct fsq_libmount *fsq_libmount(void);

#endif
