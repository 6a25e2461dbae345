/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the project ID of everything in a directory in a way that can be undone. */
#ifndef FSQ_TREE_TAG_H
#define FSQ_TREE_TAG_H

#include "quota/base/inode_map.h"
#include "quota/kernel/inode_project.h"
#include "quota/registry/entries.h"
#include "quota/walk/tree_walk.h"

/* Which files are changed, and what becomes of other IDs. */
enum fsq_tag_rule {
	/* Everything gets the new ID; one that is neither the old nor the new one is a conflict. */
	FSQ_TAG_CLAIM,
	/* Everything gets the new ID, whatever the owner has set. */
	FSQ_TAG_RECLAIM,
	/* What has the old ID gets the new one, and so does what has an ID of @elsewhere; the rest
	   stays. */
	FSQ_TAG_LEAVE,
};

struct fsq_tree_tag_request {
	int fd; /* the directory, open for reading; itself it is not changed */
	const char *path;
	enum fsq_tag_rule rule;
	struct fsq_inode_project from, to; /* directories hand on the new ID, or not */
	bool is_new;			   /* nothing in it can have had the new ID before */
	bool goes_on;			   /* the directory itself had the new ID before */
	/* Directories of other projects by their inodes, which are not entered; and the IDs of these projects. */
	struct fsq_inode_map others;
	bool others_carry; /* these IDs, or it is a conflict: the inode may be another directory's by now */
	/* Lines of directories that are not in the tree by their paths, see project_edit.h. A directory
	 * with the ID of such a line is not entered if the line leads to it. */
	struct fsq_entries elsewhere;
	bool dry_run; /* only look; what has several names is counted once */
	const struct fsq_call_options *options; /* or NULL */
};

/* The findings of a walk. */
struct fsq_tree_found {
	uint64_t changed; /* how many files had to be changed */
	uint64_t special; /* names of symlinks and special files that cannot carry the new ID */
	bool lost;	  /* directories that were moved while they were walked */
	/* A directory has changed since the walk began, so files that were moved may have been
	 * missed: moving a file changes the directory that it was in. */
	bool unsettled;
};

/* A tree, with what is needed for a rollback. */
struct fsq_tree_tag;

/** @return  to be freed with fsq_tree_tag_free(); NULL without memory. @request must stay. */
struct fsq_tree_tag *fsq_tree_tag_new(const struct fsq_tree_tag_request *request);

/**
 * Walk and change. Symlinks and special files get the ID where the kernel can (Linux 6.17), else
 * they are passed over, and so is what vanishes meanwhile. Files that are moved about at the same
 * time may be missed; then it takes another walk.
 *
 * @found    set
 * @return   0; FSQ_E_CONFLICT, with the path of a file that has another ID, or of one of the others that has not the
 *           ID of its project; FSQ_E_PERMISSION;
 *           FSQ_E_FAILED, with EINTR when cancelled
 */
int fsq_tree_tag_walk(struct fsq_tree_tag *tag, struct fsq_tree_found *found,
		      struct fsq_error *err);

/**
 * Undo all its walks: everything that has the new ID gets back what it had. NULL is ignored.
 *
 * @return   0; FSQ_E_FAILED something may still have the new ID
 */
int fsq_tree_tag_rollback(struct fsq_tree_tag *tag);

/** The same without a walk before: everything that has the new ID gets the old one. */
int fsq_tree_tag_restore(struct fsq_tree_tag *tag);

/** NULL is ignored. */
void fsq_tree_tag_free(struct fsq_tree_tag *tag);

/** @return  whether a directory, open for reading, is empty; one that cannot be read is not */
bool fsq_tree_is_empty(int fd);

#endif
