/* SPDX-License-Identifier: Apache-2.0 */
/* What quota of a filesystem is switched on, as the commands state and enable show it. */
#ifndef FSQ_STATE_H
#define FSQ_STATE_H

#include "options.h"
#include "table/table.h"

extern const struct row_fields state_rows;

/** Print a row for each type that is selected, or for all if none is, of the current filesystem. */
void state_show(struct session *session, struct table *table, const bool types[FSQ_TYPES]);

#endif
