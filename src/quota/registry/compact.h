/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FSQ_COMPACT_H
#define FSQ_COMPACT_H

#include "project_list.h"

/**
 * Cut off what is switched off, before a list that was written is closed; what somebody else has open keeps its length.
 * Where much of it is switched off, the last entries move into that space first: other programs add their lines at the
 * end, and the space before them would stay.
 *
 * Who is killed, or loses power, leaves an entry twice, which means the same; the next call takes one away.
 *
 * @list     after fsq_project_list_settle()
 */
void fsq_project_list_shorten(struct fsq_project_list *list);

#endif
