/* SPDX-License-Identifier: Apache-2.0 */
/* What a request of fsq_assign() asks for. */
#ifndef FSQ_ASSIGN_H
#define FSQ_ASSIGN_H

#include "quota/fsquota.h"

/* What a directory is to a store of Docker or Podman, whose containers get the IDs that follow its own. */
enum fsq_store_relation {
	FSQ_STORE_NONE,
	FSQ_STORE_HOLDS,   /* it is a store, or holds one */
	FSQ_STORE_LIES_IN, /* it is where the containers or volumes of one are */
};

/**
 * Copy a request of any size, with all limits in @limits.
 *
 * @return   as fsq_check_size(); FSQ_E_USAGE it contradicts itself
 */
int fsq_assign_read_request(struct fsq_assign_request *all,
			    const struct fsq_assign_request *request, struct fsq_error *err);

/**
 * Read both files again, if somebody else has changed them.
 *
 * @return   as fsq_assigned_open()
 */
int fsq_assigned_refresh(struct fsq_assigned *assigned, const struct fsq_registry *registry,
			 struct fsq_error *err);

/** @return  whether the directory of a request is registered, and its project has limits */
bool fsq_assigned_has_limits(struct fsq_assigned *assigned,
			     const struct fsq_assign_request *request);

/** Called before a directory that gets a quota is registered; @id is its project. A failure undoes the assignment. */
struct fsq_assign_note {
	int (*write)(void *arg, uint32_t id, struct fsq_error *err);
	void *arg;
};

/**
 * As fsq_assign().
 *
 * @note     called with the locks of the registry, unless fsq_assignment_change() is not FSQ_CREATED, or in a dry run
 */
int fsq_assign_noted(struct fsq_assignment **out, const struct fsq_assign_request *request,
		     const struct fsq_assign_note *note, struct fsq_error *err);

/** @return  size of the file system in bytes; 0 when no limit was asked for, or not known */
uint64_t fsq_assignment_space(const struct fsq_assignment *assignment);

/**
 * @return   inodes that had the ID already when the directory was made: the registered one was renamed, or files of it
 *           are open
 */
uint64_t fsq_assignment_elsewhere(const struct fsq_assignment *assignment);

/** @return  the project to which the directory belonged, as what is in that one's directory does; 0: none */
uint32_t fsq_assignment_outer(const struct fsq_assignment *assignment);

/** @return  whether statfs(2) of the directory shows that nothing is left of its limits, or cannot tell */
bool fsq_assignment_may_be_full(const struct fsq_assignment *assignment);

/** @return  names of symlinks and special files in it that cannot carry the ID; 0: none, or they were not looked at */
uint64_t fsq_assignment_special(const struct fsq_assignment *assignment);

/**
 * @return   this, when it has got a new ID; FSQ_STORE_HOLDS also when it is registered, and other registered
 *           projects have IDs that follow its own
 */
enum fsq_store_relation fsq_assignment_store(const struct fsq_assignment *assignment);

/** @return  with the request's over_budget: a budget of it that is exceeded now, or NULL */
const struct fsq_budget *fsq_assignment_over_budget(const struct fsq_assignment *assignment);

#endif
