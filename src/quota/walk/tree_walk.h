/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Visits every file of a tree whose owner may race us: by descriptor, never through a symlink,
 * never onto another file system or into a mount (bind mounts included, but for a directory that is
 * mounted onto itself), to any depth, with a bounded number of descriptors, never blocking on a FIFO. A large tree is walked by several
 * threads.
 */
#ifndef FSQ_TREE_WALK_H
#define FSQ_TREE_WALK_H

#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#include "quota/fsquota.h"
#include "quota/kernel/inode_project.h"

#define FSQ_DEPTH_INFINITE (-1)

/* A tree of so many entries is worth threads, and reaching attributes by name. */
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
	ino_t ino;	       /* of a name that is not open, as its directory has it; else 0 */
	dev_t dev;	       /* of its directory */
	const struct stat *st; /* of a DIRECTORY, else NULL */
	bool by_name;	       /* FSQ_ACCESS_PROJECT_BY_NAME, and it is so */
	/* Can its project be read and set? Otherwise it is a special file, and the kernel does not
	 * let us. */
	bool has_project;
};

/* Inside of a walk: a visitor or handler ended it. Not 0 and no negative errno. */
#define FSQ_WALK_STOPPED 1

/* What the visitor of an entry has to say. */
struct fsq_walk_event {
	int what; /* the visitor's own number; 0: nothing */
	int errnum;
	uint32_t id;
	const char *path;
};

/** Called for each event, one at a time; in the order of the directories' entries if the walk is alone. */
typedef enum fsq_visit (*fsq_walk_handler)(const struct fsq_walk_event *event, void *arg);

/**
 * Called for each entry, a directory before what is in it; by any thread, and by several at a time.
 *
 * @event    all 0 but the path; delivered to the handler if the visitor fills it
 * @return   FSQ_VISIT_PRUNE: do not enter this directory
 */
typedef enum fsq_visit (*fsq_walk_visitor)(const struct fsq_walk_entry *entry,
					   struct fsq_walk_event *event, void *arg);

enum fsq_access_mode {
	/* fsq_walk_project_get() and _set() work. Files are held open, so both reach the same one.
	 */
	FSQ_ACCESS_PROJECT,
	/* The same in half the calls: files of a large tree are reached by name. By the time of
	 * _set() the name may be that of another file of the tree, so what is set must be right for
	 * each. */
	FSQ_ACCESS_PROJECT_BY_NAME,
	FSQ_ACCESS_OPEN,   /* files are opened for reading */
	FSQ_ACCESS_CLOSED, /* files are not opened, and may be others by the time they are visited
			    */
};

struct fsq_walk {
	const char *root; /* if it is a symlink it is visited as one */
	int root_fd;	  /* walk this directory, whatever is at @root by now; -1: open @root */
	int max_depth;	  /* 0: the root alone, 1: what is in it, too, ...; FSQ_DEPTH_INFINITE */
	enum fsq_access_mode access;
	bool alone; /* everything in the caller's thread, and so in the order of the entries */
	bool mounts_known; /* the caller of the library knows the mounts that are skipped */
	const struct fsq_call_options *options; /* may be NULL */
	fsq_walk_visitor visit;
	fsq_walk_handler emit; /* may be NULL: the visitor fills no event */
	void *arg;
	uint64_t entries; /* set: how many were visited */
};

/**
 * Walk a tree.
 *
 * @return   0, also when @visit or @emit stopped it; FSQ_E_USAGE the root is NULL; FSQ_E_FAILED without
 *           memory, and with EINTR when cancelled
 * Source: openat2(2), getdents64(2); open_tree(2), file_getattr(2)
 */
int fsq_tree_walk(struct fsq_walk *walk, struct fsq_error *err);

/** Stat an entry itself. @return  0 or a negative errno */
int fsq_walk_stat(const struct fsq_walk_entry *entry, struct stat *st);

/** The project of an entry, as in inode_project.h. */
int fsq_walk_project_get(const struct fsq_walk_entry *entry, struct fsq_inode_project *project);
int fsq_walk_project_set(const struct fsq_walk_entry *entry, struct fsq_inode_project *project,
			 uint32_t id, bool inherit);

/**
 * Read the clock that gives files their times. It stands still for some milliseconds, in which small
 * trees are walked many times.
 *
 * @now     set to the time, for fsq_walk_changed_since()
 * @wait    wait until it has gone on, so that what was changed before has an earlier time
 */
void fsq_walk_time(struct timespec *now, bool wait);

/**
 * Tell of an FSQ_WALK_LEAVE entry whether the directory has changed since a time of
 * fsq_walk_time(). Moving something out of a directory changes it, so a walk can only have
 * missed what was moved out of one that has changed.
 */
bool fsq_walk_changed_since(const struct fsq_walk_entry *entry, const struct timespec *since);

/**
 * Tell whether an entry is a directory now. What was listed as a file may have been replaced by a
 * directory, which must keep handing on its ID.
 *
 * @project  of the entry, as read
 */
bool fsq_walk_is_directory(const struct fsq_walk_entry *entry,
			   const struct fsq_inode_project *project);

#endif
