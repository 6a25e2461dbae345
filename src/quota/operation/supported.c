/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "limits.h"
#include "quota/base/error.h"
#include "quota/mounts/place.h"

/* A caller who may not ask about projects may not put a quota on anything. */
static int check(struct fsq_place *directory, bool *enforced, struct fsq_error *err)
{
	struct fsq_dquot dquot;
	int rc = fsq_place_read_project(directory, err);

	if (rc == 0)
		rc = fsq_place_check_quota(directory, enforced, err);
	if (rc)
		return rc;
	rc = -fsq_quotactl_get(&directory->target, FSQ_PROJECT, 1, &dquot);
	if (rc == 0 || rc == ENOENT)
		return 0;
	return fsq_fail(err, fsq_error_kind_of(rc), rc, directory->path,
			"cannot read quotas of projects");
}

int fsq_supported(const char *path, struct fsq_support *support, struct fsq_error *err)
{
	struct fsq_place directory;
	struct fsq_error unknown;
	int rc = fsq_place_open_directory(&directory, path, err);

	*support = (struct fsq_support){ 0 };
	if (rc)
		return rc;
	rc = fsq_place_explain(&directory, check(&directory, &support->enforced, err), err);
	/* Where it is mounted is not always known. */
	if (rc == 0 && fsq_place_find_mount(&directory, &unknown) == 0) {
		support->device = directory.mount.device;
		support->mountpoint = directory.mount.directory;
		directory.mount.device = directory.mount.directory = NULL;
	} else if (rc == 0 && unknown.errnum == ENOMEM) {
		rc = unknown.kind;
		if (err)
			*err = unknown;
	}
	fsq_place_close(&directory);
	return rc;
}

void fsq_support_clear(struct fsq_support *support)
{
	free(support->device);
	free(support->mountpoint);
	*support = (struct fsq_support){ 0 };
}
