/* SPDX-License-Identifier: Apache-2.0 */
/* A project released by its ID: its directories may be gone. */
#ifndef FSQ_RELEASE_PROJECT_H
#define FSQ_RELEASE_PROJECT_H

#include "quota/fsquota.h"

/**
 * As fsq_release() of a directory.
 *
 * @names    with the last directory of the project go its names: by the line it is found again, if this
 *           process is killed
 */
int fsq_release_directory(const struct fsq_release_request *request, bool names,
			  struct fsq_released *released, struct fsq_error *err);

/** As fsq_release() without a directory. The names go last: by them it is found again. */
int fsq_release_project(const struct fsq_release_request *request, struct fsq_released *released,
			struct fsq_error *err);

/**
 * A registered directory that carries another ID than that of its line: was its release killed, or may it
 * be the place of a file system that is not mounted?
 *
 * @return   0 it is the directory of the line; FSQ_E_NOT_FOUND that is in doubt; or a failure
 */
int fsq_release_check_mounted(const struct fsq_release_request *request, const char *directory,
			      uint32_t id, struct fsq_error *err);

/**
 * Look what earlier dry runs would have released.
 *
 * @directory or NULL
 * @untagged  set to how many inodes of @id would have lost it
 * @return    whether @directory is among it
 */
bool fsq_release_is_planned(const struct fsq_release_request *request, const char *directory,
			    uint32_t id, uint64_t *untagged);

/**
 * As fsq_release() of a directory that is not there any more, but is registered.
 *
 * @err      filled by the failure to open it; another failure replaces that
 * @return   as fsq_release(); FSQ_E_NOT_FOUND also when it is not registered
 */
int fsq_release_gone(const struct fsq_release_request *request, struct fsq_released *released,
		     struct fsq_error *err);

#endif
