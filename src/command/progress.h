/* SPDX-License-Identifier: Apache-2.0 */
/* The manner of a walk: how many threads, and a line that says how far it has come. */
#ifndef FSQ_PROGRESS_H
#define FSQ_PROGRESS_H

#include "command.h"
#include "quota/tree_walk.h"

struct progress {
	struct fsq_walk_manner manner; /* for the walk */
	enum progress_when when;
	bool asked; /* whether it is a terminal */
	bool terminal;
	bool shown;	     /* there is a line on the terminal */
	int64_t began, last; /* milliseconds; 0: not yet */
};

/** Take the value of --progress. */
bool progress_take(struct session *session, const struct command_option *option, void *options,
		   const char *word);

/** Get ready for walks; FSQUOTA_THREADS is looked at here. */
void progress_begin(struct progress *progress, const struct session *session);

/** Take the line away: something else is to be printed, or all is done. */
void progress_clear(struct progress *progress);

#endif
