/* SPDX-License-Identifier: Apache-2.0 */
#include "handle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lookup.h"
#include "quota/base/error.h"
#include "quota/base/path.h"
#include "quota/kernel/fs_type.h"

#define FILE_FLAGS (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
#define DIRECTORY_FLAGS (FILE_FLAGS | O_DIRECTORY)

/* Is it absolute, without empty components and without components that begin with a dot? */
static bool is_canonical_form(const char *path)
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

/* The path of a deleted directory, or of one that is too deep, leads nowhere or elsewhere. */
static bool leads_to(const char *path, const struct fsq_handle *handle)
{
	struct stat there, here;

	return fsq_lookup_stat(handle->points, path, O_NOFOLLOW, &there, NULL) == 0 &&
	       fstat(handle->target.fd, &here) == 0 && there.st_ino == here.st_ino &&
	       there.st_dev == here.st_dev;
}

static void find_device(struct fsq_target *target)
{
	struct fsq_handle *handle = (struct fsq_handle *)(void *)target;

	if (fsq_handle_find_mount(handle, NULL) == 0 && handle->mount.device[0] == '/')
		target->device = handle->mount.device;
}
_Static_assert(offsetof(struct fsq_handle, target) == 0, "find_device() gets the handle");

void fsq_handle_take_directory(struct fsq_handle *handle, int fd, char *path)
{
	*handle = (struct fsq_handle){ .target = { .fd = fd, .find_device = find_device },
				       .path = path };
}

int fsq_handle_open(struct fsq_handle *handle, const char *path,
		    const struct fsq_mount_points *points, struct fsq_error *err)
{
	bool is_real;
	int fd;

	if (!path)
		return fsq_fail(err, FSQ_E_USAGE, 0, NULL, "no path is given");
	/* Mostly it is a directory. Of an NFS server that has just started anything else waits for its grace period. */
	fd = fsq_lookup_real(points, path, DIRECTORY_FLAGS, &is_real, err);
	if (fd == -ENOTDIR || fd == -ELOOP)
		fd = fsq_lookup_real(points, path, FILE_FLAGS, &is_real, err);
	if (fd < 0)
		return fsq_failed(err, -fd);
	fsq_handle_take_directory(handle, fd, strdup(path));
	handle->points = points;
	handle->is_canonical = is_real && is_canonical_form(path);
	if (handle->path)
		return 0;
	fsq_handle_close(handle);
	return fsq_fail_errno(err, ENOMEM, path, "cannot open");
}

static int fail_as_renamed(const char *path, struct fsq_error *err)
{
	return fsq_fail(err, FSQ_E_CONFLICT, 0, path,
			"was renamed, replaced or deleted at the same time");
}

/* Take the descriptor of a directory, and find its canonical path. */
static int find_path(struct fsq_handle *handle, int fd, const char *path,
		     const struct fsq_mount_points *points, struct fsq_error *err)
{
	int rc;

	fsq_handle_take_directory(handle, fd, fsq_fd_path(fd));
	handle->points = points;
	/* Without /proc, use the path that the name resolves to now. */
	if (!handle->path)
		handle->path = realpath(path, NULL);
	if (handle->path && leads_to(handle->path, handle)) {
		/* A directory that was renamed since it was opened has another path than the caller gave. */
		if (strcmp(handle->path, path) == 0 || leads_to(path, handle))
			return 0;
		rc = fail_as_renamed(path, err);
		fsq_handle_close(handle);
		return rc;
	}
	rc = !handle->path && errno == ENOMEM
		     ? fsq_fail_errno(err, ENOMEM, path, "cannot resolve the path")
		     : fsq_fail(err, FSQ_E_NOT_FOUND, 0, path,
				"is deleted, or no absolute path leads to it");
	fsq_handle_close(handle);
	return rc;
}

int fsq_handle_open_directory(struct fsq_handle *handle, const char *path,
			      const struct fsq_mount_points *points, struct fsq_error *err)
{
	size_t length = path ? strlen(path) : 0;
	bool is_real;
	char *clean;
	int fd, rc;

	if (!path)
		return fsq_fail(err, FSQ_E_USAGE, 0, NULL, "no path is given");
	while (length > 1 && path[length - 1] == '/')
		length--;
	clean = strndup(path, length);
	if (!clean)
		return fsq_fail_errno(err, ENOMEM, path, "cannot open");
	fd = fsq_lookup_real(points, clean, DIRECTORY_FLAGS, &is_real, err);
	if (fd >= 0 && is_real && is_canonical_form(clean)) {
		fsq_handle_take_directory(handle, fd, clean);
		handle->points = points;
		handle->is_canonical = true;
		return 0;
	}
	rc = fd < 0 ? fsq_failed(err, -fd) : find_path(handle, fd, clean, points, err);
	free(clean);
	return rc;
}

void fsq_handle_close(struct fsq_handle *handle)
{
	if (handle->target.fd >= 0)
		close(handle->target.fd);
	free(handle->path);
	fsq_mount_clear(&handle->mount);
}

int fsq_handle_check_path(const struct fsq_handle *handle, struct fsq_error *err)
{
	char *now;
	bool is_there;

	/* One call with /proc, two without. */
	now = fsq_fd_path(handle->target.fd);
	is_there = now && strcmp(now, handle->path) == 0;
	free(now);
	if (is_there || leads_to(handle->path, handle))
		return 0;
	return fail_as_renamed(handle->path, err);
}

int fsq_handle_find_mount(struct fsq_handle *handle, struct fsq_error *err)
{
	int rc;

	if (handle->mount.directory)
		return 0;
	if (!handle->mounts)
		return fsq_mount_of_fd(handle->target.fd, handle->path, &handle->mount, err);
	rc = fsq_mount_cache_find(handle->mounts, handle->target.fd, handle->path, &handle->known,
				  err);
	return rc ? rc : fsq_mount_copy(&handle->mount, &handle->known->mount, err);
}

int fsq_handle_space(struct fsq_handle *handle, struct fsq_space space[FSQ_FORMS],
		     struct fsq_error *err)
{
	int rc = fsq_handle_find_mount(handle, err), fd;

	if (rc)
		return rc;
	fd = fsq_lookup(handle->points, handle->mount.directory, FSQ_LOOKUP_READ, err);
	if (fd < 0)
		return fsq_failed(err, -fd);
	rc = fsq_space_get(fd, fsq_is_xfs(handle->target.fd), space);
	close(fd);
	return rc ? fsq_fail(err, FSQ_E_FAILED, -rc, handle->path,
			     "cannot ask for the size of the filesystem")
		  : 0;
}

int fsq_handle_state(struct fsq_handle *handle, struct fsq_state *state)
{
	struct fsq_known_mount *known = handle->known;

	if (!known)
		return fsq_quotactl_state(&handle->target, FSQ_PROJECT, state);
	if (!known->state_known)
		known->state_rc = fsq_quotactl_state(&handle->target, FSQ_PROJECT, &known->state);
	/* Cache only answers, not failures that may pass. */
	known->state_known =
		known->state_rc == 0 || fsq_error_kind_of(-known->state_rc) != FSQ_E_FAILED;
	*state = known->state;
	return known->state_rc;
}

static int fail_without_quota(const char *path, struct fsq_error *err)
{
	return fsq_add_hint(err, FSQ_HINT_MOUNT_WITH_QUOTA,
			    fsq_fail(err, FSQ_E_NOT_SUPPORTED, 0, path,
				     "there is no project quota on this filesystem"));
}

int fsq_handle_read_project(struct fsq_handle *handle, struct fsq_error *err)
{
	int rc = -fsq_inode_project_get(handle->target.fd, &handle->project);

	if (rc == ENOTTY || rc == EOPNOTSUPP)
		return fail_without_quota(handle->path, err);
	if (rc)
		return fsq_fail_errno(err, rc, handle->path, "cannot read the project ID");
	return 0;
}

int fsq_handle_check_quota(struct fsq_handle *handle, bool *enforced, struct fsq_error *err)
{
	struct fsq_state state;
	int rc = fsq_quotactl_state(&handle->target, FSQ_PROJECT, &state);

	if (rc && rc != -ENOSYS && rc != -ESRCH && rc != -ENOTBLK && rc != -ENOENT && rc != -ENODEV)
		return fsq_fail_errno(err, -rc, handle->path,
				      "cannot ask whether there is project quota");
	if (rc || !state.accounting[FSQ_PROJECT])
		return fail_without_quota(handle->path, err);
	if (enforced)
		*enforced = state.enforced[FSQ_PROJECT];
	return 0;
}

int fsq_handle_explain(struct fsq_handle *handle, int rc, struct fsq_error *err)
{
	struct fsq_error reason;

	if (rc == 0 || fsq_handle_check_quota(handle, NULL, &reason) != FSQ_E_NOT_SUPPORTED)
		return rc;
	if (err)
		*err = reason;
	return FSQ_E_NOT_SUPPORTED;
}

int fsq_handle_sync(const struct fsq_handle *handle, struct fsq_error *err)
{
	if (syncfs(handle->target.fd))
		return fsq_fail(err, FSQ_E_FAILED, errno, handle->path,
				"cannot write the filesystem to its disk");
	return 0;
}

int fsq_handle_read_above(const struct fsq_handle *handle, struct fsq_inode_project *above)
{
	int fd = openat(handle->target.fd, "..", DIRECTORY_FLAGS & ~O_NOFOLLOW), rc = 0;
	struct stat here, there;

	*above = (struct fsq_inode_project){ 0 };
	if (fd < 0)
		return -errno;
	if (fstat(handle->target.fd, &here) || fstat(fd, &there))
		rc = -errno;
	else if (here.st_dev == there.st_dev && here.st_ino != there.st_ino)
		rc = fsq_inode_project_get(fd, above);
	if (rc)
		*above = (struct fsq_inode_project){ 0 };
	close(fd);
	return rc;
}
