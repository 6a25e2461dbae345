/* SPDX-License-Identifier: Apache-2.0 */
/* Tells whether a file has changed since it was read. */
#ifndef FSQ_FILE_STAMP_H
#define FSQ_FILE_STAMP_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

struct fsq_file_stamp {
	bool absent; /* there is no such file */
	bool young;  /* it can change again without another time */
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec mtime, ctime;
};

/** The stamp of a file. It is taken before the file is read. */
struct fsq_file_stamp fsq_file_stamp_of(const char *path);

/** @return  whether a file is as it was when the stamp was taken */
bool fsq_file_stamp_is_current(const struct fsq_file_stamp *stamp, const char *path);

#endif
