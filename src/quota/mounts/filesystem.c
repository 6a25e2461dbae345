/* SPDX-License-Identifier: Apache-2.0 */
#include "filesystem_handle.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device.h"
#include "mount_table.h"
#include "quota/base/error.h"
#include "quota/base/path.h"
#include "quota/kernel/fs_type.h"
#include "quota/kernel/openat2.h"
#include "quota/kernel/space.h"
#include "quota/mounts/lookup.h"
#include "shared/statx.h"

/* --- opening --- */

/*
 * Make a file system of a mount and a descriptor on it, and take both over.
 *
 * Which device is asked? In a mount table of the user's own it may be another one than is mounted there;
 * then it is asked, unless the caller wants the mount point. A source such as "tmpfs" may be the name of a
 * file, but is no device.
 */
static int make_filesystem(struct fsq_filesystem **out, struct fsq_mount *mount, int fd,
			   unsigned int flags, struct fsq_error *err)
{
	struct fsq_filesystem *fs = calloc(1, sizeof(*fs));
	bool own_table = mount->dev == 0;
	struct stat root, st = { 0 };

	if (!fs || (own_table && fstat(fd, &root))) {
		int rc = fs ? fsq_fail(err, FSQ_E_FAILED, errno, mount->directory, "cannot stat")
			    : fsq_fail_errno(err, ENOMEM, mount->directory, "cannot open");

		free(fs);
		fsq_mount_clear(mount);
		close(fd);
		return rc;
	}
	fs->handle.target.fd = fd;
	fs->handle.mount = *mount;
	fs->info = (struct fsq_filesystem_info){
		.device = mount->device,
		.directory = mount->directory,
		.dev = own_table ? root.st_dev : mount->dev,
		.has_device = stat(mount->device, &st) == 0,
		.is_xfs = fsq_is_xfs(fd),
	};
	fs->info.asks_device = fs->info.has_device && (own_table || mount->device[0] == '/');
	if (fs->info.asks_device)
		fs->handle.target.device = mount->device;
	if (own_table && !(flags & FSQ_OPEN_ASK_MOUNT_POINT) &&
	    !(S_ISBLK(st.st_mode) && st.st_rdev == fs->info.dev)) {
		close(fd);
		fs->handle.target.fd = -1;
	}
	*mount = (struct fsq_mount){ 0 };
	*out = fs;
	return 0;
}

int fsq_filesystem_open_mount(struct fsq_filesystem **fs, const struct fsq_mount *mount,
			      unsigned int flags, struct fsq_error *err)
{
	struct fsq_mount copy;
	struct statx stx;
	int fd = fsq_lookup(NULL, mount->directory, O_PATH, err);

	if (fd < 0)
		return fsq_failed(err, -fd);
	if (mount->id && get_statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx) == 0 &&
	    (stx.stx_mask & STATX_MNT_ID) && stx.stx_mnt_id != mount->id) {
		close(fd);
		return fsq_fail(err, FSQ_E_NOT_FOUND, ENXIO, mount->directory,
				"cannot open what another mount hides");
	}
	if (fsq_mount_copy(&copy, mount, err)) {
		close(fd);
		return FSQ_E_FAILED;
	}
	return make_filesystem(fs, &copy, fd, flags, err);
}

/* Open the first mount of the device that can be opened: another mount may hide it. */
static int open_device(struct fsq_filesystem **fs, const char *path, dev_t dev,
		       struct fsq_error *err)
{
	struct fsq_mount_points *points;
	int rc = fsq_mount_points_read(&points, err);

	if (rc)
		return rc;
	rc = FSQ_E_NOT_FOUND;
	for (size_t i = 0; i < points->count && rc; i++)
		if (points->mounts[i].dev == dev && points->mounts[i].is_local)
			rc = fsq_filesystem_open_mount(fs, &points->mounts[i], 0, NULL);
	fsq_mount_points_free(points);
	if (rc)
		rc = fsq_add_hint(err, FSQ_HINT_NAME_MOUNTED,
				  fsq_fail(err, FSQ_E_NOT_FOUND, ENXIO, path,
					   "cannot find a mount of the device"));
	return rc;
}

/* Only filesystems that can have quota are probed: theirs are block devices, so no server is asked. */
static bool mount_has_tag(const struct fsq_mount *mount, const char *tag)
{
	struct stat st;
	bool has;
	int fd;

	if (!mount->is_local || !mount->type || !fsq_type_has_projects(mount->type))
		return false;
	fd = open(mount->device, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	has = fstat(fd, &st) == 0 && S_ISBLK(st.st_mode) && st.st_rdev == mount->dev &&
	      fsq_device_has_tag(fd, tag);
	close(fd);
	return has;
}

int fsq_filesystem_device_of_tag(const char *tag, char **device, struct fsq_error *err)
{
	const struct fsq_mount *found = NULL, *mount;
	struct fsq_mount_points *points;
	int rc = fsq_device_load(err);

	if (rc == 0)
		rc = fsq_mount_points_read(&points, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < points->count && rc == 0; i++) {
		mount = &points->mounts[i];
		if ((found && found->dev == mount->dev) || !mount_has_tag(mount, tag))
			continue;
		if (found)
			rc = fsq_fail(err, FSQ_E_CONFLICT, 0, tag,
				      "is the tag of two filesystems, at %.80s and at %.80s: name "
				      "one of these",
				      found->directory, mount->directory);
		found = mount;
	}
	if (rc == 0 && found) {
		*device = strdup(found->device);
		rc = *device ? 0 : fsq_fail_errno(err, ENOMEM, tag, "cannot go on");
	} else if (rc == 0) {
		rc = fsq_device_of_tag(tag, device, err);
	}
	fsq_mount_points_free(points);
	return rc;
}

int fsq_filesystem_open(struct fsq_filesystem **fs, const char *path, const char *table,
			unsigned int flags, struct fsq_error *err)
{
	struct fsq_mount mount;
	struct stat st;
	int fd, rc;

	if (!path)
		return fsq_fail(err, FSQ_E_USAGE, 0, NULL, "no path is given");
	if (fsq_is_tag(path) && !(flags & FSQ_OPEN_NO_TAG)) {
		char *device;

		rc = fsq_filesystem_device_of_tag(path, &device, err);
		if (rc == 0) {
			rc = fsq_filesystem_open(fs, device, table, flags, err);
			free(device);
		}
		return rc;
	}
	if (table) {
		rc = fsq_mount_in_file(table, path, &mount, err);
		if (rc)
			return rc;
		fd = fsq_lookup(NULL, mount.directory, O_PATH, err);
		if (fd >= 0)
			return make_filesystem(fs, &mount, fd, flags, err);
		fsq_mount_clear(&mount);
		return fsq_failed(err, -fd);
	}
	fd = fsq_lookup(NULL, path, O_PATH, err);
	if (fd < 0)
		return fsq_failed(err, -fd);
	if (fstat(fd, &st) == 0 && S_ISBLK(st.st_mode)) {
		close(fd);
		return open_device(fs, path, st.st_rdev, err);
	}
	rc = fsq_mount_of_fd(fd, path, &mount, err);
	if (rc) {
		close(fd);
		return rc;
	}
	return make_filesystem(fs, &mount, fd, flags, err);
}

int fsq_filesystem_of_device(struct fsq_filesystem **out, const char *device, struct fsq_error *err)
{
	struct fsq_filesystem *fs = calloc(1, sizeof(*fs));

	if (fs)
		fs->handle.mount.device = strdup(device);
	if (!fs || !fs->handle.mount.device) {
		free(fs);
		return fsq_fail_errno(err, ENOMEM, device, "cannot open");
	}
	fs->handle.target = (struct fsq_target){ .fd = -1, .device = fs->handle.mount.device };
	fs->info.device = fs->handle.mount.device;
	*out = fs;
	return 0;
}

void fsq_filesystem_close(struct fsq_filesystem *fs)
{
	if (!fs)
		return;
	fsq_handle_close(&fs->handle);
	free(fs);
}

/* --- asking --- */

const struct fsq_filesystem_info *fsq_filesystem_get_info(const struct fsq_filesystem *fs)
{
	if (!fs)
		return NULL;
	return &fs->info;
}

int fsq_filesystem_space(const struct fsq_filesystem *fs, const struct fsq_mount_points *points,
			 const char *directory, struct fsq_space space[FSQ_FORMS])
{
	int fd = fsq_lookup(points, directory, FSQ_LOOKUP_READ, NULL), rc;

	if (fd < 0)
		return fd;
	rc = fsq_space_get(fd, fs->info.is_xfs, space);
	close(fd);
	return rc;
}

int fsq_filesystem_each_inode(const struct fsq_filesystem *fs, fsq_inode_visitor visit, void *arg,
			      struct fsq_error *err)
{
	const char *directory = fs->info.directory;
	int fd = fsq_lookup(NULL, directory, FSQ_LOOKUP_READ, err), rc;

	if (fd < 0)
		return fsq_failed(err, -fd);
	rc = -fsq_bulkstat(fd, visit, arg);
	close(fd);
	if (rc)
		return fsq_fail_errno(err, rc, directory,
				      rc == ENOTTY ? "cannot read the geometry"
						   : "cannot read the inodes");
	return 0;
}

int fsq_quota_get(struct fsq_filesystem *fs, enum fsq_type type, uint32_t id,
		  struct fsq_dquot *dquot)
{
	return fsq_quotactl_get(&fs->handle.target, type, id, dquot);
}

int fsq_quota_get_next(struct fsq_filesystem *fs, enum fsq_type type, uint32_t id,
		       struct fsq_dquot *dquot)
{
	return fsq_quotactl_get_next(&fs->handle.target, type, id, dquot);
}

int fsq_quota_state(struct fsq_filesystem *fs, enum fsq_type type, struct fsq_state *state)
{
	return fsq_quotactl_state(&fs->handle.target, type, state);
}

int fsq_quota_set_limits(struct fsq_filesystem *fs, enum fsq_type type, uint32_t id,
			 const struct fsq_limits *limits)
{
	return fsq_quotactl_set_limits(&fs->handle.target, type, id, limits);
}

int fsq_quota_set_timers(struct fsq_filesystem *fs, enum fsq_type type, uint32_t id,
			 const struct fsq_timers *timers)
{
	return fsq_quotactl_set_timers(&fs->handle.target, type, id, timers);
}

int fsq_quota_set_warnings(struct fsq_filesystem *fs, enum fsq_type type, uint32_t id,
			   const bool set[FSQ_FORMS], uint16_t warnings)
{
	return fsq_quotactl_set_warnings(&fs->handle.target, type, id, set, warnings);
}

int fsq_quota_switch(struct fsq_filesystem *fs, enum fsq_switch what, const bool types[FSQ_TYPES])
{
	return fsq_quotactl_switch(&fs->handle.target, what, types);
}

int fsq_quota_sync(struct fsq_filesystem *fs, enum fsq_type type)
{
	return fsq_quotactl_sync(&fs->handle.target, type);
}
