/* SPDX-License-Identifier: Apache-2.0 */
#include "volumes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "limits.h"
#include "quota/base/error.h"
#include "quota/base/path.h"
#include "quota/kernel/openat2.h"
#include "quota/mounts/filesystem.h"
#include "quota/mounts/mount_table.h"
#include "shared/array.h"

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
		if (err.errnum == ENOMEM || err.errnum == EMFILE || err.errnum == ENFILE)
			volumes->rc = -err.errnum;
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

/* Symlinks are followed from a local file system only: others may hang. */
static char *mount_point_of(const struct fsq_volumes *volumes, const char *directory)
{
	const struct fsq_mount *mount = fsq_mount_points_get(volumes->points, directory);
	char *resolved = mount && mount->is_local ? realpath(directory, NULL) : NULL;

	return resolved ? resolved : strdup(directory);
}

static enum fsq_visit add_mount_point(const struct fsq_mount *mount, void *arg)
{
	struct fsq_volumes *volumes = arg;
	char **points = array_grow(volumes->mount_points, volumes->mount_point_count,
				   &volumes->mount_point_capacity, sizeof(*points));

	if (points) {
		volumes->mount_points = points;
		points[volumes->mount_point_count] = mount_point_of(volumes, mount->directory);
	}
	if (!points || !points[volumes->mount_point_count]) {
		volumes->rc = -ENOMEM;
		return FSQ_VISIT_STOP;
	}
	volumes->mount_point_count++;
	return FSQ_VISIT_CONTINUE;
}

int fsq_volumes_open(struct fsq_volumes *volumes, struct fsq_error *err)
{
	int rc;

	*volumes = (struct fsq_volumes){ 0 };
	rc = fsq_mount_points_read(&volumes->points, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < volumes->points->count; i++) {
		const struct fsq_mount *mount = &volumes->points->mounts[i];

		if (mount->is_local && add_volume(mount, volumes) == FSQ_VISIT_STOP)
			break;
	}
	/* A mount point missing here would make its directories look deleted. */
	if (volumes->rc == 0)
		rc = fsq_fstab_each("/etc/fstab", add_mount_point, volumes, err);
	if (rc == 0 && volumes->rc)
		rc = fsq_fail(err, FSQ_E_FAILED, -volumes->rc, NULL,
			      "cannot look at all filesystems");
	return rc;
}

void fsq_volumes_close(struct fsq_volumes *volumes)
{
	for (size_t i = 0; i < volumes->count; i++)
		fsq_filesystem_close(volumes->list[i].fs);
	for (size_t i = 0; i < volumes->mount_point_count; i++)
		free(volumes->mount_points[i]);
	fsq_mount_points_free(volumes->points);
	free(volumes->list);
	free(volumes->mount_points);
}

/* --- where a directory is --- */

/* A path that does not exist, or leads over a symlink or another mount, is no error. */
static enum fsq_presence look_below(struct fsq_volumes *volumes, int mount, const char *below)
{
	const unsigned int resolve = RESOLVE_BENEATH | RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS;
	const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
	int fd = fsq_openat2(mount, *below ? below : ".", flags, resolve);

	if (fd >= 0) {
		close(fd);
		return FSQ_PRESENT;
	}
	switch (fd) {
	case -ENOENT:
	case -ENOTDIR:
		return FSQ_GONE;
	case -ELOOP:
	case -EXDEV:
	case -EACCES:
	case -ENAMETOOLONG:
		return FSQ_ELSEWHERE;
	default:
		volumes->errnum = -fd;
		return FSQ_UNSEEN;
	}
}

/* The mount that was opened is asked, which cannot go meanwhile. */
static enum fsq_presence look(struct fsq_volumes *volumes, const struct fsq_volume *volume,
			      const char *directory)
{
	const char *root = fsq_filesystem_get_info(volume->fs)->directory;
	const char *below = fsq_path_below(root, directory, strlen(directory));

	return below ? look_below(volumes, volume->fs->place.target.fd, below) : FSQ_ELSEWHERE;
}

/*
 * Which mount the name of a directory leads to. What is mounted over it since then is seen when it is
 * looked at.
 */
static bool is_elsewhere_by_name(const struct fsq_volume *volume, const struct fsq_mount *mount)
{
	return mount && mount->id != volume->fs->place.mount.id;
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
	const struct fsq_mount *mount =
		volumes->points ? fsq_mount_points_get(volumes->points, directory) : NULL;
	enum fsq_presence presence = FSQ_ELSEWHERE;

	for (size_t i = 0; i < volumes->count && presence == FSQ_ELSEWHERE; i++) {
		*volume = &volumes->list[i];
		if (!is_elsewhere_by_name(*volume, mount))
			presence = look(volumes, *volume, directory);
	}
	return presence;
}

/* --- whether a line is of the file system where its path leads now --- */

int fsq_volume_read_quota(const struct fsq_volume *volume, uint32_t id, struct fsq_dquot *dquot,
			  struct fsq_error *err)
{
	return fsq_limits_read(&volume->fs->place.target, id, true, dquot,
			       volume->fs->info.directory, err);
}

/* @return   whether another line of the ID is of this file system */
static bool is_explained(struct fsq_volumes *volumes, const struct fsq_entries *lines,
			 const struct fsq_entry *line, size_t first)
{
	size_t count;
	const struct fsq_entry *const *same = fsq_entries_of_id(lines, line->id, &count);

	for (size_t i = 0; i < count; i++) {
		const struct fsq_volume *volume;

		if (strcmp(same[i]->word, line->word) != 0 &&
		    fsq_volumes_find(volumes, same[i]->word, &volume) != FSQ_ELSEWHERE &&
		    volume->first == first)
			return true;
	}
	return false;
}

/* Does another file system have the ID, and no other line says why? */
static int is_known_elsewhere(struct fsq_volumes *volumes, const struct fsq_entries *lines,
			      const struct fsq_volume *here, const struct fsq_entry *line,
			      bool *known, struct fsq_error *err)
{
	int rc = 0;

	*known = false;
	for (size_t i = 0; i < volumes->count && rc == 0 && !*known; i++) {
		const struct fsq_volume *volume = &volumes->list[i];
		struct fsq_dquot dquot;

		if (!volume->has_quota || volume->first != i || here->first == i)
			continue;
		rc = fsq_volume_read_quota(volume, line->id, &dquot, err);
		*known = rc == 0 && fsq_dquot_has_anything(&dquot) &&
			 !is_explained(volumes, lines, line, i);
	}
	return rc;
}

int fsq_volumes_doubt(struct fsq_volumes *volumes, const struct fsq_entries *lines,
		      const struct fsq_volume *volume, enum fsq_presence presence,
		      const struct fsq_entry *line, bool known, enum fsq_leftover_kept *doubt,
		      struct fsq_error *err)
{
	bool gone = presence == FSQ_GONE, elsewhere = false;
	int rc = 0;

	*doubt = FSQ_NOT_KEPT;
	if (presence == FSQ_UNSEEN)
		*doubt = FSQ_KEPT_UNREADABLE;
	else if ((gone || !known) && is_unmounted(volumes, volume, line->word))
		*doubt = FSQ_KEPT_UNMOUNTED;
	else if (gone && !volume->has_quota)
		*doubt = FSQ_KEPT_UNMOUNTED;
	else if (gone || !known)
		rc = is_known_elsewhere(volumes, lines, volume, line, &elsewhere, err);
	if (elsewhere)
		*doubt = FSQ_KEPT_ELSEWHERE;
	else if (*doubt == FSQ_NOT_KEPT && gone && !known)
		*doubt = FSQ_KEPT_UNPROVEN;
	return rc;
}
