/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A quota put on a directory, and taken off again: wholly or not at all.
 *
 * The order is: claim an ID by giving it to the directory, under the locks of both files; see that
 * nobody else has it; set the limits; give it to what is in the directory; register. The directory
 * itself comes first because it is the one place where a run that was killed is found again: no ID
 * is lost, as it would be with a limit that nothing refers to. The line in the projects file comes
 * last, and says that all is done.
 */
#ifndef FSQ_ASSIGN_H
#define FSQ_ASSIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "allocate.h"
#include "directory.h"
#include "enforcement.h"
#include "error.h"
#include "kernel.h"
#include "owner.h"
#include "project_edit.h"
#include "tree_walk.h"

struct fsq_assign_request {
	const char *directory;
	/* With a name: of the project; without: volume<ID>, as kubelet has it. */
	struct fsq_claim claim;
	struct fsq_limits limits; /* of blocks and inodes; what is not in the mask stays */
	bool unlimited;		  /* accounting only: KEP-1029's largest value */
	bool require_enforced;	  /* limits that stop nobody are an error */
	struct fsq_id_range range;
	struct fsq_registry registry;
	const struct fsq_walk_manner *manner; /* of walking what is in it, or NULL */
	bool dry_run;			      /* only find out what the ID would be */
};

/* An assignment that has been made, and can still be undone. */
struct fsq_assignment;

/**
 * Put a quota on a directory. Again on the same one: nothing changes but the limits that are asked
 * for, and what its owner has set otherwise is put right. A new project without any limit is
 * unlimited. Until fsq_assignment_free() SIGHUP, SIGINT and SIGTERM wait; one that comes in the
 * middle of it undoes all.
 *
 * @assignment set, also on failure, to be freed with fsq_assignment_free(); only on success there
 *           is something to be undone
 * @return   0; on any failure nothing has changed:
 *           FSQ_E_USAGE           no directory, or a soft limit above the hard one
 *           FSQ_E_NOT_SUPPORTED   no project quota on this filesystem; limits are not enforced
 *           FSQ_E_PERMISSION      no CAP_SYS_ADMIN in the initial user namespace, or a file of /etc
 *           FSQ_E_NOT_FOUND       no such directory
 *           FSQ_E_CONFLICT        it has another ID or name, something in it has another ID, or
 *                                 there is no unused ID
 *           FSQ_E_FAILED          I/O, memory, no space; EINTR by a signal
 * Source: KEP-1029, "Operation Flow -- Applying a Quota"
 */
int fsq_assign(struct fsq_assignment **assignment, const struct fsq_assign_request *request,
	       struct fsq_error *err);

/** @return  the project ID of an assignment */
uint32_t fsq_assignment_id(const struct fsq_assignment *assignment);

/** @return  who is stopped at the limits of an assignment */
enum fsq_enforcement fsq_assignment_enforcement(const struct fsq_assignment *assignment);

/** @return  the size of the filesystem in bytes; 0 unless a limit of space was asked for */
uint64_t fsq_assignment_space(const struct fsq_assignment *assignment);

/**
 * Undo it: the caller could not tell anybody.
 *
 * @return   0, or what could not be undone: the lines in the files, if somebody holds their locks
 */
int fsq_assignment_undo(struct fsq_assignment *assignment, struct fsq_error *err);

void fsq_assignment_free(struct fsq_assignment *assignment);

#endif
