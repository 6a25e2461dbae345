/* SPDX-License-Identifier: Apache-2.0 */
/* A run of fsq_prune(), and its parts. */
#ifndef FSQ_PRUNE_H
#define FSQ_PRUNE_H

#include "quota/base/id_set.h"
#include "quota/registry/project_edit.h"
#include "volumes.h"

/* What is judged, and waits for its removal. */
struct fsq_removal {
	struct fsq_leftover leftover;
	const struct fsq_volume *volume; /* NULL for a name */
	bool vanished;			 /* there is nothing to be removed any more */
	/* The limits that were taken off, if any: */
	const struct fsq_volume *limits_off;
	struct fsq_dquot before;
};

struct fsq_prune {
	const struct fsq_prune_request *request;
	fsq_leftover_visitor visit;
	void *arg;
	struct fsq_id_range range;
	struct fsq_volumes volumes;
	struct fsq_entries lines; /* of the projects file, without its locks */
	dev_t *chosen;		  /* file systems */
	size_t chosen_count;
	struct fsq_id_set *seen; /* of each file system, at its first volume: has use or limits */
	struct fsq_project_edit *edit;
	struct fsq_removal *queue;
	size_t queued, queue_capacity;
	size_t batch, to_remove; /* at once with the locks, and how many there are in the queue */
	bool has_removed_lines, torn; /* of a batch; torn: a file could not be written */
	int looks;
	struct fsq_error *err;
};

/* --- prune_judge.c --- */

/** @return  whether an ID is one of those that are looked at */
bool fsq_prune_is_in_range(const struct fsq_prune *p, uint32_t id);

/** @return  whether a volume is the first of its file system */
bool fsq_prune_is_first(const struct fsq_prune *p, const struct fsq_volume *volume);

/** Does a file system have something of this ID? @return  0 or a failure */
int fsq_prune_is_known(struct fsq_prune *p, uint32_t id, bool *known);

/**
 * Decide what a line of the projects file is, from what is seen now.
 *
 * @leftover  its kind, why it is kept and its inodes are set
 * @return    0; 1 it is no leftover; or a failure
 */
int fsq_prune_judge_line(struct fsq_prune *p, const struct fsq_volume *volume,
			 enum fsq_presence presence, const struct fsq_dquot *dquot,
			 struct fsq_leftover *leftover);

/* --- prune_remove.c --- */

/**
 * Remove a leftover with others, unless it is kept, and tell.
 *
 * @volume   NULL for a name
 * @leftover its words must stay until fsq_prune_flush()
 * @return   0; 1 the visitor wants no more; or a failure
 */
int fsq_prune_settle(struct fsq_prune *p, const struct fsq_volume *volume,
		     const struct fsq_leftover *leftover);

/** Look again at all that wait, with the locks, remove and tell them. Result as fsq_prune_settle() */
int fsq_prune_flush(struct fsq_prune *p);

#endif
