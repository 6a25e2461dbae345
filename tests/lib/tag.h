/* SPDX-License-Identifier: Apache-2.0 */
/* What an owner may do with his files. */
#ifndef TAG_H
#define TAG_H

#include <linux/fs.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>

/** Give a file or directory a project ID. @return  0, or -1 and errno */
static inline int tag_file(int fd, uint32_t id, bool inherit)
{
	struct fsxattr attributes;

	if (ioctl(fd, FS_IOC_FSGETXATTR, &attributes))
		return -1;
	attributes.fsx_projid = id;
	attributes.fsx_xflags &= ~(uint32_t)FS_XFLAG_PROJINHERIT;
	if (inherit)
		attributes.fsx_xflags |= FS_XFLAG_PROJINHERIT;
	return ioctl(fd, FS_IOC_FSSETXATTR, &attributes);
}

#endif
