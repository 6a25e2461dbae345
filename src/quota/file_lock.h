/* SPDX-License-Identifier: Apache-2.0 */
/* The lock of a file that anybody who can read it can hold: nobody waits for it without end. */
#ifndef FSQ_FILE_LOCK_H
#define FSQ_FILE_LOCK_H

#include <stdbool.h>

#include "error.h"

#define FSQ_LOCK_SECONDS 60

/* What ends a wait for a lock. */
struct fsq_lock_wait {
	unsigned int seconds; /* at most so long; 0: do not wait */
	/* A signal that interrupt.h blocks ends it: at once, or for who undoes something after a
	 * second. */
	bool undoing;
};

/**
 * Lock a file with flock(2), LOCK_EX.
 *
 * @path     of the file, for @err
 * @return   0; FSQ_E_FAILED: with errno EINTR for a signal, with a message that names the process
 *           that holds it when the time is over
 * Source: flock(2), proc_locks(5)
 */
int fsq_file_lock(int fd, const char *path, const struct fsq_lock_wait *wait,
		  struct fsq_error *err);

/**
 * Open a file that may have a lease (fcntl(2), F_SETLEASE) for a moment: without O_NONBLOCK open(2)
 * would wait for it, with it fails.
 *
 * @flags    of open(2); O_NONBLOCK is added
 * @return   a descriptor or a negative errno
 */
int fsq_file_open(const char *path, int flags);

#endif
