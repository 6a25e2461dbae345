/* SPDX-License-Identifier: Apache-2.0 */
#include "space.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "xfs_ioctl.h"

static int xfs_space(int fd, struct fsq_space space[FSQ_FORMS])
{
	struct fsq_xfs_geometry geometry;
	struct fsq_xfs_counts counts;
	uint64_t log;

	if (ioctl(fd, FSQ_XFS_GEOMETRY, &geometry) || ioctl(fd, FSQ_XFS_COUNTS, &counts))
		return -errno;
	log = geometry.logstart ? geometry.logblocks : 0;
	space[FSQ_BLOCKS].total = (geometry.datablocks - log) * geometry.blocksize;
	space[FSQ_BLOCKS].free = counts.freedata * geometry.blocksize;
	space[FSQ_REALTIME].total = geometry.rtblocks * geometry.blocksize;
	space[FSQ_REALTIME].free = counts.freertx * geometry.rtextsize * geometry.blocksize;
	return 0;
}

int fsq_space_get(const char *directory, bool is_xfs, struct fsq_space space[FSQ_FORMS])
{
	struct statfs sfs;
	uint64_t size;
	int rc = 0;
	int fd = open(directory, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return -errno;
	if (fstatfs(fd, &sfs)) {
		rc = -errno;
		goto out;
	}
	size = (uint64_t)sfs.f_bsize;
	space[FSQ_BLOCKS] = (struct fsq_space){ sfs.f_blocks * size, sfs.f_bfree * size };
	space[FSQ_INODES] = (struct fsq_space){ sfs.f_files, sfs.f_ffree };
	space[FSQ_REALTIME] = (struct fsq_space){ 0, 0 };
	if (is_xfs)
		rc = xfs_space(fd, space);
out:
	close(fd);
	return rc;
}

bool fsq_xfs_has_records(const char *directory)
{
	struct fsq_xfs_geometry geometry = { 0 };
	int fd = open(directory, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool has;

	if (fd < 0)
		return true;
	has = ioctl(fd, FSQ_XFS_GEOMETRY, &geometry) != 0 ||
	      (geometry.flags & FSQ_XFS_GEOMETRY_QUOTA);
	close(fd);
	return has;
}
