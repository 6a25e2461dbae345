/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one way from a path to a file. What leads there may belong to tenants, so:
 *
 * Symlinks are followed as long as nobody but root and the caller can have put them there: each directory so far belongs
 * to one of them, and others may not write in it; or it is sticky, and the symlink is theirs. From the first directory
 * on for which this does not hold, no symlink is followed. Nor is one in a FUSE mount, which can pretend anything.
 *
 * With a mount table, no mount is touched that may hang: for paths that a file or the registry names. A caller who has
 * named the path himself has named the mounts on it, too: then there is no table.
 */
#ifndef FSQ_LOOKUP_H
#define FSQ_LOOKUP_H

#include <fcntl.h>
#include <sys/stat.h>

#include "mount_table.h"
#include "quota/fsquota.h"
#include "quota/kernel/inode_project.h"

/* To read a file or directory, whatever it is. */
#define FSQ_LOOKUP_READ (O_RDONLY | O_NONBLOCK | O_NOCTTY)

/**
 * Open a path.
 *
 * @points   the mounts to keep to, or NULL
 * @path     with @points absolute
 * @flags    as for open(2), not to make a file. With O_NOFOLLOW no symlink is followed at the end; one with O_PATH is
 *           opened itself
 * @err      says why, and about which symlink or mount; or NULL
 * @return   a descriptor, or a negative errno: -ELOOP a symlink that is not followed; -EXDEV a mount that may hang, or
 *           has changed since @points was read
 * Source: openat2(2), RESOLVE_NO_SYMLINKS; path_resolution(7)
 */
int fsq_lookup(const struct fsq_mount_points *points, const char *path, int flags,
	       struct fsq_error *err);

/**
 * The same, for who only wants to know what it is.
 *
 * @st       filled on success
 * @return   0 or a negative errno
 */
int fsq_lookup_stat(const struct fsq_mount_points *points, const char *path, int flags,
		    struct stat *st, struct fsq_error *err);

/** The same, for the project of a directory. @return  0 or a negative errno, as of fsq_inode_project_get(), too */
int fsq_lookup_project(const struct fsq_mount_points *points, const char *path,
		       struct fsq_inode_project *project);

/** The same. @is_real  set: @path has no symlinks */
int fsq_lookup_real(const struct fsq_mount_points *points, const char *path, int flags,
		    bool *is_real, struct fsq_error *err);

/* A file by its name in a directory that is held open. */
struct fsq_name {
	int parent; /* or -1 */
	char *name;
	char *path; /* absolute, without symlinks above it */
};

/**
 * Open the directory that a path is in. The file itself need not exist.
 *
 * @name     filled, also on failure; close it with fsq_name_close()
 * @points, @path  as above
 * @return   0 or a negative errno
 * Source: proc_pid_fd(5)
 */
int fsq_name_open(struct fsq_name *name, const struct fsq_mount_points *points, const char *path,
		  struct fsq_error *err);

void fsq_name_close(struct fsq_name *name);

/**
 * Find out how a path is spelled without symlinks, "//", ".", ".." and a slash at the end. What does not exist is
 * spelled as it would be.
 *
 * @points   as above, not NULL
 * @path     absolute
 * @return   for free(3), or NULL with errno: as of fsq_lookup(), but not ENOENT and ENOTDIR
 */
char *fsq_lookup_spelling(const struct fsq_mount_points *points, const char *path);

/**
 * Find out where a directory is on its filesystem, whichever mount and symlinks lead to it. One that does not exist is
 * where it would be.
 *
 * @points, @path  as above
 * @dev      set
 * @return   its path from the root of the filesystem, for free(3); or NULL with errno as above
 */
char *fsq_lookup_place(const struct fsq_mount_points *points, const char *path, dev_t *dev);

/**
 * The same for what a caller has named, and does not exist.
 *
 * @points   may be NULL
 * @path     may be relative; where the directory above is not there, either, the result is a copy of it
 */
char *fsq_lookup_gone(const struct fsq_mount_points *points, const char *path);

/**
 * How a registered path is spelled, and on which filesystem it is. Nothing is looked at but the directories above it,
 * and those only where the path before was not in the same one.
 *
 * @dev      set: st_dev of the filesystem, or 0: it cannot be told
 * @return   until the next call; @path itself where it cannot be told; NULL without memory
 */
const char *fsq_lookup_known(const struct fsq_mount_points *points, const char *path, dev_t *dev);

/** Close what is kept open of the mounts, which could not be unmounted. */
void fsq_lookup_pause(const struct fsq_mount_points *points);

/**
 * Stat what is at a registered path, over whichever mount.
 *
 * @path     absolute
 * @st       filled on success
 * @return   0 or a negative errno
 * Source: openat2(2), RESOLVE_CACHED
 */
int fsq_lookup_stat_registered(const char *path, struct stat *st);

/**
 * Tell whether a registered path leads to a directory, over whichever mount.
 *
 * @path     absolute
 * @dev, @ino  of the directory, which somebody holds open
 * @return   1 or 0; a negative errno without descriptors or memory
 */
int fsq_lookup_leads_to(const char *path, dev_t dev, ino_t ino);

/* A directory that a pattern matches; or with @name NULL one in which a part of it is looked for. */
struct fsq_match {
	const char *path; /* absolute, without symlinks */
	int parent;	  /* the directory that it is in, or that is looked in, O_PATH */
	const char *name; /* its name in @parent; NULL: @parent itself */
	ino_t ino;	  /* as @parent lists it; 0: not known */
	dev_t dev;	  /* of both */
	int errnum; /* 0; or it is passed over, for it cannot be looked at; EXDEV for something is mounted there */
};

typedef enum fsq_visit (*fsq_match_visitor)(const struct fsq_match *match, void *arg);

/**
 * Visit the directories that a pattern matches, and those that are looked in. Neither symlinks nor mounts are entered
 * behind its fixed part, which ends before the first part with a *, ? or [.
 *
 * @pattern  absolute, as fnmatch(3) has it
 * @only     visit only those that this path leads over, and what is below it; without symlinks; NULL: all
 * @return   0, also where nothing matches; or a negative errno, with @err: the fixed part cannot be looked at
 * Source: fnmatch(3), FNM_PERIOD; openat2(2)
 */
int fsq_lookup_each(const struct fsq_mount_points *points, const char *pattern, const char *only,
		    fsq_match_visitor visit, void *arg, struct fsq_error *err);

/**
 * Spell a pattern as the paths that fsq_lookup_each() visits: with its fixed part as of fsq_lookup_spelling().
 *
 * @return   for free(3), or NULL without memory
 */
char *fsq_lookup_pattern(const struct fsq_mount_points *points, const char *pattern);

#endif
