/* SPDX-License-Identifier: Apache-2.0 */
/* ioctls of XFS, which the kernel's installed headers lack. */
#ifndef FSQ_XFS_IOCTL_H
#define FSQ_XFS_IOCTL_H

#include <stdint.h>
#include <sys/ioctl.h>

/* ioctl_xfs_fsgeometry(2), its first version, and ioctl_xfs_fscounts(2). */
struct fsq_xfs_geometry {
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

/* In flags: quota was on at some time; version 5, with checksums. */
#define FSQ_XFS_GEOMETRY_QUOTA (1U << 2)
#define FSQ_XFS_GEOMETRY_VERSION_5 (1U << 15)

struct fsq_xfs_counts {
	uint64_t freedata; /* blocks */
	uint64_t freertx;  /* realtime extents */
	uint64_t freeino;
	uint64_t allocino;
};

#define FSQ_XFS_GEOMETRY _IOR('X', 100, struct fsq_xfs_geometry)
#define FSQ_XFS_COUNTS _IOR('X', 113, struct fsq_xfs_counts)

/* ioctl_xfs_bulkstat(2) */
struct fsq_xfs_bulkstat {
	uint64_t ino;
	uint64_t size;
	uint64_t blocks; /* of the filesystem's size */
	uint64_t xflags;
	int64_t atime;
	int64_t mtime;
	int64_t ctime;
	int64_t btime;
	uint32_t gen;
	uint32_t uid;
	uint32_t gid;
	uint32_t projectid;
	uint32_t atime_nsec;
	uint32_t mtime_nsec;
	uint32_t ctime_nsec;
	uint32_t btime_nsec;
	uint32_t blksize;
	uint32_t rdev;
	uint32_t cowextsize_blks;
	uint32_t extsize_blks;
	uint32_t nlink;
	uint32_t extents;
	uint32_t aextents;
	uint16_t version;
	uint16_t forkoff;
	uint16_t sick;
	uint16_t checked;
	uint16_t mode;
	uint16_t pad2;
	uint64_t extents64;
	uint64_t pad[6];
};

struct fsq_xfs_bulkstat_request {
	uint64_t ino; /* where to begin; the kernel moves it on */
	uint32_t flags;
	uint32_t icount; /* room in inodes */
	uint32_t ocount; /* how many came */
	uint32_t agno;
	uint64_t reserved[5];
	struct fsq_xfs_bulkstat inodes[];
};

#define FSQ_XFS_BULKSTAT _IOR('X', 127, struct fsq_xfs_bulkstat_request)

#endif
