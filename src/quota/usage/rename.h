/* SPDX-License-Identifier: Apache-2.0 */
/* Whether files can be renamed and linked from one directory to another, and why not. */
#ifndef FSQ_RENAME_H
#define FSQ_RENAME_H

#include <stdint.h>

#include "quota/fsquota.h"

enum fsq_rename {
	FSQ_RENAME_YES,
	FSQ_RENAME_OTHER_FILESYSTEM,
	FSQ_RENAME_OTHER_MOUNT, /* of the same filesystem */
	FSQ_RENAME_OTHER_PROJECT,
	FSQ_RENAME_UNKNOWN, /* another filesystem answers, such as that of a server */
};

/* Of both directions: the project of a directory stops what comes in. */
struct fsq_renames {
	enum fsq_rename there, back;
	uint32_t id_from, id_to; /* that the directories carry */
};

/**
 * Find out what link(2) and rename(2) say of files between two directories that carry their directory's ID. Permissions
 * are not asked.
 *
 * @from, @to  as named by the caller
 * @renames  filled on success
 * @return   0; as fsq_usage_get() for who cannot be opened
 * Source: rename(2), EXDEV; statx(2), ioctl_xfs_fsgetxattr(2)
 */
int fsq_rename_between(const char *from, const char *to, struct fsq_renames *renames,
		       struct fsq_error *err);

#endif
