/* SPDX-License-Identifier: Apache-2.0 */
#include "inode_project.h"

#include <errno.h>
#include <linux/fs.h>
#include <sys/ioctl.h>

int fsq_inode_project_get(int fd, struct fsq_inode_project *project)
{
	struct fsxattr attributes;

	if (ioctl(fd, FS_IOC_FSGETXATTR, &attributes))
		return -errno;
	*project = (struct fsq_inode_project){
		.id = attributes.fsx_projid,
		.inherit = attributes.fsx_xflags & FS_XFLAG_PROJINHERIT,
	};
	return 0;
}

int fsq_inode_project_set(int fd, const struct fsq_inode_project *project)
{
	struct fsxattr attributes;
	uint32_t flags;

	if (ioctl(fd, FS_IOC_FSGETXATTR, &attributes))
		return -errno;
	flags = attributes.fsx_xflags & ~(uint32_t)FS_XFLAG_PROJINHERIT;
	if (project->inherit)
		flags |= FS_XFLAG_PROJINHERIT;
	if (attributes.fsx_projid == project->id && attributes.fsx_xflags == flags)
		return 0;
	attributes.fsx_projid = project->id;
	attributes.fsx_xflags = flags;
	return ioctl(fd, FS_IOC_FSSETXATTR, &attributes) ? -errno : 0;
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
