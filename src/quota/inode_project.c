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
		.other_flags = attributes.fsx_xflags & ~(uint32_t)FS_XFLAG_PROJINHERIT,
		.extent_size = attributes.fsx_extsize,
		.cow_extent_size = attributes.fsx_cowextsize,
	};
	return 0;
}

int fsq_inode_project_set(int fd, struct fsq_inode_project *project, uint32_t id, bool inherit)
{
	struct fsxattr attributes = {
		.fsx_projid = id,
		.fsx_xflags = project->other_flags | (inherit ? FS_XFLAG_PROJINHERIT : 0),
		.fsx_extsize = project->extent_size,
		.fsx_cowextsize = project->cow_extent_size,
	};

	if (project->id == id && project->inherit == inherit)
		return 0;
	if (ioctl(fd, FS_IOC_FSSETXATTR, &attributes))
		return -errno;
	project->id = id;
	project->inherit = inherit;
	return 0;
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
