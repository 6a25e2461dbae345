/* SPDX-License-Identifier: Apache-2.0 */
#include "space.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/statfs.h>
#include <unistd.h>

/* --- ioctls of XFS, which the kernel's installed headers lack --- */

/* ioctl_xfs_fsgeometry(2), its first version, and ioctl_xfs_fscounts(2). */
struct geometry {
	uint32_t blocksize; /* bytes */
	uint32_t rtextsize; /* blocks */
	uint32_t agblocks, agcount;
	uint32_t logblocks;
	uint32_t sectsize, inodesize, imaxpct;
	uint64_t datablocks, rtblocks, rtextents;
	uint64_t logstart; /* 0: the log is elsewhere */
	uint8_t uuid[16];
	uint32_t sunit, swidth;
	int32_t version;
	uint32_t flags;
	uint32_t logsectsize, rtsectsize, dirblocksize;
};

/* In flags: quota was on at some time; version 5, with checksums. */
#define GEOMETRY_QUOTA (1U << 2)
#define GEOMETRY_VERSION_5 (1U << 15)

/* How many extents of a file are asked for at once. */
#define EXTENTS 128

struct counts {
	uint64_t freedata; /* blocks */
	uint64_t freertx;  /* realtime extents */
	uint64_t freeino, allocino;
};

/* ioctl_xfs_bulkstat(2) */
struct inode {
	uint64_t ino, size;
	uint64_t blocks; /* of the filesystem */
	uint64_t xflags;
	int64_t atime, mtime, ctime, btime;
	uint32_t gen;
	uint32_t uid, gid, projectid;
	uint32_t nanoseconds[4];
	uint32_t blksize, rdev, cowextsize_blks, extsize_blks, nlink, extents, aextents;
	uint16_t version, forkoff, sick, checked;
	uint16_t mode;
	uint16_t pad2;
	uint64_t extents64;
	uint64_t pad[6];
};

struct bulkstat {
	uint64_t ino; /* where to begin; the kernel advances it */
	uint32_t flags;
	uint32_t icount; /* room, in inodes */
	uint32_t ocount; /* how many were returned */
	uint32_t agno;
	uint64_t reserved[5];
	struct inode inodes[];
};

#define XFS_GEOMETRY _IOR('X', 100, struct geometry)
#define XFS_COUNTS _IOR('X', 113, struct counts)
#define XFS_BULKSTAT _IOR('X', 127, struct bulkstat)

#define AT_ONCE 1024

static int xfs_space(int fd, struct fsq_space space[FSQ_FORMS])
{
	struct geometry geometry;
	struct counts counts;
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

int fsq_space_get(int fd, bool is_xfs, struct fsq_space space[FSQ_FORMS])
{
	struct statfs sfs;
	uint64_t size;

	if (fstatfs(fd, &sfs))
		return -errno;
	size = (uint64_t)sfs.f_bsize;
	space[FSQ_BLOCKS] = (struct fsq_space){ sfs.f_blocks * size, sfs.f_bfree * size };
	space[FSQ_INODES] = (struct fsq_space){ sfs.f_files, sfs.f_ffree };
	space[FSQ_REALTIME] = (struct fsq_space){ 0, 0 };
	return is_xfs ? xfs_space(fd, space) : 0;
}

bool fsq_xfs_has_records(int fd)
{
	struct geometry geometry = { 0 };

	return ioctl(fd, XFS_GEOMETRY, &geometry) != 0 || (geometry.flags & GEOMETRY_QUOTA);
}

bool fsq_xfs_is_version_4(int fd)
{
	struct geometry geometry;

	return ioctl(fd, XFS_GEOMETRY, &geometry) == 0 && !(geometry.flags & GEOMETRY_VERSION_5);
}

int fsq_xfs_inodes(int fd, uint64_t *count)
{
	struct counts counts;

	if (ioctl(fd, XFS_COUNTS, &counts))
		return -errno;
	*count = counts.allocino - counts.freeino;
	return 0;
}

static struct fsq_inode to_inode(const struct inode *raw, const struct geometry *geometry)
{
	return (struct fsq_inode){
		.owner = { raw->uid, raw->gid, raw->projectid },
		.mode = raw->mode,
		.bytes = raw->blocks * geometry->blocksize,
		.read = raw->atime,
		.ino = raw->ino,
		.size = raw->size,
		.links = raw->nlink,
	};
}

int fsq_bulkstat(int fd, fsq_inode_visitor visit, void *arg)
{
	struct bulkstat *request = calloc(1, sizeof(*request) + AT_ONCE * sizeof(struct inode));
	enum fsq_visit next = FSQ_VISIT_CONTINUE;
	struct geometry geometry;
	int rc = 0;

	if (!request)
		return -ENOMEM;
	if (ioctl(fd, XFS_GEOMETRY, &geometry))
		rc = -errno;
	request->icount = AT_ONCE;
	while (rc == 0 && next == FSQ_VISIT_CONTINUE) {
		if (ioctl(fd, XFS_BULKSTAT, request))
			rc = -errno;
		if (rc || request->ocount == 0)
			break;
		for (uint32_t i = 0; i < request->ocount && next == FSQ_VISIT_CONTINUE; i++) {
			const struct inode *raw = &request->inodes[i];
			const struct fsq_inode inode = to_inode(raw, &geometry);

			next = visit(&inode, arg);
		}
	}
	free(request);
	return rc;
}

static int bulkstat_one(int fd, ino_t ino, struct inode *raw)
{
	union {
		struct bulkstat request;
		char space[sizeof(struct bulkstat) + sizeof(struct inode)];
	} one = { .request = { .ino = ino, .icount = 1 } };

	if (ioctl(fd, XFS_BULKSTAT, &one.request))
		return -errno;
	if (one.request.ocount != 1 || one.request.inodes[0].ino != ino)
		return -ENOENT;
	*raw = one.request.inodes[0];
	return 0;
}

int fsq_bulkstat_project(int fd, ino_t ino, uint32_t *id)
{
	struct inode raw;
	int rc = bulkstat_one(fd, ino, &raw);

	if (rc == 0)
		*id = raw.projectid;
	return rc;
}

int fsq_bulkstat_inode(int fd, ino_t ino, struct fsq_inode *inode)
{
	struct geometry geometry;
	struct inode raw;
	int rc = ioctl(fd, XFS_GEOMETRY, &geometry) ? -errno : bulkstat_one(fd, ino, &raw);

	if (rc == 0)
		*inode = to_inode(&raw, &geometry);
	return rc;
}

int fsq_shared_bytes(int fd, uint64_t *bytes)
{
	union {
		struct fiemap request;
		char space[sizeof(struct fiemap) + EXTENTS * sizeof(struct fiemap_extent)];
	} map = { .request = { .fm_length = FIEMAP_MAX_OFFSET, .fm_extent_count = EXTENTS } };
	const struct fiemap_extent *extent = NULL;

	*bytes = 0;
	do {
		if (ioctl(fd, FS_IOC_FIEMAP, &map.request))
			return -errno;
		for (uint32_t i = 0; i < map.request.fm_mapped_extents; i++) {
			extent = &map.request.fm_extents[i];
			if (extent->fe_flags & FIEMAP_EXTENT_SHARED)
				*bytes += extent->fe_length;
		}
		if (!map.request.fm_mapped_extents)
			break;
		map.request.fm_start = extent->fe_logical + extent->fe_length;
		map.request.fm_length = FIEMAP_MAX_OFFSET - map.request.fm_start;
	} while (!(extent->fe_flags & FIEMAP_EXTENT_LAST));
	return 0;
}
