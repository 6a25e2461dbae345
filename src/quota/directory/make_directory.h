/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory that is there with its owner and mode, or not at all. It is made under another name, and
 * gets its own when nothing can fail any more but the rename. Two processes that make the same one take
 * turns: who has the other name open holds a lock on it, and who finds one without a lock takes it over.
 */
#ifndef FSQ_MAKE_DIRECTORY_H
#define FSQ_MAKE_DIRECTORY_H

#include <stdbool.h>
#include <sys/types.h>

#include "quota/fsquota.h"

struct fsq_new_directory {
	mode_t mode;
	uid_t owner; /* (uid_t)-1: the caller */
	gid_t group;
	unsigned int wait_seconds; /* for another process that makes it */
	const struct fsq_call_options *options;
};

/* Zeros, but for @parent -1, are nothing. */
struct fsq_making {
	int parent;	 /* the directory above, open */
	char hidden[32]; /* the name until then */
	char *name;
	char *path; /* absolute, with the name */
	bool shown; /* it has its own name */
};

/**
 * Make a directory under another name.
 *
 * @making   filled, also on failure; end it with fsq_directory_unmake() or fsq_directory_keep()
 * @return   a descriptor, or a negative errno: -EEXIST the directory is there by now; -EINTR cancelled;
 *           -EBUSY another process makes it for too long; -ENOTEMPTY somebody else's is in the way
 * Source: mkdirat(2), flock(2)
 */
int fsq_directory_make(struct fsq_making *making, const char *directory,
		       const struct fsq_new_directory *new);

/**
 * Give it its own name.
 *
 * @return   0 or a negative errno: -EEXIST another process has made it
 * Source: renameat2(2), RENAME_NOREPLACE
 */
int fsq_directory_show(struct fsq_making *making);

/** Remove it, by whatever name. */
void fsq_directory_unmake(struct fsq_making *making);

/** Leave it where it is. */
void fsq_directory_keep(struct fsq_making *making);

#endif
