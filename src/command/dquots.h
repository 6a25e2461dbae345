/* SPDX-License-Identifier: Apache-2.0 */
/* Every quota record of a filesystem, for report and dump. */
#ifndef FSQ_DQUOTS_H
#define FSQ_DQUOTS_H

#include "session.h"

struct dquot_range {
	enum fsq_type type;
	uint32_t lower;
	uint32_t upper;	    /* 0: no bound */
	bool zero_is_known; /* project 0 is tried even if it has no name, should IDs be guessed */
};

/**
 * Call @visit for each record in the order of IDs. Where the kernel cannot tell the next ID, or
 * the user may not ask, the IDs of the user, group or projid database are tried instead.
 *
 * @return   whether these were all; else the user has been told
 */
bool dquots_each(struct session *session, const struct fsq_filesystem *fs,
		 const struct dquot_range *range,
		 void (*visit)(const struct fsq_dquot *dquot, void *arg), void *arg);

#endif
