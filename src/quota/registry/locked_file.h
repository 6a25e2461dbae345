/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text file of /etc that others read without a lock and change under one: opened, locked, read,
 * and changed in place. It never becomes another inode: kubelet opens it, waits for the lock and
 * does not look again.
 */
#ifndef FSQ_LOCKED_FILE_H
#define FSQ_LOCKED_FILE_H

#include <sys/stat.h>

#include "file_lock.h"

struct fsq_locked_file {
	const char *path;
	int fd;	   /* -1: not there, or not open */
	bool made; /* by us */
	struct stat st;
	char *text; /* what is in it, with a NUL behind it */
	size_t length;
	bool changed;	  /* by us, since it was opened */
	bool is_the_same; /* it was not read: it is as fsq_locked_file_keep() has left it */
	struct stat kept; /* how that was; zeros: it is not known again */
};

/**
 * Open, lock and read a file; again, if it was replaced before we had the lock.
 *
 * @file     with only its path set, and fd -1
 * @to_write make it if it is not there; else a file that is not there or not ours to read is empty
 * @wait     for the lock; NULL: no lock is taken
 * @other    a file that is locked already and must not be the same, or NULL
 * @return   0; FSQ_E_USAGE the same as @other; FSQ_E_PERMISSION; FSQ_E_FAILED what is no regular
 *           file, and with EINTR when cancelled
 * Source: flock(2)
 */
int fsq_locked_file_open(struct fsq_locked_file *file, bool to_write,
			 const struct fsq_lock_wait *wait, const struct fsq_locked_file *other,
			 struct fsq_error *err);

/**
 * Find out whether fsq_locked_file_open() could open or make it to write.
 *
 * @return   0, or what that would fail with
 */
int fsq_locked_file_check(const struct fsq_locked_file *file, struct fsq_error *err);

/** Find out whether the caller may read it, if it is there. @return  0; FSQ_E_PERMISSION */
int fsq_locked_file_check_read(const struct fsq_locked_file *file, struct fsq_error *err);

/**
 * Before it is closed: know it again as long as nobody has changed it. One that we have changed gets the time of this
 * moment, to the nanosecond: the kernel counts in ticks, and in one tick others may change it without a trace.
 *
 * Source: utimensat(2)
 */
void fsq_locked_file_keep(struct fsq_locked_file *file);

/** Close it, which drops the lock. The text stays. */
void fsq_locked_file_close(struct fsq_locked_file *file);

/** Free the text. */
void fsq_locked_file_forget(struct fsq_locked_file *file);

/**
 * Write over what is there, or behind its end.
 *
 * @text     may be the place in the file's own text
 * @return   0 or a negative errno
 */
int fsq_locked_file_write(struct fsq_locked_file *file, size_t offset, const char *text,
			  size_t length);

/** Have it on the disk. @return  0 or a negative errno */
int fsq_locked_file_sync(struct fsq_locked_file *file);

/** Take away what is behind @length bytes. @return  0 or a negative errno */
int fsq_locked_file_cut(struct fsq_locked_file *file, size_t length);

/**
 * Replace the end of the file by something shorter with the same entries: while nobody else has it
 * open, so that no reader sees half of the one and half of the other.
 *
 * @from     where it begins; unless @length is 0 all behind it lies in one page, which the kernel
 *           writes at once
 * @return   whether it was done; if not all is as it was, or FSQ_LINE_OFF follows behind @text
 * Source: fcntl(2), F_SETLEASE
 */
bool fsq_locked_file_shorten(struct fsq_locked_file *file, size_t from, const char *text,
			     size_t length);

/** As fsq_fail(), for what cannot be done to it. */
int fsq_locked_file_fail(struct fsq_error *err, int errnum, const struct fsq_locked_file *file,
			 const char *what);

#endif
