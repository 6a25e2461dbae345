/* SPDX-License-Identifier: Apache-2.0 */
/* Use, limits and grace times in the layout of xfs_quota. */
#ifndef FSQ_XFS_QUOTA_AMOUNTS_H
#define FSQ_XFS_QUOTA_AMOUNTS_H

#include "quota/fsquota.h"
#include "shared/writer.h"

/* How a table is printed. */
struct style {
	bool form[FSQ_FORMS]; /* -b, -i, -r; at least one */
	bool human;	      /* -h: sizes with a letter */
	bool numeric;	      /* -n: IDs instead of names */
	bool header;	      /* without -N */
};

#define XQ_CELL 48

/** 512-byte blocks in the largest of K, M, G, T, P, E they reach, e.g. "10M" or "1.5G". */
void xq_cell_blocks(char cell[XQ_CELL], uint64_t blocks);

/** Inodes in the largest power of 1000 they exceed: k, m, b(illion), t, g, r. */
void xq_cell_inodes(char cell[XQ_CELL], uint64_t inodes);

#define XQ_NO_GRACE (-1)

/**
 * "[7 days]", "[3 days 04:05:06]" or "[04:05:06]".
 *
 * @seconds  what is left or configured, or XQ_NO_GRACE
 * @exact    for configured times: no rounding, days and hours
 * @human    the narrow layout
 */
void xq_cell_grace(char cell[XQ_CELL], int64_t seconds, bool exact, bool human);

/** Write three columns: amounts of @form, in KiB or inodes, or for people. */
void xq_write_columns(struct writer *to, enum fsq_form form, bool human, uint64_t first,
		      uint64_t second, uint64_t third);

/**
 * Write use, limits, warnings and grace time of one form.
 *
 * @gap      blanks before the warnings
 * @now      seconds since 1970, or 0: set when the first grace time needs it
 */
void xq_write_amounts(struct writer *to, enum fsq_form form, bool human,
		      const struct fsq_amounts *amounts, size_t gap, int64_t *now);

/** @return  whether nothing is used, in the forms of @style */
bool xq_is_unused(const struct style *style, const struct fsq_dquot *dquot);

/** @return  whether there is a limit, in the forms of @style */
bool xq_has_limits(const struct style *style, const struct fsq_dquot *dquot);

#endif
