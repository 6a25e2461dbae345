/* SPDX-License-Identifier: Apache-2.0 */
/* With which options a file system is mounted next, and which file says so. */
#ifndef FSQ_NEXT_MOUNT_H
#define FSQ_NEXT_MOUNT_H

#include <stdbool.h>
#include <sys/types.h>

#include "quota/fsquota.h"

struct fsq_next_mount {
	char *file;    /* fstab(5), or a mount unit or a drop-in of one; NULL: no file mounts it */
	uint64_t line; /* of fstab; 0: it is a unit */
	uint64_t other_line; /* of fstab: it mounts another device in the directory; 0: none does */
	char *unit;	     /* its name, as srv.mount; or NULL */
	char *options;	     /* or NULL */
	char *directory;     /* where it is mounted then */
};

/* What is to be mounted. */
struct fsq_next_wanted {
	const char *fstab;
	const char
		*directory; /* where it is mounted; NULL: it is not, and the device is looked for */
	int device;	    /* open for reading, or negative */
	dev_t dev;	    /* its number */
};

/**
 * Find the file that counts: a unit of systemd in /etc or /run, fstab, a unit of a package, in this order; and the
 * drop-ins of the unit, which systemd makes of a line of fstab, too. Of fstab the first line that mounts it and is no
 * bind mount counts, as for mount(8); not one that mounts another device there.
 *
 * @next     set on success; clear it with fsq_next_mount_clear()
 * @return   0, also where no file mounts it; what the errno of a file that cannot be read stands for
 * Source: fstab(5), systemd.mount(5), systemd.unit(5), systemd-escape(1)
 */
int fsq_next_mount_find(const struct fsq_next_wanted *wanted, struct fsq_next_mount *next,
			struct fsq_error *err);

void fsq_next_mount_clear(struct fsq_next_mount *next);

/**
 * Make the name of the unit that mounts a directory.
 *
 * @return   as var-lib-docker.mount, for free(3), or NULL without memory
 * Source: systemd-escape(1)
 */
char *fsq_mount_unit_name(const char *directory);

#endif
