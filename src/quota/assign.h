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
#include "error.h"
#include "kernel.h"
#include "tree_walk.h"

/* Where to register, and whether. */
struct fsq_registry {
	const char *projects_file;
	const char *projid_file;
	bool none; /* only look: IDs in them are not taken */
};

struct fsq_assign_request {
	const char *directory;
	const char *name; /* of the project; NULL: volume<ID>, as kubelet has it */
	bool has_id;	  /* insist on @id */
	uint32_t id;
	struct fsq_limits limits; /* of blocks and inodes; what is not in the mask stays */
	bool unlimited;		  /* accounting only: KEP-1029's largest value */
	struct fsq_id_range range;
	struct fsq_registry registry;
	const struct fsq_walk_manner *manner; /* of walking what is in it, or NULL */
	bool dry_run;			      /* only find out what the ID would be */
};

/* An assignment that has been made, and can still be undone. */
struct fsq_assignment;

/**
 * Put a quota on a directory. Again on the same one: nothing changes but the limits that are asked
 * for. A new project without any is unlimited. Until fsq_assignment_free() SIGHUP, SIGINT and
 * SIGTERM wait; one that comes in the middle of it undoes all.
 *
 * @assignment set, also on failure, to be freed with fsq_assignment_free(); only on success there
 *           is something to be undone
 * @return   0; on any failure nothing has changed:
 *           FSQ_E_USAGE           no directory, or a soft limit above the hard one
 *           FSQ_E_NOT_SUPPORTED   no project quota on this filesystem
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

/** Undo it: the caller could not tell anybody. */
void fsq_assignment_undo(struct fsq_assignment *assignment);

void fsq_assignment_free(struct fsq_assignment *assignment);

/**
 * The project that a directory has of its own, not only from the directory above.
 *
 * @edit     both files, locked
 * @listed   set: is the directory in the projects file?
 * @id       set to 0 when it has none
 * @return   0 or FSQ_E_CONFLICT: it carries another ID than the file says
 */
int fsq_assigned_id(const struct fsq_directory *directory, const struct fsq_project_edit *edit,
		    bool *listed, uint32_t *id, struct fsq_error *err);

#endif
