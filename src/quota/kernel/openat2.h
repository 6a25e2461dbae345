/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FSQ_OPENAT2_H
#define FSQ_OPENAT2_H

#include <stdint.h>

/**
 * openat2(2). Where the kernel has it not, or a filter forbids it, the path is gone along part by part,
 * which does the same.
 *
 * @dirfd    not AT_FDCWD, unless @path is absolute
 * @flags    as for open(2), not to make a file
 * @resolve  RESOLVE_NO_SYMLINKS, RESOLVE_NO_XDEV, RESOLVE_BENEATH
 * @return   a descriptor, or a negative errno: -ELOOP a symlink, -EXDEV another mount or outside of
 *           @dirfd, -ENOSYS a symlink that may be followed, but not without openat2(2)
 */
int fsq_openat2(int dirfd, const char *path, int flags, uint64_t resolve);

/**
 * Make a private clone of the mount that a directory is on, from there on: in it nothing is mounted, and nobody can
 * mount anything.
 *
 * @return   a descriptor of the directory in it, or -1 with errno
 * Source: open_tree(2), OPEN_TREE_CLONE
 */
int fsq_clone_mount(int fd);

#endif
