/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and IDs, besides what fsquota.h declares. */
#ifndef FSQ_UNITS_H
#define FSQ_UNITS_H

#include "quota/fsquota.h"

/* KEP-1029's limits for accounting without one, in basic blocks: on XFS, and on ext4 and f2fs. */
#define FSQ_XFS_UNLIMITED_BLOCKS ((1ULL << 54) - 1)
#define FSQ_UNLIMITED_BLOCKS ((1ULL << 49) - 1)

/**
 * Parse an ID as the projects and projid files have it: as fsq_parse_id(), with blanks around it.
 *
 * @text     which no NUL need end
 */
int fsq_parse_listed_id(const char *text, size_t length, uint32_t *id);

/** Write basic blocks for people: "10G (10737418240 bytes)". @return  @text */
#define FSQ_SIZE_TEXT 64
const char *fsq_size_text(char text[FSQ_SIZE_TEXT], uint64_t blocks);

/** @return  a limit in basic blocks or inodes; 0 if it stops nobody */
static inline uint64_t fsq_limit_or_0(uint64_t limit)
{
	return fsq_limit_is_none(limit) ? 0 : limit;
}

/** @return  basic blocks as bytes, UINT64_MAX when they do not fit */
uint64_t fsq_block_bytes(uint64_t blocks);

/**
 * Parse a size as xfs_quota does: a number as strtoll(3) with base 0 takes it, and one of the
 * suffixes b (4096), s (512), k, m, g, t, p, e (powers of 1024) in either case.
 *
 * @text     for example "10m"
 * @bytes    set on success
 * @return   0; -EINVAL no size, or negative; -ERANGE more than 2^63-1
 * Source: xfs_quota(8)
 */
int fsq_parse_size(const char *text, uint64_t *bytes);

/**
 * Parse a number of inodes: as strtoll(3) with base 0 takes it, without suffix.
 *
 * @return   as fsq_parse_size()
 */
int fsq_parse_count(const char *text, uint64_t *count);

/**
 * Parse a duration: a number as strtoll(3) with base 0 takes it, in seconds or with one of the
 * units m, minute, minutes, h, hour, hours, d, day, days, w, week, weeks.
 *
 * @return   as fsq_parse_size()
 */
int fsq_parse_duration(const char *text, uint64_t *seconds);

/**
 * Parse a range of project IDs, "FIRST-LAST".
 *
 * @return   0; -EINVAL another form, an ID that is 0, or LAST below FIRST
 */
int fsq_parse_id_range(const char *text, struct fsq_id_range *range);

/**
 * Convert a limit to basic blocks, rounded down but never to 0, which would mean no limit.
 */
uint64_t fsq_limit_blocks(uint64_t bytes);

/**
 * @return   whether a limit in bytes would count as none although it is not one of the two values
 *           that mean it
 */
bool fsq_limit_is_lost(uint64_t bytes);

#endif
