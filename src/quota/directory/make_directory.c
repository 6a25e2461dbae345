/* SPDX-License-Identifier: Apache-2.0 */
#include "make_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The mode of what is not finished: the sticky bit without any right for others makes no sense otherwise. */
#define UNFINISHED_MODE (S_ISVTX | S_IRWXU)

bool fsq_directory_is_unfinished(const struct stat *st)
{
	/* It may have inherited S_ISGID. */
	return (st->st_mode & 05777) == UNFINISHED_MODE;
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
