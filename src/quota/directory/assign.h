/* SPDX-License-Identifier: Apache-2.0 */
/* What a request of fsq_assign() asks for. */
#ifndef FSQ_ASSIGN_H
#define FSQ_ASSIGN_H

#include "quota/fsquota.h"

/**
 * Copy a request of any size, with all limits in @limits.
 *
 * @return   as fsq_read_request(); FSQ_E_USAGE it contradicts itself
 */
int fsq_assign_read_request(struct fsq_assign_request *all,
			    const struct fsq_assign_request *request, struct fsq_error *err);

#endif
