/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All mounts of the system, and the options of mounts and of fstab(5), by libmount, which is loaded on
 * first use. Nothing is canonicalised, and no mount is touched.
 */
#ifndef FSQ_MOUNT_TABLE_H
#define FSQ_MOUNT_TABLE_H

#include <limits.h>

#include "mount.h"
#include "quota/fsquota.h"

/**
 * Load libmount. Without it the functions below that cannot fail know no network filesystem and find
 * no option.
 *
 * @return   0; FSQ_E_FAILED
 */
int fsq_mount_table_load(struct fsq_error *err);

/* What fsq_lookup() keeps from one path to the next. */
struct fsq_mount_anchor {
	const struct fsq_mount *mount; /* that is held open, or NULL */
	int fd;			       /* of it */
	/* Of fsq_lookup_known(): the directory of the last path, or NULL; it begins @known as it is really spelled. */
	char *above;
	size_t above_length, real_length;
	bool is_real; /* both are the same */
	char known[PATH_MAX];
};

/* Where something is mounted, as it was when fsq_mount_points_read() has read the mount table. */
struct fsq_mount_points {
	struct libmnt_table *table; /* has the strings of the mounts */
	struct fsq_mount *mounts; /* in the order of the kernel; all but their options is filled */
	size_t count;
	const struct fsq_mount **by_target; /* by parent and directory */
	const struct fsq_mount *root;	    /* NULL: in a chroot, whose mount is not listed */
	uint64_t root_id;		    /* of that, too */
	bool some_at[256];	   /* whether there is a mount whose hash_of_target() is this */
	struct followed *followed; /* the path that was looked for last */
	struct fsq_mount_anchor *anchor;
};

/**
 * Find out on which mount a path lies, by its name alone: nothing is opened, and a symlink is taken for a directory.
 * Not for two threads at once.
 *
 * @path     absolute; the file need not exist
 * @return   the mount, or NULL when the name does not tell: with parts that are empty, . or .., or when the table has
 *           no mount at / (as in chroot(2))
 */
const struct fsq_mount *fsq_mount_points_get(const struct fsq_mount_points *points,
					     const char *path);

/** Hold no mount open, and forget where symlinks lead, until the next path: a mount that is held cannot be unmounted. */
void fsq_mount_points_let_go(struct fsq_mount_points *points);

/** @return  whether it is a network filesystem, as far as libmount and we know */
bool fsq_is_network(const char *type);

/** @return  whether an option, one with a value too, is in a list; NULL is an empty one */
bool fsq_options_have(const char *options, const char *name);

/** @return  the value of an option, without a table's escapes, for free(3); NULL: it has none */
char *fsq_options_value(const char *options, const char *name);

/**
 * The options that ask for project quotas, and on ext4 have it keep the quotas of users and groups that these options
 * have, in inodes: without them tune2fs(8) switches those off.
 *
 * @return   such as "usrquota,prjquota"
 * Source: tune2fs(8), -Q; ext4(5)
 */
const char *fsq_options_of_types(const char *type, const char *options);

/** @return  whether the options ask for project quotas that are enforced; of those that contradict each other the last
 *          one counts, as for the kernel; or NULL */
bool fsq_options_enforce(const char *options);

/**
 * The options to mount a file system with: as it is mounted, and so that project quotas are enforced.
 *
 * @mount    from fsq_mount_line_of_fd()
 * @return   for free(3), or NULL without memory
 */
char *fsq_options_with_quota(const struct fsq_mount *mount);

/**
 * Make the options that a file is to have for the next mount: those that are there, but for what the kernel refuses or
 * contradicts project quota, and what asks for project quota.
 *
 * @options  as they stand in the file, or NULL
 * @types    such as "usrquota,prjquota", see fsq_options_of_types()
 * @return   for free(3), or NULL without memory
 */
char *fsq_options_edit(const char *type, const char *options, const char *types);

/** @return  a field of fstab(5), with its escapes, for free(3), or NULL without memory. Source: mnt_mangle() */
char *fsq_fstab_field(const char *text);

/** @return  the options that it is mounted with, for mount(8), for free(3), or NULL without memory */
char *fsq_options_as_mounted(const struct fsq_mount *mount);

/**
 * Find an option that the kernel does not take, of those that are the file system's own.
 *
 * @options  without escapes, or NULL
 * @word     set to the option with its value, for free(3); NULL: there is none, or that cannot be asked here
 * @return   0 or -ENOMEM
 * Source: mnt_split_optstr() of libmount; fsq_mount_trial_takes()
 */
int fsq_options_refused(const char *type, const char *options, char **word);

/**
 * Visit every mount that can hold local quotas. No mount is touched, so a dead one cannot hang the
 * caller.
 *
 * @table    a file in fstab(5) format, of which every line but autofs is visited; NULL for the
 *           system's mounts, without network, FUSE and autofs mounts and without mounts whose path
 *           leads over one of these
 * @return   0; FSQ_E_NOT_FOUND there is no such table; FSQ_E_PERMISSION or FSQ_E_FAILED it cannot be read
 * Source: fstab(5); proc_pid_mountinfo(5), mnt_table_parse_stream() and mnt_fstype_is_netfs() of libmount
 */
int fsq_mounts_each(const char *table, fsq_mount_visitor visit, void *arg, struct fsq_error *err);

/**
 * Read the system's mount table, to find by their names where many paths lie.
 *
 * @points   set on success; free it with fsq_mount_points_free()
 * @return   0; FSQ_E_NOT_FOUND there is no such table; FSQ_E_PERMISSION or FSQ_E_FAILED it cannot be read
 * Source: proc_pid_mountinfo(5), mnt_table_parse_stream() of libmount
 */
int fsq_mount_points_read(struct fsq_mount_points **points, struct fsq_error *err);

void fsq_mount_points_free(struct fsq_mount_points *points);

/**
 * Watch the mounts.
 *
 * @return   a descriptor for poll(2), which tells POLLPRI once after file systems were mounted, moved
 *           or unmounted, for close(2); or FSQ_E_NOT_FOUND, FSQ_E_FAILED
 * Source: proc_pid_mountinfo(5)
 */
int fsq_mounts_changes(struct fsq_error *err);

#endif
