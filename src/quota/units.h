/* SPDX-License-Identifier: Apache-2.0 */
/* From the words people type to numbers: sizes, counts and IDs, all hostile until checked. */
#ifndef FSQ_UNITS_H
#define FSQ_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Quota limits travel in basic blocks. */
#define FSQ_BASIC_BLOCK 512U

/* KEP-1029's "accounting without a limit", in basic blocks; from the smaller one on there is none.
 */
#define FSQ_XFS_UNLIMITED_BLOCKS ((1ULL << 54) - 1)
#define FSQ_UNLIMITED_BLOCKS ((1ULL << 49) - 1)

/**
 * Parse a size: a number as strtoll(3) with base 0 takes it, and one of the suffixes
 * b (4096), s (512), k, m, g, t, p, e (powers of 1024) in either case.
 *
 * @text     the words, e.g. "10m"
 * @bytes    filled on success
 * @return   0, or -EINVAL for what is no size or negative, -ERANGE for more than 2^63-1
 * Source: xfs_quota(8)
 */
int fsq_parse_size(const char *text, uint64_t *bytes);

/**
 * Parse a size as people and orchestrators write it: decimal digits, and K, M, G, T, P or E in
 * either case for powers of 1024, with i or iB behind it or not. Not 0, which would be no limit,
 * and below 2^58, which counts as none.
 *
 * @return   as fsq_parse_size()
 */
int fsq_parse_bytes(const char *text, uint64_t *bytes);

/**
 * Parse a number in decimal digits, not 0.
 *
 * @return   as fsq_parse_size()
 */
int fsq_parse_positive(const char *text, uint64_t *number);

/**
 * Parse a count of inodes: a number as strtoll(3) with base 0 takes it, without suffix.
 *
 * @return   as fsq_parse_size()
 */
int fsq_parse_count(const char *text, uint64_t *count);

/**
 * Parse a duration: a number as strtoll(3) with base 0 takes it, and one of the units m, minute,
 * minutes, h, hour, hours, d, day, days, w, week, weeks; without one it is in seconds.
 *
 * @return   as fsq_parse_size()
 */
int fsq_parse_duration(const char *text, uint64_t *seconds);

/**
 * Parse a numeric user, group or project ID, in decimal digits with an optional +.
 *
 * @return   0, -EINVAL when @text is not a number, -ERANGE when no ID can have it
 *           (negative, or above FSQ_ID_MAX)
 */
int fsq_parse_id(const char *text, uint32_t *id);

/**
 * Parse an ID as the projects and projid files have it: as fsq_parse_id(), with blanks around it.
 *
 * @text     need not end at @length
 */
int fsq_parse_listed_id(const char *text, size_t length, uint32_t *id);

/**
 * A limit in bytes as the basic blocks the kernel takes, rounded down but never to nothing:
 * 0 would mean "no limit".
 */
uint64_t fsq_limit_blocks(uint64_t bytes);

/** The same, rounded up. */
uint64_t fsq_limit_blocks_up(uint64_t bytes);

/**
 * What a limit of the kernel was when it was set: the bytes of those that stand for none are known
 * also when XFS has rounded them up; beyond them it is UINT64_MAX.
 */
uint64_t fsq_limit_bytes(uint64_t blocks);

/** @return  whether a limit in bytes would count as none, though it is none of those that mean it
 */
bool fsq_limit_is_lost(uint64_t bytes);

#endif
