/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text file of /etc that others change, too: locked, read, and changed so that it is whole
 * whenever we are killed.
 */
#ifndef FSQ_LOCKED_FILE_H
#define FSQ_LOCKED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "error.h"

struct fsq_locked_file {
	const char *path;
	int fd;	   /* -1: not there, or not open */
	bool made; /* by us, now or before */
	struct stat st;
	char *text; /* as it was read, with a NUL behind it */
	size_t length;
	size_t added; /* bytes at the end, by us */
};

/**
 * Open, lock and read a file; again, if it was replaced before we had the lock.
 *
 * @file     with only its path set, and fd -1
 * @to_write false: only to look, and a file that is not there or not ours to read is empty
 * @heed_signals the wait for the lock ends when a signal that interrupt.h blocks is waiting
 * @return   0; FSQ_E_PERMISSION or FSQ_E_FAILED, with errno EMLINK for a symlink and EINVAL for
 * what is no regular file, EINTR for a signal Source: flock(2)
 */
int fsq_locked_file_open(struct fsq_locked_file *file, bool to_write, bool heed_signals,
			 struct fsq_error *err);

/** Close it, which drops the lock. */
void fsq_locked_file_close(struct fsq_locked_file *file);

/** Take it away if we made it and it is empty. */
void fsq_locked_file_unmake(struct fsq_locked_file *file);

/**
 * Add a line behind what was read and added. Killed in the middle of it we leave none that could be
 * taken for another.
 *
 * @line     with its newline, which may stand before it
 * @return   0 or a negative errno; then fsq_locked_file_take_back()
 */
int fsq_locked_file_append(struct fsq_locked_file *file, const char *line);

/** Take away what was added. */
void fsq_locked_file_take_back(struct fsq_locked_file *file);

/**
 * Make it shorter: in place if it begins with @text, else by a new file with the same mode, owner
 * and security label, which is locked before anybody can see it.
 *
 * @return   0 or a negative errno; then fsq_locked_file_put_back()
 */
int fsq_locked_file_cut(struct fsq_locked_file *file, const char *text, size_t length);

/** Make it as it was read. */
void fsq_locked_file_put_back(struct fsq_locked_file *file);

/** Take away what somebody who was killed in fsq_locked_file_cut() left beside it. */
void fsq_locked_file_clean(const struct fsq_locked_file *file);

/** Does its text end in a newline, or is there none? */
bool fsq_locked_file_is_whole(const struct fsq_locked_file *file);

/** As fsq_fail(), for what cannot be done to it. */
int fsq_locked_file_fail(struct fsq_error *err, int errnum, const struct fsq_locked_file *file,
			 const char *what);

#endif
