/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks of the two files, which any process that can read them can hold, and of directories, for which
 * only fsquota looks. Waiting for one has an end.
 */
#ifndef FSQ_FILE_LOCK_H
#define FSQ_FILE_LOCK_H

#include "quota/fsquota.h"

struct fsq_lock_wait {
	unsigned int seconds;			/* at most; 0: do not wait */
	const struct fsq_call_options *options; /* or NULL; cancelling ends the wait at once, */
	bool rolling_back;			/* or after a second */
	/* Called each time before the lock is tried again; may be NULL. */
	void (*again)(void *arg);
	void *arg;
};

/**
 * Lock a file with flock(2), LOCK_EX.
 *
 * @path     of the file, for @err
 * @return   0; FSQ_E_FAILED: with EINTR when cancelled, with a message that names the process that
 *           holds the lock when the time is over
 * Source: flock(2), proc_locks(5)
 */
int fsq_file_lock(int fd, const char *path, const struct fsq_lock_wait *wait,
		  struct fsq_error *err);

/* Each of its bytes is the lock of a directory. Only root can open it. */
#define FSQ_TREE_LOCKS "/run/fsquota.lock"

/**
 * Lock a directory, so that nobody changes its project, or that of a directory above it or in it, at the
 * same time. A command does so before it locks the two files, which it drops while it goes through what is
 * in the directory.
 *
 * @fd       the directory
 * @path     of it, for @err
 * @lock     set to a descriptor; to close it drops the lock. -1 where FSQ_TREE_LOCKS cannot be written:
 *           then nothing is locked, and that is no failure
 * @return   as fsq_file_lock()
 * Source: fcntl_locking(2), F_OFD_SETLK
 */
int fsq_tree_lock(int fd, const char *path, const struct fsq_lock_wait *wait, int *lock,
		  struct fsq_error *err);

#endif
