/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing a project ID that nobody has. */
#ifndef FSQ_ALLOCATE_H
#define FSQ_ALLOCATE_H

#include <stdint.h>

#include "error.h"
#include "kernel.h"
#include "project_edit.h"

/* The IDs to choose from. */
struct fsq_id_range {
	uint32_t first;
	uint32_t last;
};

/* Kubelet's first, and the highest there can be. */
#define FSQ_ID_RANGE_FIRST 1048577U
#define FSQ_ID_RANGE_LAST FSQ_ID_MAX
/* The first of what is not registered in /etc, and so out of kubelet's way. */
#define FSQ_ID_RANGE_UNSEEN_FIRST 2097153U

/**
 * Find an ID that is in neither file and has neither limits nor use in the kernel.
 *
 * The first of the range is tried; where the kernel has IDs that the files do not know the steps
 * become larger, and from the first that is free we go back towards the last that is not. So the
 * IDs stay close together, and 5000 strangers cost fewer than 20 calls.
 *
 * @edit     both files, locked: until the ID shows in the kernel nobody else takes it
 * @range    where to look; @range->first is not 0
 * @return   0; FSQ_E_CONFLICT when all are taken; FSQ_E_PERMISSION, FSQ_E_NOT_SUPPORTED or
 *           FSQ_E_FAILED when the kernel does not tell
 * Source: KEP-1029, "Selecting a Project ID"; quotactl(2), Q_XGETNEXTQUOTA
 */
int fsq_allocate_id(const struct fsq_target *target, const struct fsq_project_edit *edit,
		    const struct fsq_id_range *range, uint32_t *id, struct fsq_error *err);

/**
 * Parse a range, "FIRST-LAST".
 *
 * @return   0 or -EINVAL: not of that form, 0 in it, or the last before the first
 */
int fsq_parse_id_range(const char *text, struct fsq_id_range *range);

#endif
