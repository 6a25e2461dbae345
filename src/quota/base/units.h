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

/** @return  basic blocks as bytes, UINT64_MAX when they do not fit */
uint64_t fsq_block_bytes(uint64_t blocks);

#endif
