/* SPDX-License-Identifier: Apache-2.0 */
/* A run of watch, and its parts: watch_wait.c waits, watch_poll.c asks, watch_tell.c prints. */
#ifndef FSQ_WATCH_H
#define FSQ_WATCH_H

#include "session.h"
#include "watch_ids.h"
#include "watch_places.h"
#include "watch_rows.h"
#include "watch_run.h"

struct watch {
	struct session *session;
	struct watch_places places;
	struct watch_ids ids;
	struct watch_run run;
	struct table table;	       /* of the events */
	bool runs;		       /* commands are to be run */
	struct fsq_warnings *warnings; /* NULL: the kernel sends none */
	struct fsq_cache *cache;
	uint64_t interval; /* seconds between polls */
	bool initial;	   /* begin with what is at a limit already */
	uint64_t left;	   /* so many events are to be told; 0: any number */
	bool counts, ends;
};

/** Ask for all records of a filesystem. */
void watch_poll_place(struct watch *watch, struct watch_place *place,
		      enum watch_judgement judgement);

/** The same of all filesystems; what is known and has no record any more is below its limits. */
void watch_poll_all(struct watch *watch, enum watch_judgement judgement);

/** Ask for the records of the IDs that are above something. */
void watch_poll_known(struct watch *watch);

/** @return  whether watch_poll_known() would ask for any */
bool watch_knows_any(const struct watch *watch);

/**
 * Tell what happens on the filesystems of paths, or of all when there are none, until a signal comes or as
 * many events as wanted are told.
 */
void watch_wait(struct watch *watch, char **paths, size_t count);

/** Tell the events that are due. */
void watch_tell(struct watch *watch, int64_t now);

#endif
