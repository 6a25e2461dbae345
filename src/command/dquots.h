/* SPDX-License-Identifier: Apache-2.0 */
/* Quota records: every one of a filesystem, and as rows. */
#ifndef FSQ_DQUOTS_H
#define FSQ_DQUOTS_H

#include "session.h"
#include "output/rows.h"
#include "quota/fsquota.h"

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
 * @return   whether these were all; else an error was reported
 */
bool dquots_each(struct session *session, struct fsq_filesystem *fs,
		 const struct dquot_range *range,
		 void (*visit)(const struct fsq_dquot *dquot, void *arg), void *arg);

/**
 * @expires  end of a grace time in seconds since 1970, or 0: it does not run
 * @now      as for dquot_to_row()
 * @return   seconds that are left, or ROW_NO_GRACE
 */
int64_t dquot_grace_left(int64_t expires, int64_t *now);

/**
 * A quota record as a row. In xfs_quota mode ID 0 has the grace times that xfs_quota shows.
 *
 * @now      seconds since 1970, or 0: then it is set when the first grace time asks for it
 */
void dquot_to_row(const struct session *session, const struct fsq_dquot *dquot, int64_t *now,
		  struct amounts_row row[]);

/** Is all use in the selected forms zero? */
bool row_is_unused(const struct row_style *style, const struct amounts_row row[]);

/** Is there a limit in the selected forms? */
bool row_has_limits(const struct row_style *style, const struct amounts_row row[]);

#endif
