/* SPDX-License-Identifier: Apache-2.0 */
/* A lock that any process that can read the file can hold; so waiting for it has an end. */
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

#endif
