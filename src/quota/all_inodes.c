/* SPDX-License-Identifier: Apache-2.0 */
#include "all_inodes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "xfs_ioctl.h"

#define AT_ONCE 1024

static int fail(const struct fsq_filesystem *fs, int errnum, const char *what,
		struct fsq_error *err)
{
	return fsq_fail(err, fsq_code_of_errno(errnum), errnum, fs->directory, "%s", what);
}

static int scan(const struct fsq_filesystem *fs, int fd, struct fsq_xfs_bulkstat_request *request,
		void (*visit)(const struct fsq_inode *inode, void *arg), void *arg,
		struct fsq_error *err)
{
	struct fsq_xfs_geometry geometry;

	if (ioctl(fd, FSQ_XFS_GEOMETRY, &geometry))
		return fail(fs, errno, "cannot read the geometry", err);
	for (;;) {
		request->icount = AT_ONCE;
		if (ioctl(fd, FSQ_XFS_BULKSTAT, request))
			return fail(fs, errno, "cannot read the inodes", err);
		if (request->ocount == 0)
			return 0;
		for (uint32_t i = 0; i < request->ocount; i++) {
			const struct fsq_xfs_bulkstat *raw = &request->inodes[i];
			struct fsq_inode inode = {
				.owner = { raw->uid, raw->gid, raw->projectid },
				.mode = raw->mode,
				.bytes = raw->blocks * geometry.blocksize,
				.read = raw->atime,
			};

			visit(&inode, arg);
		}
	}
}

int fsq_all_inodes(const struct fsq_filesystem *fs,
		   void (*visit)(const struct fsq_inode *inode, void *arg), void *arg,
		   struct fsq_error *err)
{
	struct fsq_xfs_bulkstat_request *request;
	int fd, rc;

	fd = open(fs->directory, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fail(fs, errno, "cannot open", err);
	request = calloc(1, sizeof(*request) + AT_ONCE * sizeof(request->inodes[0]));
	rc = request ? scan(fs, fd, request, visit, arg, err)
		     : fail(fs, ENOMEM, "cannot open", err);
	free(request);
	close(fd);
	return rc;
}

int fsq_xfs_project_of(int fd, ino_t ino, uint32_t *id)
{
	union {
		struct fsq_xfs_bulkstat_request request;
		char room[sizeof(struct fsq_xfs_bulkstat_request) +
			  sizeof(struct fsq_xfs_bulkstat)];
	} one = { .request = { .ino = ino, .icount = 1 } };

	if (ioctl(fd, FSQ_XFS_BULKSTAT, &one.request))
		return -errno;
	if (one.request.ocount != 1 || one.request.inodes[0].ino != ino)
		return -ENOENT;
	*id = one.request.inodes[0].projectid;
	return 0;
}
