/* SPDX-License-Identifier: Apache-2.0 */
/* /etc/projects and /etc/projid, read without a lock: besides what fsquota.h declares. */
#ifndef FSQ_PROJECT_FILES_H
#define FSQ_PROJECT_FILES_H

#include "quota/fsquota.h"

/**
 * Look for a directory in a projects file.
 *
 * @directory absolute and without symlinks
 * @id       set to its first ID, or to 0 when it is not in the file, or the file does not exist
 * @return   0, or FSQ_E_FAILED or FSQ_E_PERMISSION when the file cannot be read
 */
int fsq_projects_id_of(const char *file, const char *directory, uint32_t *id,
		       struct fsq_error *err);

#endif
