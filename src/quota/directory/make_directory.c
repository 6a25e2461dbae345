/* SPDX-License-Identifier: Apache-2.0 */
#include "make_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "quota/base/error.h"
#include "quota/mounts/mount.h"
#include "quota/mounts/mount_table.h"

/* The mode of what is not finished: the sticky bit without any right for others makes no sense otherwise. */
#define UNFINISHED_MODE (S_ISVTX | S_IRWXU)

bool fsq_directory_is_unfinished(const struct stat *st)
{
	/* It may have inherited S_ISGID. */
	return (st->st_mode & 05777) == UNFINISHED_MODE;
}

struct awaiting {
	const struct fsq_name *making;
	char *mount_point; /* or NULL */
	struct fsq_error *err;
	int rc;
};

static enum fsq_visit take_awaited(const struct fsq_mount *line, void *arg)
{
	struct awaiting *awaiting = arg;
	const char *path = awaiting->making->path, *above = line->directory;
	struct fsq_mount mount;

	/* The root is mounted. */
	if (!fsq_mount_point_hides(above, "/", path) || fsq_options_have(line->options, "noauto") ||
	    fsq_options_have(line->options, "x-systemd.automount"))
		return FSQ_VISIT_CONTINUE;
	awaiting->rc = fsq_mount_of_fd(awaiting->making->parent, path, &mount, awaiting->err);
	if (awaiting->rc)
		return FSQ_VISIT_STOP;
	if (fsq_mount_point_hides(above, mount.directory, path)) {
		awaiting->mount_point = strdup(above);
		if (!awaiting->mount_point)
			awaiting->rc =
				fsq_fail_errno(awaiting->err, ENOMEM, path, "cannot be made");
	}
	fsq_mount_clear(&mount);
	return awaiting->rc || awaiting->mount_point ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

int fsq_directory_awaits(const struct fsq_name *making, char **awaited, struct fsq_error *err)
{
	struct awaiting awaiting = { .making = making, .err = err };
	int rc = fsq_fstab_each(FSQ_FSTAB, take_awaited, &awaiting, err);

	*awaited = awaiting.mount_point;
	/* A mount of another namespace is none of fstab. */
	return rc || awaiting.rc == FSQ_E_NOT_FOUND ? rc : awaiting.rc;
}

int fsq_directory_make(const struct fsq_name *making)
{
	struct stat st;
	int fd, rc = -ESTALE;

	if (mkdirat(making->parent, making->name, UNFINISHED_MODE))
		return -errno;
	fd = openat(making->parent, making->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0 && fsq_directory_is_unfinished(&st) &&
	    st.st_uid == geteuid())
		return fd;
	if (fd < 0 && errno != ENOENT && errno != ELOOP && errno != ENOTDIR)
		rc = -errno;
	if (fd >= 0)
		close(fd);
	unlinkat(making->parent, making->name, AT_REMOVEDIR);
	return rc;
}

int fsq_directory_finish(int fd, mode_t mode, uid_t owner, gid_t group)
{
	return fchown(fd, owner, group) || fchmod(fd, mode) ? -errno : 0;
}

void fsq_directory_unmake(const struct fsq_name *making, int fd)
{
	struct stat st, there;

	if (fstat(fd, &st) == 0 &&
	    fstatat(making->parent, making->name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_dev == there.st_dev && st.st_ino == there.st_ino)
		unlinkat(making->parent, making->name, AT_REMOVEDIR);
}
