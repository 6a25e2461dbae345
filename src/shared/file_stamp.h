/* SPDX-License-Identifier: Apache-2.0 */
/* Tells whether a file has changed since it was read. */
#ifndef FSQ_FILE_STAMP_H
#define FSQ_FILE_STAMP_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

struct fsq_file_stamp {
	bool absent; /* there is no such file */
	bool young;  /* another change may leave its times as they are */
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec mtime, ctime;
};

/** Take the stamp of a file. Call it before reading the file. */
struct fsq_file_stamp fsq_file_stamp_of(const char *path);

/** @return  whether a file has certainly not changed since the stamp was taken */
bool fsq_file_stamp_is_current(const struct fsq_file_stamp *stamp, const char *path);

#endif
