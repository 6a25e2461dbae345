/* SPDX-License-Identifier: Apache-2.0 */
/* Does a limit stop a writer? */
#ifndef FSQ_ENFORCEMENT_H
#define FSQ_ENFORCEMENT_H

#include <stdint.h>

#include "directory.h"
#include "error.h"

enum fsq_enforcement {
	FSQ_ENFORCED,
	/* Nobody but root can write in the directory, and on ext4 and f2fs root passes every limit,
	 * having CAP_SYS_RESOURCE. XFS stops everybody. */
	FSQ_ENFORCED_BUT_FOR_ROOT,
	FSQ_NOT_ENFORCED, /* accounting only: pqnoenforce, or ext4 mounted without prjquota */
};

/**
 * Who is stopped at the limits of a directory?
 *
 * @directory of which fsq_directory_read_project() has read the project
 * @enforcement set on success
 * @space    set on success: the size of the filesystem in bytes, 0 where only that of a project
 *           above it is to be had
 * @return   0; FSQ_E_NOT_SUPPORTED there is no project quota; FSQ_E_FAILED
 * Source: quotactl(2), Q_XGETQSTATV; fstatfs(2); capabilities(7), CAP_SYS_RESOURCE
 */
int fsq_enforcement_get(struct fsq_directory *directory, enum fsq_enforcement *enforcement,
			uint64_t *space, struct fsq_error *err);

#endif
