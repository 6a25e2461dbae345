/* SPDX-License-Identifier: Apache-2.0 */
#include "project_location.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "quota/base/error.h"
#include "quota/base/path.h"
#include "quota/kernel/openat2.h"
#include "quota/limits/limits.h"
#include "quota/mounts/filesystem_handle.h"
#include "quota/mounts/lookup.h"
#include "quota/mounts/mount_table.h"
#include "quota/registry/project_edit.h"
#include "shared/array.h"

/* --- all local file systems --- */

static enum fsq_visit add_mounted_volume(const struct fsq_mount *mount, void *arg)
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
	while (volume.first < volumes->count &&
	       list[volume.first].fs->info.dev != volume.fs->info.dev)
		volume.first++;
	list[volumes->count++] = volume;
	return FSQ_VISIT_CONTINUE;
}

static enum fsq_visit add_mount_point(const struct fsq_mount *line, void *arg)
{
	struct fsq_volumes *volumes = arg;
	char **points = array_grow(volumes->mount_points, volumes->mount_point_count,
				   &volumes->mount_point_capacity, sizeof(*points));
	char *point = fsq_lookup_spelling(volumes->points, line->directory);

	if (!point)
		point = strdup(line->directory);
	if (points)
		volumes->mount_points = points;
	if (!points || !point) {
		free(point);
		volumes->rc = -ENOMEM;
		return FSQ_VISIT_STOP;
	}
	points[volumes->mount_point_count++] = point;
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

		if (mount->is_local && add_mounted_volume(mount, volumes) == FSQ_VISIT_STOP)
			break;
	}
	/* A mount point missing here would make its directories look deleted. */
	if (volumes->rc == 0)
		rc = fsq_fstab_each(FSQ_FSTAB, add_mount_point, volumes, err);
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

bool fsq_volumes_await(const struct fsq_volumes *volumes, const struct fsq_volume *volume,
		       const char *directory)
{
	for (size_t i = 0; i < volumes->mount_point_count; i++)
		if (fsq_mount_point_hides(volumes->mount_points[i], volume->fs->info.directory,
					  directory))
			return true;
	return false;
}

enum fsq_presence fsq_volumes_find(struct fsq_volumes *volumes, const char *directory,
				   const struct fsq_volume **volume)
{
	/* By name, from the table. If something was mounted since, RESOLVE_NO_XDEV notices. */
	const struct fsq_mount *mount = NULL;
	enum fsq_presence presence = FSQ_ELSEWHERE;
	dev_t dev;

	if (volumes->count == 0)
		return FSQ_ELSEWHERE;
	*volume = &volumes->list[0];
	if (volumes->points) {
		directory = fsq_lookup_known(volumes->points, directory, &dev);
		if (!directory) {
			volumes->errnum = ENOMEM;
			return FSQ_UNSEEN;
		}
		mount = fsq_mount_points_get(volumes->points, directory);
	}

	for (size_t i = 0; i < volumes->count && presence == FSQ_ELSEWHERE; i++) {
		const struct fsq_handle *handle = &volumes->list[i].fs->handle;
		const char *below;

		*volume = &volumes->list[i];
		if (mount && mount->id != handle->mount.id)
			continue;
		below = fsq_path_below(handle->mount.directory, directory, strlen(directory));
		/* Use the descriptor of the mount, which keeps it from being unmounted. */
		if (below)
			presence = look_below(volumes, handle->target.fd, below);
	}
	return presence;
}

/* --- whether a line is of the file system where its path leads now --- */

int fsq_volume_read_quota(const struct fsq_volume *volume, uint32_t id, struct fsq_dquot *dquot,
			  struct fsq_error *err)
{
	return fsq_limits_read(&volume->fs->handle.target, id, true, dquot,
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

/* Has a filesystem something with the ID there, as far as that can be seen? */
static bool has_with_id(struct fsq_volumes *volumes, const struct fsq_volume *volume,
			const char *below, uint32_t id)
{
	const int mount = volume->fs->handle.target.fd;
	struct fsq_inode_project project;
	bool has;
	int fd;

	if (look_below(volumes, mount, below) == FSQ_GONE)
		return false;
	fd = fsq_openat2(mount, *below ? below : ".",
			 O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC,
			 RESOLVE_BENEATH | RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS);
	has = fd < 0 || fsq_inode_project_get(fd, &project) != 0 || project.id == id;
	if (fd >= 0)
		close(fd);
	return has;
}

/* Is only a part of the filesystem mounted there? */
static bool is_part(const struct fsq_volumes *volumes, const struct fsq_volume *volume)
{
	for (size_t i = 0; i < volumes->points->count; i++) {
		const struct fsq_mount *mount = &volumes->points->mounts[i];

		if (mount->id == volume->fs->handle.mount.id)
			return !mount->root || strcmp(mount->root, "/") != 0;
	}
	return true;
}

/* Was the line perhaps written while this volume was mounted at its path? Then some end of the path exists on it. */
static bool may_be_of(struct fsq_volumes *volumes, const struct fsq_volume *volume,
		      const struct fsq_entry *line)
{
	const char *end = line->word;

	if (is_part(volumes, volume))
		return true;
	for (; end; end = strchr(end + 1, '/'))
		if (has_with_id(volumes, volume, end + strspn(end, "/"), line->id))
			return true;
	return has_with_id(volumes, volume, "", line->id);
}

/*
 * Is the ID in use on another filesystem, where no other line explains it? That alone says little, since assign gives
 * the same ID on two filesystems: if the ID is @known here, too, the other one must also have the directory.
 */
static int is_known_elsewhere(struct fsq_volumes *volumes, const struct fsq_entries *lines,
			      const struct fsq_volume *here, const struct fsq_entry *line,
			      bool known, bool *elsewhere, struct fsq_error *err)
{
	int rc = 0;

	*elsewhere = false;
	for (size_t i = 0; i < volumes->count && rc == 0 && !*elsewhere; i++) {
		const struct fsq_volume *volume = &volumes->list[i];
		struct fsq_dquot dquot;

		if (!volume->has_quota || volume->first != i || here->first == i)
			continue;
		rc = fsq_volume_read_quota(volume, line->id, &dquot, err);
		*elsewhere = rc == 0 && fsq_dquot_has_anything(&dquot) &&
			     !is_explained(volumes, lines, line, i) &&
			     (!known || may_be_of(volumes, volume, line));
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
	else if ((gone || !known) && fsq_volumes_await(volumes, volume, line->word))
		*doubt = FSQ_KEPT_AWAITED;
	else if (gone && !volume->has_quota)
		*doubt = FSQ_KEPT_UNMOUNTED;
	else if (gone || !known)
		rc = is_known_elsewhere(volumes, lines, volume, line, known, &elsewhere, err);
	if (elsewhere)
		*doubt = FSQ_KEPT_ELSEWHERE;
	else if (*doubt == FSQ_NOT_KEPT && gone && !known)
		*doubt = FSQ_KEPT_UNPROVEN;
	return rc;
}

/* --- the file system of a project --- */

int fsq_project_location_open(struct fsq_project_location *location, const char *projects_file,
			      struct fsq_error *err)
{
	int rc = fsq_volumes_open(&location->volumes, err);

	if (rc == 0)
		rc = fsq_entries_of_projects(&location->lines, projects_file, err);
	if (rc == 0)
		rc = fsq_entries_index(&location->lines, err);
	if (rc)
		return rc;
	location->certain = calloc(location->lines.count + 1, sizeof(*location->certain));
	return location->certain ? 0 : fsq_fail_errno(err, ENOMEM, projects_file, "cannot read");
}

void fsq_project_location_close(struct fsq_project_location *location)
{
	free(location->certain);
	fsq_entries_free(&location->lines);
	fsq_volumes_close(&location->volumes);
}

static bool is_line_wanted(const struct fsq_project_location *location,
			   const struct fsq_entry *line)
{
	return line->id == location->id &&
	       (!location->only || fsq_path_is(location->only, line->word, strlen(line->word)));
}

enum fsq_presence fsq_project_location_of(struct fsq_project_location *location,
					  const struct fsq_entry *line,
					  const struct fsq_filesystem *fs)
{
	const struct fsq_volume *volume;
	enum fsq_presence presence;

	if (!is_line_wanted(location, line) || !location->certain[line - location->lines.list])
		return FSQ_ELSEWHERE;
	presence = fsq_volumes_find(&location->volumes, line->word, &volume);
	if (presence != FSQ_ELSEWHERE && presence != FSQ_UNSEEN &&
	    volume->fs->info.dev != fs->info.dev)
		return FSQ_ELSEWHERE;
	return presence;
}

int fsq_project_location_fail_unseen(const struct fsq_project_location *location,
				     const struct fsq_entry *line, struct fsq_error *err)
{
	return fsq_fail(err, FSQ_E_FAILED, location->volumes.errnum, line->word,
			"cannot find out whether it exists");
}

/*
 * @fs       set, unless the line is doubtful
 * @return   0 or a failure
 */
static int find_filesystem_of_line(struct fsq_project_location *location,
				   const struct fsq_entry *line, bool named,
				   struct fsq_filesystem **fs, struct fsq_error *err)
{
	const struct fsq_volume *volume;
	enum fsq_presence presence = fsq_volumes_find(&location->volumes, line->word, &volume);
	struct fsq_dquot dquot = { 0 };
	enum fsq_leftover_kept doubt;
	int rc = 0;

	*fs = NULL;
	if (presence == FSQ_ELSEWHERE)
		return 0;
	if (presence == FSQ_UNSEEN)
		return fsq_project_location_fail_unseen(location, line, err);
	if (volume->has_quota)
		rc = fsq_volume_read_quota(volume, line->id, &dquot, err);
	if (rc == 0)
		rc = fsq_volumes_doubt(&location->volumes, &location->lines, volume, presence, line,
				       fsq_dquot_has_anything(&dquot), &doubt, err);
	if (rc)
		return rc;
	/* Believe a caller who names the directory or the filesystem, unless the kernel contradicts. */
	if (doubt == FSQ_NOT_KEPT || (doubt == FSQ_KEPT_UNPROVEN && (named || location->only)) ||
	    (doubt == FSQ_KEPT_ELSEWHERE && named))
		*fs = volume->fs;
	location->certain[line - location->lines.list] = *fs != NULL;
	return 0;
}

int fsq_project_location_name(struct fsq_project_location *location, struct fsq_error *err)
{
	struct fsq_filesystem *fs;
	int rc = 0;

	for (size_t i = 0; i < location->lines.count && rc == 0; i++)
		if (is_line_wanted(location, &location->lines.list[i]))
			rc = find_filesystem_of_line(location, &location->lines.list[i], true, &fs,
						     err);
	return rc;
}

/* @doubtful the first of its directories, or NULL when it has none */
static int fail_without(struct fsq_project_location *location, const char *doubtful,
			struct fsq_error *err)
{
	const struct fsq_volume *volume;

	if (!doubtful)
		fsq_fail(err, FSQ_E_NOT_FOUND, 0, NULL, "project %u has no registered directory",
			 location->id);
	else if (fsq_volumes_find(&location->volumes, doubtful, &volume) == FSQ_PRESENT)
		fsq_fail(err, FSQ_E_NOT_FOUND, 0, doubtful,
			 "is registered with project ID %u, which is not in use there: its "
			 "filesystem is not mounted, or another one took its place",
			 location->id);
	else if (location->only)
		fsq_fail(err, FSQ_E_NOT_FOUND, 0, doubtful,
			 "is gone, or its filesystem is not mounted");
	else
		fsq_fail(err, FSQ_E_NOT_FOUND, 0, doubtful,
			 "is a directory of project %u that is gone, or its filesystem is not "
			 "mounted",
			 location->id);
	return fsq_add_hint(err, location->only ? FSQ_HINT_RELEASE_AT : FSQ_HINT_NAME_FILESYSTEM,
			    FSQ_E_NOT_FOUND);
}

int fsq_project_location_find(struct fsq_project_location *location, struct fsq_filesystem **fs,
			      struct fsq_error *err)
{
	const char *doubtful = NULL;

	*fs = NULL;
	for (size_t i = 0; i < location->lines.count; i++) {
		const struct fsq_entry *line = &location->lines.list[i];
		struct fsq_filesystem *found;
		int rc;

		if (!is_line_wanted(location, line))
			continue;
		if (!doubtful)
			doubtful = line->word;
		rc = find_filesystem_of_line(location, line, false, &found, err);
		if (rc)
			return rc;
		if (*fs && found && found->info.dev != (*fs)->info.dev)
			return fsq_fail(err, FSQ_E_CONFLICT, 0, line->word,
					"is on another filesystem than other directories of "
					"project %u: name one of them",
					line->id);
		if (!*fs)
			*fs = found;
	}
	return *fs ? 0 : fail_without(location, doubtful, err);
}

int fsq_project_location_check(const struct fsq_registry *registry, const char *directory,
			       uint32_t id, struct fsq_error *err)
{
	struct fsq_project_location location = { .id = id, .only = directory };
	const struct fsq_volume *volume;
	struct fsq_filesystem *fs;
	int rc = fsq_project_location_open(&location,
					   fsq_registry_or_default(registry)->projects_file, err);

	if (rc == 0 && fsq_volumes_find(&location.volumes, directory, &volume) != FSQ_ELSEWHERE)
		rc = fsq_project_location_find(&location, &fs, err);
	fsq_project_location_close(&location);
	return rc;
}
