/* SPDX-License-Identifier: Apache-2.0 */
/* Grace times, which a filesystem has once for all of its projects. */
#ifndef FSQ_APPLY_GRACE_H
#define FSQ_APPLY_GRACE_H

#include "file.h"
#include "native/cli/session.h"

/**
 * Set the grace times of the filesystem that is mounted where a line says. Times that are right are not written.
 *
 * @entry    one of apply_list.graces
 * @before, @after  filled on success with all grace times, in a dry run as they would be
 * @return   0; FSQ_E_USAGE the directory is no mount point; FSQ_E_NOT_FOUND; FSQ_E_NOT_SUPPORTED there is no project quota;
 *           FSQ_E_PERMISSION; FSQ_E_FAILED
 */
int apply_grace_set(struct session *session, const struct apply_entry *entry,
		    struct fsq_timers *before, struct fsq_timers *after, struct fsq_error *err);

/** @return  whether grace times differ */
bool apply_grace_differs(const struct fsq_timers *before, const struct fsq_timers *after);

#endif
