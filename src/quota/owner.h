/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which project is a directory's own? Its owner may give it any project ID, that of somebody else
 * among them, so what it carries proves nothing. /etc/projects decides. Without a line there, the
 * ID is the directory's when all inodes that have it are in the directory; otherwise the caller
 * must insist on it.
 */
#ifndef FSQ_OWNER_H
#define FSQ_OWNER_H

#include <stdbool.h>
#include <stdint.h>

#include "directory.h"
#include "error.h"
#include "project_edit.h"
#include "tree_walk.h"

/* What the caller insists on. */
struct fsq_claim {
	bool has_id;
	uint32_t id;
	const char *name; /* of the project, or NULL */
};

struct fsq_owner {
	uint32_t id; /* 0: the directory has no project of its own */
	bool listed; /* in the projects file */
	/* What is neither listed nor proven; nobody insisted on it, but on another. */
	bool disputed;
};

/**
 * Lock both files, read the directory's project, and decide. Where the tree has to be walked the
 * locks are dropped meanwhile: kubelet may want them.
 *
 * @edit     both files; locked on success
 * @claim    an ID or name that the directory carries is believed
 * @owner    filled on success
 * @return   0; FSQ_E_CONFLICT it carries an ID that is not proven to be its own; as
 *           fsq_project_edit_lock(), fsq_directory_read_project() and fsq_tree_account()
 */
int fsq_owner_lock(struct fsq_directory *directory, struct fsq_project_edit *edit,
		   const struct fsq_claim *claim, const struct fsq_walk_manner *manner,
		   struct fsq_owner *owner, struct fsq_error *err);

#endif
