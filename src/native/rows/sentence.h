/* SPDX-License-Identifier: Apache-2.0 */
/* A row of list, check or usage as a sentence, for a person or a monitor. */
#ifndef FSQ_SENTENCE_H
#define FSQ_SENTENCE_H

#include "projects.h"
#include "shared/writer.h"

/** The limit that stops first, hard or else soft, or as statfs(2) shows it; 0: there is none. */
uint64_t sentence_limit(const struct project_row *row, enum fsq_form form);

/** @return  what a row is called: its directory, or else its name */
const char *sentence_name(const struct project_row *row);

/**
 * Write such as "/srv/web: 9.5G of 10G (95%), full in 3h, above 8G; grace for 6d". Space is always in it, inodes are where
 * they are nearer to their limit, and there is no newline.
 */
void sentence_write(struct writer *w, const struct project_row *row);

#endif
