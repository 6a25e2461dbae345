/* SPDX-License-Identifier: Apache-2.0 */
#include "directory_space.h"

#include <fcntl.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

/* What statfs(2) shows of the file system outside of a project; UINT64_MAX: not known. */
struct outside {
	uint64_t blocks, free_blocks, files, free_files;
};

static bool is_in_project(const char *directory, const struct fsq_inode_project *project)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	struct fsq_inode_project other;
	bool is_in = fd >= 0 && fsq_inode_project_get(fd, &other) == 0 && other.id == project->id &&
		     other.inherit;

	if (fd >= 0)
		close(fd);
	return is_in;
}

/* The mount point of the directory's mount is outside, unless it is in the same project. */
static struct outside look_outside(const struct fsq_place *place,
				   const struct fsq_inode_project *project,
				   const struct statfs *inside)
{
	struct statfs sfs;

	if (is_in_project(place->mount.directory, project) ||
	    statfs(place->mount.directory, &sfs) ||
	    memcmp(&sfs.f_fsid, &inside->f_fsid, sizeof(sfs.f_fsid)) != 0)
		return (struct outside){ UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };
	return (struct outside){ sfs.f_blocks, sfs.f_bfree, sfs.f_files, sfs.f_ffree };
}

/* Linux shows no more free than the file system has, before or after the call: then the rest of the
 * limit is not known. */
static uint64_t used(uint64_t limit, uint64_t free, uint64_t one, uint64_t other)
{
	if (free >= (one < other ? one : other) && free <= (one < other ? other : one))
		return FSQ_NOT_KNOWN;
	return limit > free ? limit - free : 0;
}

bool fsq_directory_space(const struct fsq_place *place, const struct fsq_inode_project *project,
			 struct fsq_usage *usage)
{
	struct outside before, after;
	struct statfs sfs;
	uint64_t size, blocks;
	bool bytes, inodes;

	if (project->id == 0 || !project->inherit || fstatfs(place->target.fd, &sfs))
		return false;
	/* XFS has as many files as fit into its free space, so a limit is smaller at any time. */
	before = look_outside(place, project, &sfs);
	if (fstatfs(place->target.fd, &sfs))
		return false;
	after = look_outside(place, project, &sfs);
	bytes = sfs.f_blocks < before.blocks;
	inodes = sfs.f_files < before.files && sfs.f_files < after.files;
	if (!bytes && !inodes)
		return false;
	size = (uint64_t)sfs.f_bsize;
	blocks = used(sfs.f_blocks, sfs.f_bfree, before.free_blocks, after.free_blocks);
	usage->source = FSQ_USAGE_STATFS;
	usage->id = project->id;
	usage->at_least = true;
	usage->hard_bytes = bytes ? sfs.f_blocks * size : 0;
	usage->used_bytes = bytes && blocks != FSQ_NOT_KNOWN ? blocks * size : FSQ_NOT_KNOWN;
	usage->hard_inodes = inodes ? sfs.f_files : 0;
	usage->used_inodes =
		inodes ? used(sfs.f_files, sfs.f_ffree, before.free_files, after.free_files)
		       : FSQ_NOT_KNOWN;
	return true;
}
