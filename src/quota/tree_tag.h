/* SPDX-License-Identifier: Apache-2.0 */
/* The project ID of all that is in a directory, set in a way that can be undone. */
#ifndef FSQ_TREE_TAG_H
#define FSQ_TREE_TAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "inode_project.h"
#include "tree_walk.h"

/* What is changed, and what becomes of other IDs. */
enum fsq_tree_rule {
	/* All gets the new ID; one that is neither the old nor the new one is a conflict. */
	FSQ_TREE_CLAIM,
	/* All gets the new ID, whatever the tenant has set; but directories of other projects, as
	 * @others has them, are not entered. */
	FSQ_TREE_RECLAIM,
	/* Only what has the old ID gets the new one, and what has one of @strays; all else stays.
	 */
	FSQ_TREE_LEAVE,
};

struct fsq_tree_order {
	int fd; /* the directory, open for reading; itself it is not changed */
	const char *path;
	enum fsq_tree_rule rule;
	struct fsq_inode_project from, to; /* directories hand on the new ID, or not */
	bool is_new;			   /* nothing in it can have had the new ID before */
	char *const *others;		   /* absolute paths of directories, sorted; of RECLAIM */
	size_t other_count;
	const uint32_t *strays; /* IDs that nothing in the tree ought to have, sorted; of LEAVE */
	size_t stray_count;
	const struct fsq_walk_manner *manner; /* or NULL */
};

/* What a walk came across. */
struct fsq_tree_found {
	bool changed; /* files that had to be changed */
	bool lost;    /* directories that were moved while they were walked */
	/* A directory has changed since the walk began: it may have missed what was moved. Who
	 * moves something changes the directory that it was in, which is then visited, or was
	 * itself moved out of one that is. */
	bool unsettled;
};

/* What was done to a tree. */
struct fsq_tree_tag;

/** @return  to be freed with fsq_tree_tag_free(); NULL without memory. @order must stay. */
struct fsq_tree_tag *fsq_tree_tag_new(const struct fsq_tree_order *order);

/**
 * Walk and change. Symlinks and special files get the ID where the kernel can (Linux 6.17), else
 * they are passed over, and so is what vanishes meanwhile. What somebody moves about at the same
 * time may be missed: then it takes another walk.
 *
 * @found    set
 * @return   0; FSQ_E_CONFLICT, with the path of the stranger; FSQ_E_PERMISSION; FSQ_E_FAILED, with
 *           EINTR when a signal waits (interrupt.h)
 */
int fsq_tree_tag_walk(struct fsq_tree_tag *tag, struct fsq_tree_found *found,
		      struct fsq_error *err);

/** Undo all its walks: everything that carries the new ID gets back what it had. */
void fsq_tree_tag_undo(struct fsq_tree_tag *tag);

/** NULL will do. */
void fsq_tree_tag_free(struct fsq_tree_tag *tag);

/** @return  whether a directory, open for reading, is empty; one that cannot be read is not */
bool fsq_tree_is_empty(int fd);

#endif
