/* SPDX-License-Identifier: Apache-2.0 */
#include "space.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/statfs.h>
#include <unistd.h>

/* ioctl_xfs_fsgeometry(2), its first version, and ioctl_xfs_fscounts(2). */
struct xfs_geometry {
	uint32_t blocksize; /* bytes */
	uint32_t rtextsize; /* blocks */
	uint32_t agblocks;
	uint32_t agcount;
	uint32_t logblocks;
	uint32_t sectsize;
	uint32_t inodesize;
	uint32_t imaxpct;
	uint64_t datablocks;
	uint64_t rtblocks;
	uint64_t rtextents;
	uint64_t logstart; /* 0: the log is elsewhere */
	uint8_t uuid[16];
	uint32_t sunit;
	uint32_t swidth;
	int32_t version;
	uint32_t flags;
	uint32_t logsectsize;
	uint32_t rtsectsize;
	uint32_t dirblocksize;
};

struct xfs_counts {
	uint64_t freedata; /* blocks */
	uint64_t freertx;  /* realtime extents */
	uint64_t freeino;
	uint64_t allocino;
};

#define XFS_GEOMETRY _IOR('X', 100, struct xfs_geometry)
#define XFS_COUNTS _IOR('X', 113, struct xfs_counts)

static int xfs_space(int fd, struct fsq_space space[FSQ_FORMS])
{
	struct xfs_geometry geometry;
	struct xfs_counts counts;
	uint64_t log;

	if (ioctl(fd, XFS_GEOMETRY, &geometry) || ioctl(fd, XFS_COUNTS, &counts))
		return -errno;
	log = geometry.logstart ? geometry.logblocks : 0;
	space[FSQ_BLOCKS].total = (geometry.datablocks - log) * geometry.blocksize;
	space[FSQ_BLOCKS].free = counts.freedata * geometry.blocksize;
	space[FSQ_REALTIME].total = geometry.rtblocks * geometry.blocksize;
	space[FSQ_REALTIME].free = counts.freertx * geometry.rtextsize * geometry.blocksize;
	return 0;
}

int fsq_space_get(const struct fsq_filesystem *fs, struct fsq_space space[FSQ_FORMS])
{
	struct statfs sfs;
	uint64_t size;
	int rc = 0;
	int fd = open(fs->directory, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

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
	if (fs->is_xfs)
		rc = xfs_space(fd, space);
out:
	close(fd);
	return rc;
}
