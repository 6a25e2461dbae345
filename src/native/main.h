/* SPDX-License-Identifier: Apache-2.0 */
/* The native program: fsquota COMMAND [OPTIONS] [PATH]. */
#ifndef FSQ_NATIVE_MAIN_H
#define FSQ_NATIVE_MAIN_H

#include "session.h"

/** A session with all commands, which prints to @out; its run() runs one. */
struct session native_session(struct writer *out);

/** @return  an exit code of fsquota(8): 0, or the absolute value of an FSQ_E_ code */
int native_main(int argc, char **argv);

#endif
