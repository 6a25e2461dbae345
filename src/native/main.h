/* SPDX-License-Identifier: Apache-2.0 */
/* The native door: fsquota COMMAND [OPTIONS] [PATH]. */
#ifndef FSQ_FRONTEND_NATIVE_H
#define FSQ_FRONTEND_NATIVE_H

#include "session.h"

/** A session at this door, which prints to @out. */
struct session native_session(struct writer *out);

/**
 * Run a command; the exit code is the session's status.
 *
 * @words    the command and its words, or options and the command; put into another order. NULL
 *           stands behind the last
 */
void native_run(struct session *session, int count, char **words);

/** @return  an exit code of fsquota(8): 0, or the absolute value of an FSQ_E_ code */
int native_main(int argc, char **argv);

#endif
