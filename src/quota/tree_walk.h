/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Visit every file of a tree that belongs to a tenant who may race us: by descriptor, never through
 * a symlink, never onto another filesystem or into a mount (bind mounts included), of any depth,
 * with a bounded number of descriptors, never blocking on a FIFO. A tree that proves large is
 * walked by several threads.
 */
#ifndef FSQ_TREE_WALK_H
#define FSQ_TREE_WALK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#include "error.h"
#include "inode_project.h"

#define FSQ_WALK_INFINITE (-1)

/* From this many entries on a walk turns to what pays for many: threads, attributes by name. */
#define FSQ_WALK_LARGE 1000

enum fsq_walk_kind {
	FSQ_WALK_FILE,
	FSQ_WALK_DIRECTORY,
	FSQ_WALK_SPECIAL, /* symlink, FIFO, socket or device: never opened */
	FSQ_WALK_NO_STAT, /* gone, or its directory cannot be searched */
	FSQ_WALK_NO_OPEN,
	FSQ_WALK_LEAVE, /* the end of a directory that was entered; it is still open */
};

struct fsq_walk_entry {
	enum fsq_walk_kind kind;
	const char *path; /* the root as given, without trailing slashes, and the names below it */
	int fd;		  /* open for reading, or -1 */
	int errnum;	  /* why, if NO_STAT or NO_OPEN */
	int depth;	  /* 0: the root */
	/* Where it is, for *at() calls with AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH: its directory and
	 * its name, or itself and ""; -1 when it is nowhere. */
	int dirfd;
	const char *name;
	dev_t dev;	       /* of its directory */
	const struct stat *st; /* of a DIRECTORY, else NULL */
	bool by_name;	       /* FSQ_WALK_PROJECTS_BY_NAME, and it is so */
	/* Can its project be read and set? Otherwise it is a special file, and the kernel does not
	 * let us. */
	bool has_project;
};

/* Something that is to be told about an entry, in the order of the tree. */
struct fsq_walk_finding {
	int what; /* the visitor's own number; 0: nothing */
	int errnum;
	uint32_t id;
	bool is_directory;
	const char *path;
};

/* What a visitor may return besides 0, to go on, and anything else, to end the walk. */
#define FSQ_WALK_PRUNE 1 /* do not enter this directory */

/**
 * Called for each entry, a directory before what is in it; by any thread, and by several at a time.
 *
 * @finding  all 0 but the path; goes to the teller when it is filled
 */
typedef int (*fsq_walk_visitor)(const struct fsq_walk_entry *entry,
				struct fsq_walk_finding *finding, void *arg);

/**
 * Called for each finding, one at a time and in the order of the directories' entries, whatever
 * number of threads there is.
 *
 * @return   0, or anything else to end the walk
 */
typedef int (*fsq_walk_teller)(const struct fsq_walk_finding *finding, void *arg);

/* How files are reached. */
enum fsq_walk_reach {
	/* So that fsq_walk_project_get() and _set() work; files are held, and both reach the same.
	 */
	FSQ_WALK_PROJECTS,
	/* The same in half the calls: those of a large tree by name. By the time it is set the name
	 * may be another file's of the tree, so what is set must be right for each of them. */
	FSQ_WALK_PROJECTS_BY_NAME,
	FSQ_WALK_OPEN,	 /* files are opened for reading */
	FSQ_WALK_CLOSED, /* files are not opened, and may be others by the time they are visited */
};

/* What the user of a walk, far above, may want of it. */
struct fsq_walk_manner {
	unsigned int threads; /* at most; 0: as many as help */
	/* Called by any thread, one at a time, now and then, and at the end with a @path that is
	 * NULL; may be NULL. */
	void (*progress)(uint64_t entries, const char *path, void *arg);
	void *arg;
};

struct fsq_walk {
	const char *root; /* if it is a symlink it is visited as one */
	int root_fd;	  /* walk this directory, whatever is at @root by now; -1: open @root */
	int max_depth;	  /* 0: the root alone, 1: what is in it too, ...; FSQ_WALK_INFINITE */
	enum fsq_walk_reach reach;
	bool alone;	    /* everything in the caller's thread, and so in order */
	bool uninterrupted; /* even when one of the signals of interrupt.h waits */
	const struct fsq_walk_manner *manner; /* may be NULL */
	fsq_walk_visitor visit;
	fsq_walk_teller tell;
	void *arg;
	uint64_t entries; /* set: how many were visited */
};

/**
 * Walk a tree.
 *
 * @return   0; what @visit or @tell returned; FSQ_E_FAILED without memory, and with EINTR when one
 * of the signals of interrupt.h waits Source: openat2(2), getdents64(2); open_tree(2),
 * file_getattr(2)
 */
int fsq_tree_walk(struct fsq_walk *walk, struct fsq_error *err);

/** The project of an entry, as in inode_project.h. */
int fsq_walk_project_get(const struct fsq_walk_entry *entry, struct fsq_inode_project *project);
int fsq_walk_project_set(const struct fsq_walk_entry *entry, struct fsq_inode_project *project,
			 uint32_t id, bool inherit);

/**
 * Of an entry of FSQ_WALK_LEAVE: has the directory changed since a time of CLOCK_REALTIME_COARSE?
 * Who moves something out of it changes it, so a walk may have missed only what was moved out of
 * one that has.
 */
bool fsq_walk_changed_since(const struct fsq_walk_entry *entry, const struct timespec *since);

/**
 * Is it a directory now? What was listed as a file may have been replaced by one, which must keep
 * handing on its ID.
 *
 * @project  of the entry, as read
 */
bool fsq_walk_is_directory(const struct fsq_walk_entry *entry,
			   const struct fsq_inode_project *project);

#endif
