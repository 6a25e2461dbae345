/* SPDX-License-Identifier: Apache-2.0 */
/* A larger or smaller quota in place; one call of the kernel, so all or nothing by itself. */
#ifndef FSQ_RESIZE_H
#define FSQ_RESIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"
#include "project_edit.h"
#include "owner.h"

struct fsq_resize_request {
	const char *directory;
	uint64_t bytes;	   /* the new hard limit */
	bool relative;	   /* rather what is added to it */
	bool allow_shrink; /* but never below what is in use */
	bool dry_run;
	struct fsq_claim claim; /* no name */
	struct fsq_registry registry;
	const struct fsq_walk_manner *manner; /* of walking what is in it, or NULL */
};

/**
 * Change the hard limit of space of the project of a directory: its own, or that of a registered
 * directory above it. A soft limit that was the same stays the same; one that would be above it
 * comes down to it.
 *
 * @return   0; FSQ_E_NOT_FOUND no such directory, or it belongs to no project; FSQ_E_CONFLICT it
 *           would be below use, or smaller, or there is no limit that could grow; FSQ_E_USAGE it
 *           would be too large; as fsq_directory_open(), fsq_owner_lock() and fsq_limits_set()
 * Source: KEP-284, growing persistent volumes
 */
int fsq_resize(const struct fsq_resize_request *request, struct fsq_error *err);

#endif
