/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing a project ID that nobody has. */
#ifndef FSQ_ALLOCATE_H
#define FSQ_ALLOCATE_H

#include "quota/mounts/handle.h"
#include "quota/registry/project_edit.h"

/**
 * Choose the range of a request: its own, or kubelet's; but a registry that kubelet does not see
 * has its IDs out of kubelet's way, which gives up when it finds 128 in use that /etc does not
 * have.
 *
 * @range    of the request, all 0 for the usual one
 */
struct fsq_id_range fsq_allocate_range(const struct fsq_id_range *range,
				       const struct fsq_registry *registry);

/**
 * Find an ID that is in neither file and has neither limits nor use in the kernel.
 *
 * Mostly the first of the range is free. Where the kernel has IDs that the files do not know, the
 * steps grow fourfold until a free ID is found; a binary search between the last ID in use and this
 * one then finds one near to the former. So the IDs stay close together, and 5000 unknown IDs cost
 * fewer than 20 calls. When the steps leave the range, its IDs are tried one by one.
 *
 * A process that counts up from an ID of its own asks nobody. So where all IDs of ours have lines, none is
 * given out near one that has inodes and no line, or in the room after a container store.
 *
 * @directory that gets it
 * @edit     both files, locked: nobody else takes the ID before it shows in the kernel
 * @range    where to look
 * @registers the IDs of the range have lines, those from 2097153 on excepted, unless it begins there
 * @return   0; FSQ_E_CONFLICT all are taken; FSQ_E_PERMISSION, FSQ_E_NOT_SUPPORTED or FSQ_E_FAILED
 *           when the kernel does not tell
 * Source: KEP-1029, "Selecting a Project ID"; quotactl(2), Q_XGETNEXTQUOTA
 */
int fsq_allocate_id(struct fsq_handle *directory, const struct fsq_project_edit *edit,
		    const struct fsq_id_range *range, bool registers, uint32_t *id,
		    struct fsq_error *err);

/**
 * Find the ID of a container store: the first one in its band with room after it, where neither file has
 * an ID and the kernel counts and limits none.
 *
 * @return   0; -EBUSY there is no such room; another negative errno when the kernel does not tell
 * Source: quotactl(2), Q_XGETNEXTQUOTA
 */
int fsq_allocate_store_id(struct fsq_target *target, const struct fsq_project_edit *edit,
			  uint32_t *id);

#endif
