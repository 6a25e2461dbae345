/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FSQ_COMPACT_H
#define FSQ_COMPACT_H

#include "project_list.h"

/**
 * Where much of a list is switched off, move its last entries into that space, so that fsq_project_list_tidy() can cut
 * off the end: other programs add their lines there, and what is switched off would stay in the middle.
 *
 * Who is killed, or loses power, leaves an entry twice, which means the same; the next call takes one away.
 *
 * @list     after fsq_project_list_settle()
 */
void fsq_project_list_compact(struct fsq_project_list *list);

#endif
