/* SPDX-License-Identifier: Apache-2.0 */
/* The native door: fsquota COMMAND [OPTIONS] [PATH]. */
#ifndef FSQ_FRONTEND_NATIVE_H
#define FSQ_FRONTEND_NATIVE_H

/** @return  an exit code of fsquota(8): 0, or the absolute value of an FSQ_E_ code */
int native_main(int argc, char **argv);

#endif
