/* SPDX-License-Identifier: Apache-2.0 */
#include "volumes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "quota/base/error.h"
#include "quota/base/path.h"
#include "quota/kernel/openat2.h"
#include "quota/mounts/filesystem.h"
#include "quota/mounts/mountinfo.h"
#include "quota/mounts/mounts.h"
#include "shared/array.h"
#include "tree_tag.h"

/* --- the list --- */

static size_t first_of(const struct fsq_volumes *volumes, const struct fsq_filesystem *fs)
{
	dev_t dev = fsq_filesystem_get_info(fs)->dev;
	size_t i = 0;

	while (i < volumes->count && fsq_filesystem_get_info(volumes->list[i].fs)->dev != dev)
		i++;
	return i;
}

static enum fsq_visit add_volume(const struct fsq_mount *mount, void *arg)
{
	struct fsq_volumes *volumes = arg;
	struct fsq_volume volume = { 0 }, *list;
	struct fsq_state state;
	struct fsq_error err;

	if (fsq_filesystem_open_mount(&volume.fs, mount, 0, &err)) {
		volumes->rc = err.errnum == ENOMEM ? -ENOMEM : 0;
		return volumes->rc ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
	}
	list = array_grow(volumes->list, volumes->count, &volumes->capacity, sizeof(*list));
	if (!list) {
		fsq_filesystem_close(volume.fs);
		volumes->rc = -ENOMEM;
		return FSQ_VISIT_STOP;
	}
	volume.has_quota = fsq_quota_state(volume.fs, FSQ_PROJECT, &state) == 0 &&
			   state.accounting[FSQ_PROJECT];
	volumes->list = list;
	volume.first = first_of(volumes, volume.fs);
	list[volumes->count++] = volume;
	return FSQ_VISIT_CONTINUE;
}

static enum fsq_visit add_mount_point(const struct fsq_mount *mount, void *arg)
{
	struct fsq_volumes *volumes = arg;
	char **points = array_grow(volumes->mount_points, volumes->mount_point_count,
				   &volumes->mount_point_capacity, sizeof(*points));

	if (points) {
		volumes->mount_points = points;
		points[volumes->mount_point_count] = strdup(mount->directory);
	}
	if (!points || !points[volumes->mount_point_count]) {
		volumes->rc = -ENOMEM;
		return FSQ_VISIT_STOP;
	}
	volumes->mount_point_count++;
	return FSQ_VISIT_CONTINUE;
}

/* There may be none. */
static int list_fstab(struct fsq_volumes *volumes, struct fsq_error *err)
{
	struct fsq_error found;
	int rc = fsq_mounts_each("/etc/fstab", add_mount_point, volumes, &found);

	if (rc == 0 && volumes->rc)
		return fsq_fail(err, FSQ_E_FAILED, -volumes->rc, "/etc/fstab", "cannot read");
	if (rc == 0 || found.errnum == ENOENT || found.errnum == ENOTDIR)
		return 0;
	if (err)
		*err = found;
	return rc;
}

int fsq_volumes_open(struct fsq_volumes *volumes, struct fsq_error *err)
{
	int rc;

	*volumes = (struct fsq_volumes){ 0 };
	/* What is left out of them would pass for gone. */
	rc = list_fstab(volumes, err);
	if (rc == 0)
		rc = fsq_mount_points_read(&volumes->points, err);
	if (rc == 0)
		rc = fsq_mounts_each(NULL, add_volume, volumes, err);
	if (rc == 0 && volumes->rc)
		rc = fsq_fail(err, FSQ_E_FAILED, -volumes->rc, FSQ_MOUNTINFO,
			      "cannot read the mount table");
	return rc;
}

void fsq_volumes_close(struct fsq_volumes *volumes)
{
	fsq_late_close_all(&volumes->found);
	for (size_t i = 0; i < volumes->count; i++)
		fsq_filesystem_close(volumes->list[i].fs);
	for (size_t i = 0; i < volumes->mount_point_count; i++)
		free(volumes->mount_points[i]);
	fsq_mount_points_free(volumes->points);
	free(volumes->list);
	free(volumes->mount_points);
}

/* --- where a directory is --- */

/* @return   a descriptor with O_PATH, or a negative errno */
static int open_below(int mount, const char *path)
{
	return fsq_openat2(mount, path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
			   RESOLVE_BENEATH | RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS);
}

static bool is_populated(int path_fd)
{
	int fd = openat(path_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool populated = fd >= 0 && !fsq_tree_is_empty(fd);

	if (fd >= 0)
		close(fd);
	return populated;
}

/* What is above a directory that is not there: the mount point, or directories below it? */
static enum fsq_presence look_above(int mount, char *path)
{
	enum fsq_presence presence;
	char *slash;
	int fd = -ENOENT;

	while (fd < 0 && (slash = strrchr(path, '/'))) {
		*slash = '\0';
		fd = open_below(mount, path);
		if (fd < 0 && fd != -ENOENT && fd != -ENOTDIR)
			return FSQ_ELSEWHERE;
	}
	if (fd < 0)
		return FSQ_GONE;
	presence = is_populated(fd) ? FSQ_GONE : FSQ_GONE_OR_UNMOUNTED;
	close(fd);
	return presence;
}

static enum fsq_presence look_below(int mount, const char *below, struct fsq_late_close *found)
{
	int fd = open_below(mount, *below ? below : ".");
	char path[PATH_MAX];
	size_t length = strlen(below);

	if (fd >= 0) {
		fsq_late_close(found, fd);
		return FSQ_PRESENT;
	}
	if ((fd != -ENOENT && fd != -ENOTDIR) || length >= sizeof(path))
		return FSQ_ELSEWHERE;
	return look_above(mount, memcpy(path, below, length + 1));
}

/* The mount that was opened is asked, which cannot go meanwhile. */
static enum fsq_presence look(const struct fsq_volume *volume, const char *directory,
			      struct fsq_late_close *found)
{
	const char *root = fsq_filesystem_get_info(volume->fs)->directory;
	const char *below = fsq_path_below(root, directory, strlen(directory));

	return below ? look_below(volume->fs->place.target.fd, below, found) : FSQ_ELSEWHERE;
}

/*
 * Which mount the name of a directory leads to. What is mounted over it since then is seen when it is
 * looked at.
 */
static bool is_elsewhere_by_name(const struct fsq_volume *volume, uint64_t mount)
{
	uint64_t id = volume->fs->place.mount.id;

	return id && mount && id != mount;
}

/* A mount point between the mount and the directory is one where nothing is mounted. */
static bool is_unmounted(const struct fsq_volumes *volumes, const struct fsq_volume *volume,
			 const char *directory)
{
	size_t depth = strlen(fsq_filesystem_get_info(volume->fs)->directory);

	for (size_t i = 0; i < volumes->mount_point_count; i++) {
		const char *point = volumes->mount_points[i];

		if (strlen(point) > depth && fsq_path_below(point, directory, strlen(directory)))
			return true;
	}
	return false;
}

enum fsq_presence fsq_volumes_find(struct fsq_volumes *volumes, const char *directory,
				   const struct fsq_volume **volume)
{
	uint64_t mount = volumes->points ? fsq_mount_points_find_id(volumes->points, directory) : 0;
	enum fsq_presence presence = FSQ_ELSEWHERE;

	for (size_t i = 0; i < volumes->count && presence == FSQ_ELSEWHERE; i++) {
		*volume = &volumes->list[i];
		if (!is_elsewhere_by_name(*volume, mount))
			presence = look(*volume, directory, &volumes->found);
	}
	if (presence == FSQ_GONE || presence == FSQ_GONE_OR_UNMOUNTED)
		return is_unmounted(volumes, *volume, directory) ? FSQ_UNMOUNTED : presence;
	return presence;
}
