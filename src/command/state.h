/* SPDX-License-Identifier: Apache-2.0 */
/* What quota of a filesystem is switched on, as the commands state and enable show it. */
#ifndef FSQ_STATE_H
#define FSQ_STATE_H

#include "options.h"
#include "session.h"

/**
 * Show the state of the selected types, or all if none is.
 *
 * @verbose  also say where there is none
 */
void state_show(struct session *session, const bool types[FSQ_TYPES], const struct path_entry *path,
		bool verbose);

#endif
