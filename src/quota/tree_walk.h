/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Visit every file of a tree that belongs to a tenant who may race us: by descriptor, never through
 * a symlink, never onto another filesystem or into a mount (bind mounts included), of any depth,
 * with a bounded number of descriptors, never blocking on a FIFO.
 */
#ifndef FSQ_TREE_WALK_H
#define FSQ_TREE_WALK_H

#include <stdbool.h>

#include "error.h"

#define FSQ_WALK_INFINITE (-1)

enum fsq_walk_kind {
	FSQ_WALK_FILE,
	FSQ_WALK_DIRECTORY,
	FSQ_WALK_SPECIAL, /* symlink, FIFO, socket or device: not opened */
	FSQ_WALK_NO_STAT, /* gone, or its directory cannot be searched */
	FSQ_WALK_NO_OPEN,
	FSQ_WALK_LEAVE, /* the end of a directory that was entered */
};

struct fsq_walk_entry {
	enum fsq_walk_kind kind;
	const char *path; /* the root as given, without trailing slashes, and the names below it */
	int fd;		  /* open for reading if FILE or DIRECTORY, else -1 */
	int errnum;	  /* why, if NO_STAT or NO_OPEN */
	int depth;	  /* 0: the root */
	int parent;	  /* its directory, open, and its name in it; -1 for the root */
	const char *name;
};

/* What a visitor may return besides 0, to go on, and anything else, to end the walk. */
#define FSQ_WALK_PRUNE 1 /* do not enter this directory */

/** Called for each entry, a directory before what is in it. */
typedef int (*fsq_walk_visitor)(const struct fsq_walk_entry *entry, void *arg);

/**
 * Walk a tree.
 *
 * @root      where to start; if it is a symlink it is visited as one
 * @max_depth 0: the root alone, 1: what is in it too, ...; FSQ_WALK_INFINITE
 * @visit     called in the order of the directories' entries
 * @return    0, what @visit returned, or FSQ_E_FAILED without memory
 * Source: openat2(2), getdents64(2)
 */
int fsq_tree_walk(const char *root, int max_depth, fsq_walk_visitor visit, void *arg,
		  struct fsq_error *err);

/**
 * Walk all that is below a directory that is open, whatever is at the path @root by now.
 *
 * @files_closed regular files are not opened: their fd is -1, and they may be others by then
 */
int fsq_tree_walk_at(int root_fd, const char *root, bool files_closed, fsq_walk_visitor visit,
		     void *arg, struct fsq_error *err);

#endif
