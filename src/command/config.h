/* SPDX-License-Identifier: Apache-2.0 */
/* /etc/fsquota.conf: what a node wants otherwise, "KEY = VALUE" a line, # for comments. */
#ifndef FSQ_CONFIG_H
#define FSQ_CONFIG_H

#include "quota/allocate.h"
#include "session.h"

#define FSQ_CONFIG_FILE "/etc/fsquota.conf"

/**
 * The range of project IDs to choose from, "id-range = FIRST-LAST".
 *
 * @range    left as it is where nothing is configured
 * @return   false when the file is wrong; the user has been told
 */
bool config_id_range(struct session *session, struct fsq_id_range *range);

#endif
