/* SPDX-License-Identifier: Apache-2.0 */
#include "bulkstat.h"

#include <errno.h>
#include <stdlib.h>

#include "xfs_ioctl.h"

#define AT_ONCE 1024

static int scan(int fd, struct fsq_xfs_bulkstat_request *request, fsq_inode_visitor visit,
		void *arg)
{
	struct fsq_xfs_geometry geometry;
	enum fsq_visit next = FSQ_VISIT_CONTINUE;

	if (ioctl(fd, FSQ_XFS_GEOMETRY, &geometry))
		return -errno;
	do {
		request->icount = AT_ONCE;
		if (ioctl(fd, FSQ_XFS_BULKSTAT, request))
			return -errno;
		for (uint32_t i = 0; i < request->ocount && next == FSQ_VISIT_CONTINUE; i++) {
			const struct fsq_xfs_bulkstat *raw = &request->inodes[i];
			struct fsq_inode inode = {
				.owner = { raw->uid, raw->gid, raw->projectid },
				.mode = raw->mode,
				.bytes = raw->blocks * geometry.blocksize,
				.read = raw->atime,
			};

			next = visit(&inode, arg);
		}
	} while (request->ocount > 0 && next == FSQ_VISIT_CONTINUE);
	return 0;
}

int fsq_bulkstat(int fd, fsq_inode_visitor visit, void *arg)
{
	struct fsq_xfs_bulkstat_request *request =
		calloc(1, sizeof(*request) + AT_ONCE * sizeof(request->inodes[0]));
	int rc = request ? scan(fd, request, visit, arg) : -ENOMEM;

	free(request);
	return rc;
}

int fsq_bulkstat_project(int fd, ino_t ino, uint32_t *id)
{
	union {
		struct fsq_xfs_bulkstat_request request;
		char space[sizeof(struct fsq_xfs_bulkstat_request) +
			   sizeof(struct fsq_xfs_bulkstat)];
	} one = { .request = { .ino = ino, .icount = 1 } };

	if (ioctl(fd, FSQ_XFS_BULKSTAT, &one.request))
		return -errno;
	if (one.request.ocount != 1 || one.request.inodes[0].ino != ino)
		return -ENOENT;
	*id = one.request.inodes[0].projectid;
	return 0;
}
