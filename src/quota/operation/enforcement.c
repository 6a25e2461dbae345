/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcement.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "quota/base/error.h"
#include "quota/kernel/fs_type.h"

static bool is_only_for_root(int fd, const struct stat *made)
{
	struct stat st;

	if (made)
		st = *made;
	else if (fstat(fd, &st))
		return false;
	return st.st_uid == 0 && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

int fsq_enforcement_get(struct fsq_place *directory, const struct stat *made,
			enum fsq_enforcement *enforcement, uint64_t *space, struct fsq_error *err)
{
	struct statfs sfs;
	bool enforced;
	int rc = fsq_place_check_quota(directory, &enforced, err);

	if (rc)
		return rc;
	if (fstatfs(directory->target.fd, &sfs))
		return fsq_fail(err, FSQ_E_FAILED, errno, directory->path,
				"cannot ask the filesystem");
	/* Below a directory that hands on its project statfs(2) gives the project's limit. */
	*space = directory->project.inherit ? 0 : (uint64_t)sfs.f_bsize * sfs.f_blocks;
	*enforcement = FSQ_ENFORCED;
	if (!enforced)
		*enforcement = FSQ_NOT_ENFORCED;
	else if (sfs.f_type != XFS_SUPER_MAGIC && is_only_for_root(directory->target.fd, made))
		*enforcement = FSQ_ENFORCED_BUT_FOR_ROOT;
	return 0;
}
