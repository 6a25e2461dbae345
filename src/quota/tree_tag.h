/* SPDX-License-Identifier: Apache-2.0 */
/* The project ID of all that is in a directory, set in a way that can be undone. */
#ifndef FSQ_TREE_TAG_H
#define FSQ_TREE_TAG_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"
#include "inode_project.h"
#include "tree_walk.h"

/* What was done to a tree. */
struct fsq_tree_tag;

/**
 * Give what is in a directory, but not the directory itself, another project ID; directories hand
 * it on. Symlinks and special files get it where the kernel can (Linux 6.17), else they are passed
 * over, and so is what vanishes meanwhile.
 *
 * @tag       set, also on failure; to be freed with fsq_tree_tag_free()
 * @fd, @path the directory, open for reading
 * @from      what is to be changed, besides files without an ID
 * @to        the new ID, and whether directories hand it on
 * @strict    true: any other ID is a conflict. false: other IDs are somebody else's projects and
 *            not entered, and files without an ID stay so
 * @manner    of the walk, or NULL
 * @return    0; FSQ_E_CONFLICT, with the path of the stranger; FSQ_E_PERMISSION; FSQ_E_FAILED, with
 *            EINTR when a signal waits (interrupt.h)
 */
int fsq_tree_tag(struct fsq_tree_tag **tag, int fd, const char *path,
		 const struct fsq_inode_project *from, const struct fsq_inode_project *to,
		 bool strict, const struct fsq_walk_manner *manner, struct fsq_error *err);

/** Undo it: everything that carries the new ID gets back what it had. */
void fsq_tree_tag_undo(struct fsq_tree_tag *tag, int fd, const char *path);

void fsq_tree_tag_free(struct fsq_tree_tag *tag);

/** @return  whether a directory, open for reading, is empty; one that cannot be read is not */
bool fsq_tree_is_empty(int fd);

#endif
