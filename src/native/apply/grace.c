/* SPDX-License-Identifier: Apache-2.0 */
#include "grace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "quota/base/error.h"
#include "quota/limits/limits.h"
#include "quota/mounts/filesystem.h"
#include "quota/mounts/lookup.h"
#include "quota/mounts/mount_table.h"

/* @return   as apply_grace_set() */
static int open_mounted(struct session *session, const char *directory, struct fsq_filesystem **fs,
			struct fsq_error *err)
{
	const struct fsq_mount_points *points = session_mounts(session);
	const struct fsq_mount *mount;
	const char *mounted;
	struct stat st;
	char *real;
	int rc;

	if (!points)
		return fsq_fail(err, FSQ_E_FAILED, 0, directory, "the mounts cannot be read");
	rc = fsq_lookup_stat(points, directory, 0, &st, err);
	if (rc)
		return fsq_failed(err, -rc);
	real = fsq_lookup_spelling(points, directory);
	if (!real)
		return fsq_fail_errno(err, errno, directory, "cannot be looked at");
	mount = fsq_mount_points_get(points, real);
	rc = mount ? fsq_filesystem_open_mount(fs, mount, FSQ_OPEN_NO_TAG, err)
		   : fsq_filesystem_open(fs, real, NULL, FSQ_OPEN_NO_TAG, err);
	mounted = rc ? NULL : fsq_filesystem_get_info(*fs)->directory;
	if (mounted && strcmp(mounted, real) != 0) {
		rc = fsq_fail(err, FSQ_E_USAGE, 0, directory,
			      "is no mount point: a grace time is of a whole filesystem, so put "
			      "grace= on "
			      "the line of %s",
			      mounted);
		fsq_filesystem_close(*fs);
	}
	free(real);
	return rc;
}

static int fail_at_times(int errnum, const char *directory, const char *what, struct fsq_error *err)
{
	if (fsq_error_kind_of(errnum) == FSQ_E_NOT_SUPPORTED || errnum == ENODEV)
		return fsq_add_hint(err, FSQ_HINT_MOUNT_WITH_QUOTA,
				    fsq_fail(err, FSQ_E_NOT_SUPPORTED, 0, directory,
					     "there is no project quota on this filesystem"));
	return fsq_fail_errno(err, errnum, directory, "cannot %s the grace times", what);
}

bool apply_grace_differs(const struct fsq_timers *before, const struct fsq_timers *after)
{
	for (int form = 0; form < FSQ_FORMS; form++)
		if (before->seconds[form] != after->seconds[form])
			return true;
	return false;
}

int apply_grace_set(struct session *session, const struct apply_entry *entry,
		    struct fsq_timers *before, struct fsq_timers *after, struct fsq_error *err)
{
	const char *directory = entry->request.directory;
	struct fsq_filesystem *fs;
	int errnum, rc = open_mounted(session, directory, &fs, err);

	if (rc)
		return rc;
	errnum = -fsq_quota_plan_timers(fs, FSQ_PROJECT, 0, &entry->grace, before, after);
	if (errnum) {
		rc = fail_at_times(errnum, directory, session->dry_run ? "read" : "set", err);
	} else if (!session->dry_run && apply_grace_differs(before, after)) {
		errnum = -fsq_quota_set_timers(fs, FSQ_PROJECT, 0, &entry->grace);
		rc = errnum ? fail_at_times(errnum, directory, "set", err) : 0;
	}
	fsq_filesystem_close(fs);
	return rc;
}
