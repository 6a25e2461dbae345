/* SPDX-License-Identifier: Apache-2.0 */
/* How far a walk has come, on standard error. */
#ifndef FSQ_PROGRESS_TEXT_H
#define FSQ_PROGRESS_TEXT_H

#include <stdbool.h>
#include <stdint.h>

struct progress_row {
	uint64_t entries;
	uint64_t entries_per_second;
	const char *path; /* where it is, without control characters; NULL at the end */
};

/**
 * Show a row.
 *
 * @columns  of the terminal, on which the line replaces the last one; 0: a line of its own
 */
void progress_text_show(const struct progress_row *row, unsigned int columns);

/** Take the line off the terminal. */
void progress_text_clear(void);

#endif
