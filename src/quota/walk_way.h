/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a walk is: the directories from where it began down to the current one, of which a bounded
 * number is open, and their path. Only tree_walk.c comes here.
 */
#ifndef FSQ_WALK_WAY_H
#define FSQ_WALK_WAY_H

#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* This many directories stay open; above, one is closed for each that is entered. Half of the
 * smallest number of descriptors that anybody sets. */
#define FSQ_WAY_MAX_OPEN 32

/* How a directory or file is opened: nothing is followed, waited for or made a terminal of ours. */
#define FSQ_WAY_OPEN (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

struct fsq_way_level;

struct fsq_way {
	char *path; /* of the directory or entry that is worked on */
	size_t path_size;
	struct fsq_way_level *levels;
	size_t count; /* of directories */
	size_t allocated;
	atomic_bool *no_openat2; /* for all who walk the same tree */
};

/** Begin at a path, without trailing slashes. @return  0 or -ENOMEM */
int fsq_way_begin(struct fsq_way *way, const char *path);

/** Enter a directory, whose path it is now. @return  0, with the descriptor taken, or -ENOMEM */
int fsq_way_push(struct fsq_way *way, int fd, dev_t dev, ino_t ino);

/**
 * Leave the current directory; the path stays that of it.
 *
 * @return   false when the one above was closed meanwhile and is not found again: somebody has
 *           moved it, and there are no more entries of it
 */
bool fsq_way_pop(struct fsq_way *way);

/**
 * The next entry of the current directory, but . and .., valid until the next but one.
 *
 * @return   1, 0 at the end, or a negative errno
 */
int fsq_way_next(struct fsq_way *way, struct dirent64 **entry);

/** Make the path that of a name in the current directory. @return  0 or -ENOMEM */
int fsq_way_name(struct fsq_way *way, const char *name);

/** Make the path that of the current directory. */
void fsq_way_here(struct fsq_way *way);

/** @return  the current directory, -1 if it is lost; there must be one */
int fsq_way_fd(const struct fsq_way *way);
dev_t fsq_way_dev(const struct fsq_way *way);

/**
 * Open an entry of the current directory, unless it leads to another mount.
 *
 * @return   a descriptor or a negative errno: -EXDEV another mount, -ELOOP a symlink, but for
 *           O_PATH
 * Source: openat2(2)
 */
int fsq_way_open(struct fsq_way *way, const char *name, int flags);

/**
 * Open all directories of the way again, below another descriptor of the first one.
 *
 * @root_fd  taken
 * @return   false when one of them was moved: then all is as it was
 */
bool fsq_way_move(struct fsq_way *way, int root_fd);

/** @return  a descriptor of the first directory, to be looked at */
int fsq_way_root_fd(const struct fsq_way *way);

void fsq_way_end(struct fsq_way *way);

#endif
