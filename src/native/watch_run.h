/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands of watch --exec: for one ID of a filesystem one at a time, and a bounded number for
 * all. Events that come while the command of their ID runs are handed to the next one, together.
 */
#ifndef FSQ_WATCH_RUN_H
#define FSQ_WATCH_RUN_H

#include <sys/types.h>

#include "session.h"
#include "watch_rows.h"

#define WATCH_RUNNING 8

struct watch_job;

/* Zeros, but for the session and the words, are an empty set. */
struct watch_run {
	struct session *session;
	char **words; /* the file and its arguments, ended by NULL */
	void *jobs;   /* of tsearch(3) */
	struct watch_job *first_waiting, *last_waiting;
	struct watch_job *running[WATCH_RUNNING];
	size_t running_count;
};

/** Run the command for an event, now or later. */
void watch_run(struct watch_run *run, const struct watch_row *row, dev_t dev);

/** Take the commands that have ended, and begin with others. */
void watch_run_reap(struct watch_run *run);

/** Begin with no other command. */
void watch_run_stop(struct watch_run *run);

/** @return  whether commands run or wait */
bool watch_run_is_busy(const struct watch_run *run);

/** Free it; commands that still run go on. */
void watch_run_free(struct watch_run *run);

#endif
