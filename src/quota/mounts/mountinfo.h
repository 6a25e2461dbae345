/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system's mount table: one line of it for a query, which must not cost more the more is mounted,
 * and all of it.
 */
#ifndef FSQ_MOUNTINFO_H
#define FSQ_MOUNTINFO_H

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

#include "quota/fsquota.h"

#define FSQ_MOUNTINFO "/proc/self/mountinfo"

struct fsq_mountinfo_line {
	uint64_t id;
	uint64_t parent; /* not filled by statmount */
	dev_t dev;
	char directory[PATH_MAX];
	char source[PATH_MAX];
	char type[64]; /* not filled by statmount */
	/* Only while fsq_mountinfo_each() visits the line, and with the table's octal escapes: */
	const char *root;	   /* what of the file system is mounted */
	const char *options;	   /* of the mount */
	const char *super_options; /* of the file system */
};

enum fsq_mountinfo_key { FSQ_MOUNTINFO_ID, FSQ_MOUNTINFO_DEV };

/**
 * Read mountinfo up to the first line with a given mount ID or device number.
 *
 * @return   0 with @line filled, or a negative errno: -ENXIO when there is none, -EIO when the
 *           line makes no sense, those of open(2) and read(2)
 * Source: proc_pid_mountinfo(5)
 */
int fsq_mountinfo_find(enum fsq_mountinfo_key key, uint64_t value, struct fsq_mountinfo_line *line);

typedef enum fsq_visit (*fsq_mountinfo_visitor)(const struct fsq_mountinfo_line *line, void *arg);

/**
 * Read the whole of mountinfo; lines that make no sense are passed over.
 *
 * @return   0 or a negative errno of open(2) and read(2)
 * Source: proc_pid_mountinfo(5)
 */
int fsq_mountinfo_each(fsq_mountinfo_visitor visit, void *arg);

/**
 * Is anything mounted below a directory? What is mounted at it does not count.
 *
 * @directory absolute, without symlinks
 * @return   1 or 0, or a negative errno
 * Source: proc_pid_mountinfo(5)
 */
int fsq_mountinfo_any_below(const char *directory);

/**
 * Ask the kernel for one mount.
 *
 * @id       its unique mount ID, from statx(2)
 * @return   0 with @line filled, or a negative errno: -ENOSYS before Linux 6.8, -ENODATA when the
 *           kernel does not tell the source (some between 6.8 and 6.13)
 * Source: statmount(2)
 */
int fsq_mountinfo_statmount(uint64_t id, struct fsq_mountinfo_line *line);

/** Cut off the next field of a line of a mount table. @return  it, or "" at the end of the line */
char *fsq_table_next_field(char **rest);

/**
 * Undo the octal escapes (\040 and the like) of a mount table field, in place.
 */
void fsq_mountinfo_unescape(char *field);

#endif
