/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replace a file atomically: readers see the old text or the new one, even if the process is killed or the
 * machine stops.
 */
#ifndef FSQ_REPLACEMENT_H
#define FSQ_REPLACEMENT_H

#include "session.h"

struct replacement {
	const char *file;
	const char *name; /* its last part */
	int directory;
	bool is_output; /* "-": standard output, which is not replaced */
	bool named;	/* the filesystem lacks O_TMPFILE: the new file has a temporary name */
	char temporary[256];
	mode_t mode; /* of the new file, 0644 at first */
};

/**
 * Send output to a new file until replacement_end(). If the filesystem has O_TMPFILE, the new file has no name until
 * then.
 *
 * @file     the file to replace: a regular file, or one that does not exist; "-" is standard output
 * @return   whether the new file was created; else an error was reported
 */
bool replacement_begin(struct session *session, struct replacement *replacement, const char *file);

/** Replace the old file by the new one. @keep  false: discard the new one instead. @return  whether it was replaced; else
 *  and not because of @keep, an error was reported */
bool replacement_end(struct session *session, struct replacement *replacement, bool keep);

#endif
