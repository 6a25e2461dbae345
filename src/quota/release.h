/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking a quota off a directory, wholly or not at all.
 *
 * The directory stops handing on its ID, and what is in it loses it; again, as long as the kernel
 * counts more. Then, under the locks of both files, go the limits, the ID of the directory itself,
 * and last the lines: a run that was killed is found by them.
 */
#ifndef FSQ_RELEASE_H
#define FSQ_RELEASE_H

#include <signal.h>

#include "assign.h"

struct fsq_release_request {
	const char *directory;
	struct fsq_claim claim; /* no name */
	bool keep_tags;		/* do not walk: the directory is about to be deleted */
	struct fsq_registry registry;
	const struct fsq_walk_manner *manner; /* of walking what is in it, or NULL */
	bool dry_run;			      /* only find out whether there is one */
};

struct fsq_released {
	uint32_t id;
	/* Inodes that still have the ID: deleted but open, of other names outside of the directory,
	 * or of a kind that the kernel does not change. Until they are gone nobody gets the ID. */
	uint64_t left_inodes;
};

/**
 * Take the quota off a directory, whoever put it there. What is in it belongs to no project then,
 * or to that of the directory above; if it was the last directory of the project its limits and
 * names go, too.
 *
 * @released filled on success
 * @signals_before set: SIGHUP, SIGINT and SIGTERM still wait. What came too late to undo it must
 *           not look as if it had, and what undid it can be told. For fsq_interrupt_restore(), or
 *           the end of the process
 * @return   0; FSQ_E_PARTIAL files that others move about keep the ID: the quota stays until the
 *           next release; on any other failure nothing has changed: FSQ_E_NOT_FOUND it has no quota
 *           of its own, and as fsq_assign()
 * Source: KEP-1029, "Operation Flow -- Removing a Quota"
 */
int fsq_release(const struct fsq_release_request *request, struct fsq_released *released,
		sigset_t *signals_before, struct fsq_error *err);

#endif
