/* SPDX-License-Identifier: Apache-2.0 */
/* Options of calls that walk a tree: threads, cancellation, and the line that shows progress. */
#ifndef FSQ_PROGRESS_H
#define FSQ_PROGRESS_H

#include "quota/fsquota.h"
#include "session.h"

struct progress {
	struct fsq_call_options options; /* for the library */
	enum progress_when when;
	bool asked; /* @terminal is known */
	bool terminal;
	bool shown;	     /* a line is on the terminal */
	int64_t began, last; /* milliseconds; 0: not yet */
};

/** Prepare for walks; reads FSQUOTA_THREADS. */
void progress_begin(struct progress *progress, const struct session *session);

/** Remove the line from the terminal, before other output and at the end. */
void progress_clear(struct progress *progress);

#endif
