/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "quota/base/error.h"
#include "quota/base/path.h"
#include "quota/mounts/mount.h"
#include "quota/mounts/mount_table.h"

void fsq_overlay_layers(const struct fsq_mount *mount, char **upper, char **work)
{
	*upper = fsq_options_value(mount->super_options, "upperdir");
	*work = fsq_options_value(mount->super_options, "workdir");
}

char *fsq_overlay_above(const char *upper, const char *work)
{
	char *above = strdup(upper);

	while (above && above[1]) {
		char *slash = strrchr(above, '/');

		slash[slash == above] = '\0';
		if (fsq_path_below(above, work, strlen(work)))
			break;
	}
	return above;
}

int fsq_overlay_directory(const char *path, char **directory, struct fsq_error *err)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 ? -errno : fsq_mount_table_load(err);
	char *upper = NULL, *work = NULL;
	struct fsq_mount mount = { 0 };

	*directory = NULL;
	if (fd < 0)
		return fsq_fail(err, fsq_error_kind_of(-rc), -rc, path, "cannot open");
	if (rc)
		goto out;
	rc = fsq_mount_line_of_fd(fd, &mount);
	if (rc) {
		rc = fsq_fail(err, fsq_error_kind_of(-rc), -rc, path, "cannot find the mount");
	} else if (strcmp(mount.type, "overlay") != 0) {
		rc = fsq_fail(err, FSQ_E_NOT_SUPPORTED, 0, path, "is on no overlay");
	} else {
		fsq_overlay_layers(&mount, &upper, &work);
		if (!upper || !work || upper[0] != '/' || work[0] != '/')
			rc = fsq_fail(
				err, FSQ_E_NOT_SUPPORTED, 0, path,
				"is on an overlay whose upper directory cannot be seen from here");
		else if (!(*directory = fsq_overlay_above(upper, work)))
			rc = fsq_fail(err, FSQ_E_FAILED, ENOMEM, path, "cannot go on");
	}
out:
	free(upper);
	free(work);
	fsq_mount_clear(&mount);
	close(fd);
	return rc;
}
