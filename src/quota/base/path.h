/* SPDX-License-Identifier: Apache-2.0 */
/* Paths: what is below what, and where a descriptor is. */
#ifndef FSQ_PATH_H
#define FSQ_PATH_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Find the part of a path that is below a directory.
 *
 * @directory absolute, without symlinks, spelled as fsq_path_clean() does
 * @path     absolute, without symlinks; "//" and "/." in it are as good as "/"
 * @length   of @path, which no NUL need end
 * @return   where it begins in @path, without slashes; the end of @path when both are the same;
 *           NULL when it is not below
 */
const char *fsq_path_below(const char *directory, const char *path, size_t length);

/** Is a path, as a file may spell it, that of the directory? Arguments as above: ".." in it is not resolved. */
bool fsq_path_is(const char *directory, const char *path, size_t length);

/** Spell an absolute path as the kernel does: without "//", "/./" and a slash at the end. */
void fsq_path_clean(char *path);

#define FSQ_FD_LINK_SIZE 32

/** The name under which /proc has an open file. */
void fsq_fd_link(char link[FSQ_FD_LINK_SIZE], int fd);

/** @return  the path of an open file as the kernel sees it, for free(3), or NULL */
char *fsq_fd_path(int fd);

#endif
