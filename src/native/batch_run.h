/* SPDX-License-Identifier: Apache-2.0 */
/* Commands from standard input, an answer for each: see fsquota-batch(8). */
#ifndef FSQ_FRONTEND_BATCH_H
#define FSQ_FRONTEND_BATCH_H

#include "session.h"

/** Answer requests until standard input ends. @session holds the defaults of each. */
void batch_run(struct session *session);

#endif
