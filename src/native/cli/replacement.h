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
	bool named;	/* it has a name while it is written: there is no O_TMPFILE here */
	char temporary[256];
};

/**
 * Send output to a new file until replacement_end(). Nothing is seen of it in the directory until then,
 * where the filesystem has O_TMPFILE.
 *
 * @file     that is to be replaced: a regular file, or none; "-" is standard output
 * @return   whether it was made; else an error was reported
 */
bool replacement_begin(struct session *session, struct replacement *replacement, const char *file);

/** @keep  false: leave the old file */
void replacement_end(struct session *session, struct replacement *replacement, bool keep);

#endif
