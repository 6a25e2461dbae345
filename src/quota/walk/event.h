/* SPDX-License-Identifier: Apache-2.0 */
/* Events that the visitor of a walk fills, delivered in the order of the tree. */
#ifndef FSQ_EVENT_H
#define FSQ_EVENT_H

#include "quota/fsquota.h"

/* Inside of a walk: a visitor or handler ended it. Not 0 and no negative errno. */
#define FSQ_WALK_STOPPED 1

struct fsq_walk_event {
	int what; /* the visitor's own number; 0: nothing */
	int errnum;
	uint32_t id;
	const char *path;
};

/**
 * Called for each event, one at a time and in the order of the directories' entries, however many
 * threads there are.
 */
typedef enum fsq_visit (*fsq_walk_handler)(const struct fsq_walk_event *event, void *arg);

#endif
