/* SPDX-License-Identifier: Apache-2.0 */
/* A private view of a tree. Only tree_walk.c comes here. */
#ifndef FSQ_WALK_VIEW_H
#define FSQ_WALK_VIEW_H

/**
 * Get a view of a tree in which nothing is mounted and nobody can mount anything: a name in one of
 * its directories leads to the file that the filesystem has there.
 *
 * @root_fd  the directory
 * @view     set: what keeps the view, to be closed behind all that was opened in it; or -1
 * @return   a descriptor for reading of the same directory in the view; -1 where there can be none,
 *           and where something is mounted in the tree now, since what mounts hide is not walked
 * Source: open_tree(2), OPEN_TREE_CLONE
 */
int fsq_walk_view_open(int root_fd, int *view);

#endif
