/* SPDX-License-Identifier: Apache-2.0 */
/* A quota taken off one directory that exists. */
#ifndef FSQ_RELEASE_DIRECTORY_H
#define FSQ_RELEASE_DIRECTORY_H

#include "quota/fsquota.h"

/**
 * As fsq_release() of a directory.
 *
 * @names    with the last directory of the project go its names: by the line it is found again, if this
 *           process is killed
 * @return   as fsq_release(); FSQ_E_NOT_FOUND with an errno: it cannot be opened
 */
int fsq_release_directory(const struct fsq_release_request *request, bool names,
			  struct fsq_released *released, struct fsq_error *err);

#endif
