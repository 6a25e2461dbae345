/* SPDX-License-Identifier: Apache-2.0 */
/* Values as xfs_quota shows them to people: sizes with a letter, grace times. */
#ifndef FSQ_CELLS_H
#define FSQ_CELLS_H

#include <stdbool.h>
#include <stdint.h>

#define CELL 48

/** 512-byte blocks in the largest of K, M, G, T, P, E they reach, e.g. "10M" or "1.5G". */
void cell_blocks(char cell[CELL], uint64_t blocks);

/** Inodes in the largest power of 1000 they exceed: k, m, b(illion), t, g, r. */
void cell_inodes(char cell[CELL], uint64_t inodes);

/**
 * "[7 days]", "[3 days 04:05:06]" or "[04:05:06]".
 *
 * @seconds  what is left or configured, or ROW_NO_GRACE
 * @exact    for configured times: no rounding, days and hours
 * @human    the narrow layout
 */
void cell_grace(char cell[CELL], int64_t seconds, bool exact, bool human);

#endif
