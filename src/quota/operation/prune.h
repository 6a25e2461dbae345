/* SPDX-License-Identifier: Apache-2.0 */
/* A run of fsq_prune(), and its parts. */
#ifndef FSQ_PRUNE_H
#define FSQ_PRUNE_H

#include "quota/base/id_set.h"
#include "quota/registry/project_edit.h"
#include "volumes.h"

struct fsq_prune {
	const struct fsq_prune_request *request;
	fsq_leftover_visitor visit;
	void *arg;
	struct fsq_id_range range;
	struct fsq_volumes volumes;
	dev_t *chosen; /* file systems */
	size_t chosen_count;
	struct fsq_id_set *seen; /* of each file system, at its first volume: has use or limits */
	struct fsq_project_edit *edit;
	int looks;
	struct fsq_error *err;
};

/* --- prune_judge.c --- */

/** @return  whether an ID is one of those that are looked at */
bool fsq_prune_is_in_range(const struct fsq_prune *p, uint32_t id);

/** @return  whether a volume is the first of its file system */
bool fsq_prune_is_first(const struct fsq_prune *p, const struct fsq_volume *volume);

/** Read use and limits; without a record there are none. @return  0 or a failure */
int fsq_prune_read_quota(struct fsq_prune *p, const struct fsq_volume *volume, uint32_t id,
			 struct fsq_dquot *dquot);

/** @return  whether there is a limit */
bool fsq_prune_is_limited(const struct fsq_dquot *dquot);

/** @return  whether there is use or a limit */
bool fsq_prune_has_anything(const struct fsq_dquot *dquot);

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
 * Look again with the locks, remove it unless it is kept, and tell.
 *
 * @volume   NULL for a name
 * @return   0; 1 the visitor wants no more; or a failure
 */
int fsq_prune_settle(struct fsq_prune *p, const struct fsq_volume *volume,
		     struct fsq_leftover *leftover);

#endif
