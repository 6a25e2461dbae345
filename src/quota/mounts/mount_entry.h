/* SPDX-License-Identifier: Apache-2.0 */
/* A line of the mount table with its options, and the line of fstab(5) for the same directory. */
#ifndef FSQ_MOUNT_ENTRY_H
#define FSQ_MOUNT_ENTRY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "quota/fsquota.h"

struct fsq_mount_entry {
	uint64_t id;
	uint64_t parent;
	dev_t dev;
	char *directory;
	char *source;
	char *type;
	char *root;	     /* what of the file system is mounted */
	char *options;	     /* of the mount, with the table's escapes */
	char *super_options; /* of the file system, with the table's escapes */
};

/**
 * Find the mount of an open file.
 *
 * @entry    filled on success; clear it with fsq_mount_entry_clear()
 * @return   0 or a negative errno: -ENXIO when our namespace does not have the mount
 * Source: statx(2), proc_pid_mountinfo(5)
 */
int fsq_mount_entry_of_fd(int fd, struct fsq_mount_entry *entry);

void fsq_mount_entry_clear(struct fsq_mount_entry *entry);

typedef enum fsq_visit (*fsq_mount_entry_visitor)(const struct fsq_mount_entry *entry, void *arg);

/**
 * Visit every mount of the system; none is touched.
 *
 * @return   0 or a negative errno
 */
int fsq_mount_entries_each(fsq_mount_entry_visitor visit, void *arg);

/** @return  whether an option, or one that begins with it and "=", is in a list */
bool fsq_options_have(const char *options, const char *name);

/** @return  the value of an option, without escapes, for free(3); NULL: it has none */
char *fsq_options_value(const char *options, const char *name);

/**
 * The options to mount a file system with: as it is mounted, and so that project quotas are
 * enforced.
 *
 * @return   for free(3), or NULL without memory
 */
char *fsq_options_with_quota(const struct fsq_mount_entry *entry);

/** @return  whether the options ask for project quotas that are enforced */
bool fsq_options_enforce(const char *options);

struct fsq_fstab_line {
	uint64_t number; /* from 1 on; 0: there is none */
	char *options;	 /* "" where it ends before them */
};

/**
 * Find the line of a mount point in a file in fstab(5) format: the last, which mount(8) takes.
 *
 * @line     filled on success; free its strings
 * @return   0, also without such a line or without the file, or a negative errno
 */
int fsq_fstab_find(const char *file, const char *directory, struct fsq_fstab_line *line);

#endif
