/* SPDX-License-Identifier: Apache-2.0 */
#include "filesystem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "syscalls.h"

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

bool fsq_filesystem_is_xfs(int fd)
{
	struct statfs sfs;

	return fstatfs(fd, &sfs) == 0 && sfs.f_type == XFS_SUPER_MAGIC;
}

/*
 * Make a filesystem of a mount and a descriptor on it, and take both over.
 *
 * The device of the table must exist, for xfs_quota's users take its absence for "not mounted
 * here". Where it is not the device that is to be seen at the mount point (a mount table of the
 * user's own), it is the one to be addressed.
 */
static int make(struct fsq_filesystem **out, struct fsq_mount *mount, int fd, struct fsq_error *err)
{
	bool own_table = mount->dev == 0;
	struct fsq_filesystem *fs = NULL;
	struct stat device, root;
	int rc;

	if (stat(mount->device, &device)) {
		rc = fsq_fail(err, FSQ_E_NOT_FOUND, ENXIO, mount->device, "find the device");
		goto fail;
	}
	if (own_table) {
		if (fstat(fd, &root)) {
			rc = fsq_fail(err, FSQ_E_FAILED, errno, mount->directory, "stat");
			goto fail;
		}
		mount->dev = root.st_dev;
	}
	fs = malloc(sizeof(*fs));
	if (!fs) {
		rc = fsq_fail(err, FSQ_E_FAILED, ENOMEM, mount->directory, "open");
		goto fail;
	}
	*fs = (struct fsq_filesystem){
		.device = mount->device,
		.directory = mount->directory,
		.dev = mount->dev,
		.is_xfs = fsq_filesystem_is_xfs(fd),
		.target = { .fd = fd, .device = mount->device },
	};
	if (own_table && !(S_ISBLK(device.st_mode) && device.st_rdev == mount->dev)) {
		close(fd);
		fs->target.fd = -1;
	}
	*mount = (struct fsq_mount){ 0 };
	*out = fs;
	return 0;
fail:
	fsq_mount_clear(mount);
	close(fd);
	return rc;
}

static int open_path(const char *path, struct fsq_error *err)
{
	int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0)
		return fsq_fail(err, fsq_code_of_errno(errno), errno, path, "open");
	return fd;
}

int fsq_filesystem_open(struct fsq_filesystem **fs, const char *path, const char *table,
			struct fsq_error *err)
{
	struct fsq_mount mount;
	bool is_device;
	int fd, rc;

	if (table) {
		rc = fsq_mount_in_table(table, path, &mount, err);
		if (rc)
			return rc;
		fd = open_path(mount.directory, err);
	} else {
		fd = open_path(path, err);
		if (fd < 0)
			return fd;
		rc = fsq_mount_of_fd(fd, &mount, &is_device, err);
		if (rc) {
			close(fd);
			return rc;
		}
		if (is_device) {
			close(fd);
			fd = open_path(mount.directory, err);
		}
	}
	if (fd < 0) {
		fsq_mount_clear(&mount);
		return fd;
	}
	return make(fs, &mount, fd, err);
}

static int copy_mount(struct fsq_mount *copy, const struct fsq_mount *mount, struct fsq_error *err)
{
	*copy = *mount;
	copy->device = strdup(mount->device);
	copy->directory = strdup(mount->directory);
	if (copy->device && copy->directory)
		return 0;
	fsq_mount_clear(copy);
	return fsq_fail(err, FSQ_E_FAILED, ENOMEM, mount->directory, "open");
}

int fsq_filesystem_open_mount(struct fsq_filesystem **fs, const struct fsq_mount *mount,
			      struct fsq_error *err)
{
	struct fsq_mount copy;
	struct statx stx;
	int fd = open_path(mount->directory, err);

	if (fd < 0)
		return fd;
	if (mount->id && statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx) == 0 &&
	    (stx.stx_mask & STATX_MNT_ID) && stx.stx_mnt_id != mount->id) {
		close(fd);
		return fsq_fail(err, FSQ_E_NOT_FOUND, ENXIO, mount->directory,
				"open what another mount hides");
	}
	if (copy_mount(&copy, mount, err)) {
		close(fd);
		return FSQ_E_FAILED;
	}
	return make(fs, &copy, fd, err);
}

void fsq_filesystem_close(struct fsq_filesystem *fs)
{
	if (!fs)
		return;
	if (fs->target.fd >= 0)
		close(fs->target.fd);
	free(fs->device);
	free(fs->directory);
	free(fs);
}
