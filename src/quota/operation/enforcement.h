/* SPDX-License-Identifier: Apache-2.0 */
/* Does a limit stop a writer? */
#ifndef FSQ_ENFORCEMENT_H
#define FSQ_ENFORCEMENT_H

#include <sys/stat.h>

#include "quota/mounts/place.h"

/**
 * Find out who is stopped at the limits of a directory.
 *
 * @directory of which fsq_place_read_project() has read the project
 * @made     owner and mode of the directory, if it would be made in @directory; or NULL
 * @enforcement set on success
 * @space    set on success: the size of the filesystem in bytes, 0 where the kernel gives only that
 * of a project above it
 * @return   0; FSQ_E_NOT_SUPPORTED there is no project quota; FSQ_E_FAILED
 * Source: quotactl(2), Q_XGETQSTATV; fstatfs(2); capabilities(7), CAP_SYS_RESOURCE
 */
int fsq_enforcement_get(struct fsq_place *directory, const struct stat *made,
			enum fsq_enforcement *enforcement, uint64_t *space, struct fsq_error *err);

#endif
