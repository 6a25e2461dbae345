/* SPDX-License-Identifier: Apache-2.0 */
#include "directory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mounts.h"
#include "syscalls.h"

#define OPEN_FLAGS (O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* Is it absolute, and has no part that is empty or dots? */
static bool is_plain(const char *path)
{
	for (const char *part = path; *part; part += strcspn(part, "/")) {
		if (*part != '/')
			return false;
		part++;
		if (*part == '\0' || *part == '/' || *part == '.')
			return false;
	}
	return path[0] == '/';
}

/*
 * Open it, and know whether its path is the canonical one.
 * @return   a descriptor or a negative errno
 */
static int open_path(const char *path, bool *is_canonical)
{
	struct open_how how = {
		.flags = OPEN_FLAGS | O_NOFOLLOW,
		.resolve = RESOLVE_NO_SYMLINKS,
	};
	int fd;

	*is_canonical = false;
	if (is_plain(path)) {
		fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
		*is_canonical = fd >= 0;
		/* There may be a symlink on the way, or no such call. */
		if (fd >= 0 || (errno != ELOOP && errno != ENOSYS && errno != EPERM))
			return fd < 0 ? -errno : fd;
	}
	fd = open(path, OPEN_FLAGS | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

/* A slash behind a symlink would have it followed. */
static char *without_slash(const char *path)
{
	size_t length = strlen(path);
	char *copy = strdup(path);

	while (copy && length > 1 && copy[length - 1] == '/')
		copy[--length] = '\0';
	return copy;
}

/* Where the kernel sees it; without /proc, where the path leads now. */
static char *path_of(int fd, const char *path)
{
	char link[32], *resolved = malloc(PATH_MAX);
	ssize_t length;

	if (!resolved)
		return NULL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, resolved, PATH_MAX);
	if (length > 0 && length < PATH_MAX && resolved[0] == '/') {
		resolved[length] = '\0';
		return resolved;
	}
	free(resolved);
	return realpath(path, NULL);
}

/* A directory that was deleted, or lies deeper than a path can tell, has a path that leads nowhere
 * or elsewhere. */
static bool leads_to(const char *path, int fd)
{
	struct stat there, here;

	return lstat(path, &there) == 0 && fstat(fd, &here) == 0 && there.st_ino == here.st_ino &&
	       there.st_dev == here.st_dev;
}

/* A kernel or filter without quotactl_fd wants a device. */
static void find_device(struct fsq_directory *directory)
{
	struct fsq_mount mount;

	if (fsq_mount_of_fd(directory->fd, directory->path, &mount, NULL))
		return;
	directory->device = mount.device;
	mount.device = NULL;
	fsq_mount_clear(&mount);
	if (directory->device[0] == '/')
		directory->target.device = directory->device;
}

static int no_quota(const char *path, struct fsq_error *err)
{
	fsq_fail(err, FSQ_E_NOT_SUPPORTED, 0, path, "there is no project quota on this filesystem");
	if (err)
		err->hint = "it takes XFS, ext4 or f2fs, mounted with prjquota";
	return FSQ_E_NOT_SUPPORTED;
}

int fsq_directory_check(struct fsq_directory *directory, bool *enforced, struct fsq_error *err)
{
	struct fsq_state state;
	int rc = fsq_kernel_state(&directory->target, FSQ_PROJECT, &state);

	if (rc && rc != -ENOSYS && rc != -ESRCH && rc != -ENOTBLK && rc != -ENOENT && rc != -ENODEV)
		return fsq_fail(err, fsq_code_of_errno(-rc), -rc, directory->path,
				"cannot ask whether there is project quota");
	if (rc || !state.accounting[FSQ_PROJECT])
		return no_quota(directory->path, err);
	if (enforced)
		*enforced = state.enforced[FSQ_PROJECT];
	return 0;
}

bool fsq_directory_retry(struct fsq_directory *directory, int *rc, struct fsq_error *err)
{
	struct fsq_error reason;

	if (*rc == 0)
		return false;
	if (!directory->device_sought) {
		directory->device_sought = true;
		find_device(directory);
		if (directory->target.device &&
		    (*rc == FSQ_E_NOT_SUPPORTED || *rc == FSQ_E_PERMISSION)) {
			/* It may have been read. */
			lseek(directory->fd, 0, SEEK_SET);
			return true;
		}
	}
	if (fsq_directory_check(directory, NULL, &reason) == FSQ_E_NOT_SUPPORTED) {
		*rc = FSQ_E_NOT_SUPPORTED;
		if (err)
			*err = reason;
	}
	return false;
}

static int fail_to_open(int errnum, const char *path, struct fsq_error *err)
{
	struct stat st;

	if ((errnum == ELOOP || errnum == ENOTDIR) && lstat(path, &st) == 0)
		return fsq_fail(err, FSQ_E_USAGE, 0, path, "is %s: name the directory itself",
				S_ISLNK(st.st_mode) ? "a symlink" : "not a directory");
	return fsq_fail(err, fsq_code_of_errno(errnum), errnum, path, "cannot open");
}

int fsq_directory_open(struct fsq_directory *directory, const char *path, struct fsq_error *err)
{
	char *clean = without_slash(path);
	bool is_canonical;
	int fd, rc;

	if (!clean)
		return fsq_fail(err, FSQ_E_FAILED, ENOMEM, path, "cannot open");
	fd = open_path(clean, &is_canonical);
	if (fd < 0) {
		rc = fail_to_open(-fd, clean, err);
		free(clean);
		return rc;
	}
	*directory = (struct fsq_directory){ .fd = fd, .target = { .fd = fd } };
	if (is_canonical) {
		directory->path = clean;
	} else {
		directory->path = path_of(fd, clean);
		free(clean);
	}
	if (directory->path && (is_canonical || leads_to(directory->path, fd)))
		return 0;
	rc = !directory->path && errno == ENOMEM
		     ? fsq_fail(err, FSQ_E_FAILED, ENOMEM, path, "cannot resolve the path")
		     : fsq_fail(err, FSQ_E_NOT_FOUND, 0, path,
				"is deleted, or no absolute path leads to it");
	fsq_directory_close(directory);
	return rc;
}

int fsq_directory_read_project(struct fsq_directory *directory, struct fsq_error *err)
{
	int rc = -fsq_inode_project_get(directory->fd, &directory->project);

	if (rc == ENOTTY || rc == EOPNOTSUPP)
		return no_quota(directory->path, err);
	if (rc)
		return fsq_fail(err, fsq_code_of_errno(rc), rc, directory->path,
				"cannot read the project ID");
	return 0;
}

void fsq_directory_close(struct fsq_directory *directory)
{
	close(directory->fd);
	free(directory->path);
	free(directory->device);
}

void fsq_directory_above(const struct fsq_directory *directory, struct fsq_inode_project *above)
{
	int fd = openat(directory->fd, "..", OPEN_FLAGS);
	struct stat here, there;

	*above = (struct fsq_inode_project){ 0 };
	if (fd < 0)
		return;
	if (fstat(directory->fd, &here) == 0 && fstat(fd, &there) == 0 &&
	    here.st_dev == there.st_dev && here.st_ino != there.st_ino &&
	    fsq_inode_project_get(fd, above))
		*above = (struct fsq_inode_project){ 0 };
	close(fd);
}
