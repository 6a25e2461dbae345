/* SPDX-License-Identifier: Apache-2.0 */
/* Change limits only if nobody else has changed them. */
#ifndef FSQ_RESIZE_H
#define FSQ_RESIZE_H

#include "quota/fsquota.h"

/**
 * As fsq_resize(), if the project of the directory still has the limits that the caller knows.
 *
 * @from     these
 * @back     put these back instead of what @request says, also below what is in use, and whatever the budgets; if the
 *           project has them already, nothing is changed. NULL: do what @request says
 * @return   as fsq_resize(); FSQ_E_CONFLICT also if the limits are others
 */
int fsq_resize_from(const struct fsq_resize_request *request, const struct fsq_limits *from,
		    const struct fsq_limits *back, struct fsq_resized *resized,
		    struct fsq_error *err);

#endif
