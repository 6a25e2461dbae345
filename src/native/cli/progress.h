/* SPDX-License-Identifier: Apache-2.0 */
/* Options of library calls that walk a tree: threads, cancellation, and a line that shows progress. */
#ifndef FSQ_PROGRESS_H
#define FSQ_PROGRESS_H

#include "quota/fsquota.h"
#include "session.h"

struct progress {
	struct fsq_call_options options; /* for the library */
	enum progress_when when;
	bool asked; /* @terminal is known */
	bool terminal;
	bool shown;	     /* the line is on the terminal */
	int64_t began, last; /* milliseconds; 0: not yet */
	uint64_t mounts;     /* not entered since progress_take_mounts() */
	char *first_mount;
};

/** Prepare for walks; reads FSQUOTA_THREADS. */
void progress_begin(struct progress *progress, const struct session *session);

/**
 * Remove the line from the terminal, and warn of the mounts in a directory that were not entered.
 *
 * @return   how many there were
 */
uint64_t progress_take_mounts(struct progress *progress, struct session *session,
			      const char *directory);

/** Remove the line from the terminal, before other output and at the end. */
void progress_clear(struct progress *progress);

#endif
