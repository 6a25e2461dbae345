/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directories from the root of a walk down to the current one, and the path of what is visited.
 * Only tree_walk.c uses it.
 *
 * Each level reads its entries in large pieces and remembers where it is. At most
 * FSQ_DIR_STACK_MAX_OPEN levels stay open, fewer if the process has no more descriptors (three are
 * enough): when one more is entered, the highest but the root is closed, and only what was not read of
 * its entries is kept. Coming back to it, its ".." is opened;
 * if somebody has moved a directory meanwhile, that is another inode, and the level is opened again
 * by names from the deepest open level above. A level that is not found has no more entries.
 */
#ifndef FSQ_DIR_STACK_H
#define FSQ_DIR_STACK_H

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Half of the smallest RLIMIT_NOFILE that anybody sets. */
#define FSQ_DIR_STACK_MAX_OPEN 32

/* Nothing is followed, waited for or becomes our terminal. */
#define FSQ_DIR_STACK_OPEN_FLAGS (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

struct fsq_dir_level;

struct fsq_dir_stack {
	char *path; /* of the directory or entry that is worked on */
	size_t path_size;
	struct fsq_dir_level *levels;
	size_t count; /* of directories */
	size_t capacity;
};

/** Begin at a path; slashes at its end are dropped. @return  0 or -ENOMEM */
int fsq_dir_stack_init(struct fsq_dir_stack *stack, const char *path);

/** Enter the directory of the current path. @return  0, with the descriptor taken, or -ENOMEM */
int fsq_dir_stack_push(struct fsq_dir_stack *stack, int fd, dev_t dev, ino_t ino);

/**
 * Leave the current directory. The path stays as it is.
 *
 * @return   false when the directory above was closed and is not found again
 */
bool fsq_dir_stack_pop(struct fsq_dir_stack *stack);

/**
 * Read the next entry of the current directory, without . and .., valid until the next call but
 * one.
 *
 * @return   1, 0 at the end, or a negative errno
 */
int fsq_dir_stack_next_entry(struct fsq_dir_stack *stack, struct dirent64 **entry);

/** Set the path to that of a name in the current directory. @return  0 or -ENOMEM */
int fsq_dir_stack_append_name(struct fsq_dir_stack *stack, const char *name);

/** Set the path to that of the current directory. */
void fsq_dir_stack_strip_name(struct fsq_dir_stack *stack);

/** @return  the current directory, -1 if it was not found again; the stack must not be empty */
int fsq_dir_stack_fd(const struct fsq_dir_stack *stack);
dev_t fsq_dir_stack_dev(const struct fsq_dir_stack *stack);

/**
 * Open an entry of the current directory, unless it leads to another mount.
 *
 * @return   a descriptor or a negative errno: -EXDEV another mount, -ELOOP a symlink without O_PATH
 * Source: openat2(2)
 */
int fsq_dir_stack_open(struct fsq_dir_stack *stack, const char *name, int flags);

/**
 * Open all levels again, below another descriptor of the root.
 *
 * @root_fd  taken over
 * @return   false when one of them was moved: then nothing has changed
 */
bool fsq_dir_stack_reopen(struct fsq_dir_stack *stack, int root_fd);

/** @return  the root */
int fsq_dir_stack_root_fd(const struct fsq_dir_stack *stack);

void fsq_dir_stack_free(struct fsq_dir_stack *stack);

#endif
