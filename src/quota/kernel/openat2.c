/* SPDX-License-Identifier: Apache-2.0 */
#include "openat2.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compat.h"
#include "shared/statx.h"

struct mount {
	dev_t dev;
	uint64_t id; /* 0: unknown, before Linux 5.8 */
};

static int find_mount_of_fd(int fd, struct mount *mount)
{
	struct statx stx;

	if (get_statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_MNT_ID, &stx))
		return -errno;
	mount->dev = makedev(stx.stx_dev_major, stx.stx_dev_minor);
	mount->id = stx.stx_mask & STATX_MNT_ID ? stx.stx_mnt_id : 0;
	return 0;
}

static bool is_symlink(int dirfd, const char *name)
{
	struct stat st;

	return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) == 0 &&
	       S_ISLNK(st.st_mode);
}

/* @return   the next directory, or the file */
static int step(int fd, const char *name, int flags, const struct mount *on)
{
	struct mount mount;
	int next = openat(fd, name, flags | O_NOFOLLOW);
	int rc = next < 0 ? -errno : 0;

	/* With O_NOFOLLOW the kernel opens the symlink itself, or fails with ELOOP. */
	if (!(flags & O_NOFOLLOW) &&
	    (rc == 0 ? is_symlink(next, "") : rc == -ENOTDIR && is_symlink(fd, name)))
		rc = -ELOOP;
	if (rc == 0 && on &&
	    (find_mount_of_fd(next, &mount) || mount.dev != on->dev || mount.id != on->id))
		rc = -EXDEV;
	if (rc && next >= 0)
		close(next);
	return rc ? rc : next;
}

static int by_parts(int dirfd, const char *path, int flags, uint64_t resolve)
{
	bool beneath = resolve & RESOLVE_BENEATH, no_xdev = resolve & RESOLVE_NO_XDEV;
	const size_t length = strlen(path);
	char parts[PATH_MAX], *rest = parts;
	int fd = dirfd, rc;
	struct mount mount;

	if (beneath && path[0] == '/')
		return -EXDEV;
	if (length >= sizeof(parts))
		return -ENAMETOOLONG;
	memcpy(parts, path, length + 1);
	if (path[0] == '/')
		fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (path[0] == '/' && fd < 0)
		return -errno;
	rc = no_xdev ? find_mount_of_fd(fd, &mount) : 0;
	while (rc == 0) {
		char *name = strsep(&rest, "/");
		int next = -EXDEV;

		rest = rest ? rest + strspn(rest, "/") : parts + length;
		if (!beneath || strcmp(name, "..") != 0)
			next = step(fd, *name ? name : ".",
				    *rest ? O_PATH | O_DIRECTORY | O_CLOEXEC : flags,
				    no_xdev ? &mount : NULL);
		if (fd != dirfd)
			close(fd);
		fd = next;
		if (fd < 0 || !*rest)
			/* A parent directory of the target cannot be checked from here. */
			return fd == -ELOOP && !(resolve & RESOLVE_NO_SYMLINKS) ? -ENOSYS : fd;
	}
	if (fd != dirfd)
		close(fd);
	return rc;
}

int fsq_openat2(int dirfd, const char *path, int flags, uint64_t resolve)
{
	struct open_how how = { .flags = (unsigned int)flags, .resolve = resolve };
	int fd = (int)syscall(SYS_openat2, dirfd, path, &how, sizeof(how));

	if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
		return fd < 0 ? -errno : fd;
	return by_parts(dirfd, path, flags, resolve);
}

/* Older headers lack it. */
#define CLONE 1U

int fsq_clone_mount(int fd)
{
	return (int)syscall(SYS_open_tree, fd, "", CLONE | O_CLOEXEC | AT_EMPTY_PATH);
}
