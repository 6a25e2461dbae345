/* SPDX-License-Identifier: Apache-2.0 */
/* A private clone of a mount. Only tree_walk.c uses it. */
#ifndef FSQ_MOUNT_CLONE_H
#define FSQ_MOUNT_CLONE_H

/**
 * Clone the mount of a directory. Nothing is mounted in the clone and nobody can mount anything
 * there, so a name in one of its directories leads to the file that the file system has there.
 *
 * @root_fd  the directory
 * @clone    set to what keeps the clone, or -1; close it after everything opened in it
 * @return   a descriptor for reading of the same directory in the clone; -1 when the kernel cannot,
 *           and when something is mounted in the tree now: what it hides must not be walked
 * Source: open_tree(2), OPEN_TREE_CLONE
 */
int fsq_mount_clone_open(int root_fd, int *clone);

#endif
