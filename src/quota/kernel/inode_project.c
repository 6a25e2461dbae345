/* SPDX-License-Identifier: Apache-2.0 */
#include "inode_project.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compat.h"
#include "quota/base/path.h"

/* file_getattr(2): linux/fs.h of Linux 6.17 and later. */
struct file_attributes {
	uint64_t flags;
	uint32_t extent_size;
	uint32_t extents;
	uint32_t project;
	uint32_t cow_extent_size;
};

/* These two calls do not take an O_PATH descriptor, but they take its link in /proc. */
static long call_at(long number, int dirfd, const char *name, struct file_attributes *attributes)
{
	char link[FSQ_FD_LINK_SIZE];
	bool held = name[0] == '\0';

	if (held)
		fsq_fd_link(link, dirfd);
	return syscall(number, held ? AT_FDCWD : dirfd, held ? link : name, attributes,
		       sizeof(*attributes), held ? 0U : (unsigned int)AT_SYMLINK_NOFOLLOW);
}

static uint64_t flags_with(const struct fsq_inode_project *project, bool inherit)
{
	return project->other_flags | (inherit ? FS_XFLAG_PROJINHERIT : 0);
}

int fsq_inode_project_get(int fd, struct fsq_inode_project *project)
{
	struct fsxattr attributes = { 0 };

	if (ioctl(fd, FS_IOC_FSGETXATTR, &attributes))
		return -errno;
	*project = (struct fsq_inode_project){
		.id = attributes.fsx_projid,
		.inherit = attributes.fsx_xflags & FS_XFLAG_PROJINHERIT,
		.other_flags = attributes.fsx_xflags & ~(uint32_t)FS_XFLAG_PROJINHERIT,
		.extent_size = attributes.fsx_extsize,
		.cow_extent_size = attributes.fsx_cowextsize,
	};
	return 0;
}

static int set_attributes(int fd, const struct fsq_inode_project *project, uint32_t id,
			  bool inherit)
{
	struct fsxattr attributes = {
		.fsx_projid = id,
		.fsx_xflags = (uint32_t)flags_with(project, inherit),
		.fsx_extsize = project->extent_size,
		.fsx_cowextsize = project->cow_extent_size,
	};

	return ioctl(fd, FS_IOC_FSSETXATTR, &attributes) ? -errno : 0;
}

int fsq_inode_project_set(int fd, struct fsq_inode_project *project, uint32_t id, bool inherit)
{
	int rc;

	if (project->id == id && project->inherit == inherit)
		return 0;
	rc = set_attributes(fd, project, id, inherit);
	/* ext4 and f2fs set the flag before they refuse the ID. */
	if (rc && project->inherit != inherit)
		set_attributes(fd, project, project->id, project->inherit);
	if (rc)
		return rc;
	project->id = id;
	project->inherit = inherit;
	return 0;
}

/* ENOTTY, as from ioctl(2): files of this type, or on this filesystem, have no such attributes. */
static int error_at(void)
{
	return errno == EOPNOTSUPP ? -ENOTTY : -errno;
}

int fsq_inode_project_get_at(int dirfd, const char *name, struct fsq_inode_project *project)
{
	struct file_attributes attributes;

	if (call_at(SYS_file_getattr, dirfd, name, &attributes))
		return error_at();
	*project = (struct fsq_inode_project){
		.id = attributes.project,
		.inherit = attributes.flags & FS_XFLAG_PROJINHERIT,
		.other_flags = attributes.flags & ~(uint64_t)FS_XFLAG_PROJINHERIT,
		.extent_size = attributes.extent_size,
		.cow_extent_size = attributes.cow_extent_size,
	};
	return 0;
}

static int set_at(int dirfd, const char *name, const struct fsq_inode_project *project, uint32_t id,
		  bool inherit)
{
	struct file_attributes attributes = {
		.flags = flags_with(project, inherit),
		.extent_size = project->extent_size,
		.project = id,
		.cow_extent_size = project->cow_extent_size,
	};

	return call_at(SYS_file_setattr, dirfd, name, &attributes) ? error_at() : 0;
}

int fsq_inode_project_set_at(int dirfd, const char *name, struct fsq_inode_project *project,
			     uint32_t id, bool inherit)
{
	int rc;

	if (project->id == id && project->inherit == inherit)
		return 0;
	rc = set_at(dirfd, name, project, id, inherit);
	/* As fsq_inode_project_set(). */
	if (rc && project->inherit != inherit)
		set_at(dirfd, name, project, project->id, project->inherit);
	if (rc)
		return rc;
	project->id = id;
	project->inherit = inherit;
	return 0;
}

/* Does the errno say that the calls cannot be used here? No such call, a filter, no /proc, or no such attributes. */
static bool says_no(int errnum)
{
	return errnum == ENOSYS || errnum == EPERM || errnum == EACCES || errnum == ENOENT ||
	       errnum == ENOTDIR || errnum == EOPNOTSUPP || errnum == ENOTTY || errnum == EINVAL;
}

int fsq_inode_project_has_at(int fd)
{
	char link[FSQ_FD_LINK_SIZE];
	struct file_attributes attributes;
	struct stat st, linked;

	fsq_fd_link(link, fd);
	if (syscall(SYS_file_getattr, AT_FDCWD, link, &attributes, sizeof(attributes), 0U))
		return says_no(errno) ? 0 : -errno;
	/* EINVAL: nothing to set. A filter may allow only one of the two calls. */
	if (syscall(SYS_file_setattr, AT_FDCWD, link, NULL, 0UL, 0U) && errno != EINVAL)
		return says_no(errno) ? 0 : -errno;
	if (fstat(fd, &st) || stat(link, &linked))
		return -errno;
	return st.st_ino == linked.st_ino && st.st_dev == linked.st_dev;
}

int fsq_inode_flags_get(int fd, uint32_t *flags)
{
	/* The kernel reads and writes an int, whatever the macro's name says. */
	int value = 0;

	if (ioctl(fd, FS_IOC_GETFLAGS, &value))
		return -errno;
	*flags = (uint32_t)value;
	return 0;
}
