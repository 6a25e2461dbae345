/* SPDX-License-Identifier: Apache-2.0 */
#include "filesystem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
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

int fsq_filesystem_ask(const char *directory)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int rc = 0;

	if (fd < 0)
		return errno == EIO ? -EIO : 0;
	if (fsync(fd) && errno != EINVAL)
		rc = -errno;
	close(fd);
	return rc;
}

uint64_t fsq_filesystem_inodes_of(const char *directory, uint32_t id)
{
	int fd = open(directory, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	const struct fsq_target target = { .fd = fd };
	struct fsq_dquot dquot;
	uint64_t inodes = 0;

	if (fd < 0)
		return 0;
	if (fsq_kernel_get(&target, FSQ_PROJECT, id, &dquot) == 0)
		inodes = dquot.form[FSQ_INODES].used;
	close(fd);
	return inodes;
}

/*
 * Make a filesystem of a mount and a descriptor on it, and take both over.
 *
 * Where the device is not the one that is to be seen at the mount point (a mount table of the
 * user's own), it is the one to be addressed.
 */
static int make(struct fsq_filesystem **out, struct fsq_mount *mount, int fd, struct fsq_error *err)
{
	bool own_table = mount->dev == 0;
	struct fsq_filesystem *fs = NULL;
	struct stat device = { 0 }, root;
	int rc;

	if (own_table) {
		if (fstat(fd, &root)) {
			rc = fsq_fail(err, FSQ_E_FAILED, errno, mount->directory, "cannot stat");
			goto fail;
		}
		mount->dev = root.st_dev;
	}
	fs = malloc(sizeof(*fs));
	if (!fs) {
		rc = fsq_fail(err, FSQ_E_FAILED, ENOMEM, mount->directory, "cannot open");
		goto fail;
	}
	*fs = (struct fsq_filesystem){
		.device = mount->device,
		.directory = mount->directory,
		.dev = mount->dev,
		.is_xfs = fsq_filesystem_is_xfs(fd),
		.has_device = stat(mount->device, &device) == 0,
		.target = { .fd = fd },
	};
	/* A name such as "tmpfs" may be that of a file, but is no device. */
	if (fs->has_device && (own_table || fs->device[0] == '/'))
		fs->target.device = fs->device;
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
		return fsq_fail(err, fsq_code_of_errno(errno), errno, path, "cannot open");
	return fd;
}

static int copy_mount(struct fsq_mount *copy, const struct fsq_mount *mount, struct fsq_error *err)
{
	*copy = *mount;
	copy->device = strdup(mount->device);
	copy->directory = strdup(mount->directory);
	if (copy->device && copy->directory)
		return 0;
	fsq_mount_clear(copy);
	return fsq_fail(err, FSQ_E_FAILED, ENOMEM, mount->directory, "cannot open");
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
				"cannot open what another mount hides");
	}
	if (copy_mount(&copy, mount, err)) {
		close(fd);
		return FSQ_E_FAILED;
	}
	return make(fs, &copy, fd, err);
}

/* The mount of a device that can be opened: the first that nothing hides. */
struct search {
	dev_t dev;
	struct fsq_filesystem *fs;
};

static int open_if_of_device(const struct fsq_mount *mount, void *arg)
{
	struct search *search = arg;

	return mount->dev == search->dev &&
	       fsq_filesystem_open_mount(&search->fs, mount, NULL) == 0;
}

static int open_device(struct fsq_filesystem **fs, const char *path, dev_t dev,
		       struct fsq_error *err)
{
	struct search search = { .dev = dev };
	int rc = fsq_mounts_each(NULL, open_if_of_device, &search, err);

	if (rc == 0) {
		fsq_fail(err, FSQ_E_NOT_FOUND, ENXIO, path, "cannot find a mount of the device");
		if (err)
			err->hint = FSQ_HINT_UNMOUNTED;
		return FSQ_E_NOT_FOUND;
	}
	*fs = search.fs;
	return rc < 0 ? rc : 0;
}

int fsq_filesystem_open(struct fsq_filesystem **fs, const char *path, const char *table,
			struct fsq_error *err)
{
	struct fsq_mount mount;
	struct stat st;
	int fd, rc;

	if (table) {
		rc = fsq_mount_in_table(table, path, &mount, err);
		if (rc)
			return rc;
		fd = open_path(mount.directory, err);
		if (fd >= 0)
			return make(fs, &mount, fd, err);
		fsq_mount_clear(&mount);
		return fd;
	}
	fd = open_path(path, err);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) == 0 && S_ISBLK(st.st_mode)) {
		close(fd);
		return open_device(fs, path, st.st_rdev, err);
	}
	rc = fsq_mount_of_fd(fd, path, &mount, err);
	if (rc) {
		close(fd);
		return rc;
	}
	return make(fs, &mount, fd, err);
}

/* What is below the mount point, or NULL. */
static const char *relative_to(const char *mountpoint, const char *directory)
{
	size_t length = strcmp(mountpoint, "/") == 0 ? 0 : strlen(mountpoint);

	if (strncmp(directory, mountpoint, length) != 0 ||
	    (directory[length] != '/' && directory[length] != '\0'))
		return NULL;
	directory += length;
	directory += strspn(directory, "/");
	return *directory ? directory : ".";
}

bool fsq_filesystem_holds(const struct fsq_filesystem *fs, const char *directory)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_XDEV,
	};
	const char *relative = relative_to(fs->directory, directory);
	int mount, fd, errnum;

	if (!relative)
		return false;
	mount = open(fs->directory, O_PATH | O_CLOEXEC);
	if (mount < 0)
		return true;
	fd = (int)syscall(SYS_openat2, mount, relative, &how, sizeof(how));
	errnum = errno;
	close(mount);
	if (fd >= 0)
		close(fd);
	return fd >= 0 || errnum != EXDEV;
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
