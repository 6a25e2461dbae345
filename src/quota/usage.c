/* SPDX-License-Identifier: Apache-2.0 */
#include "usage.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "disk_use.h"
#include "inode_project.h"
#include "limits.h"
#include "mounts.h"
#include "project_files.h"
#include "units.h"

static uint64_t bytes_of(uint64_t blocks)
{
	return blocks > UINT64_MAX / FSQ_BASIC_BLOCK ? UINT64_MAX : blocks * FSQ_BASIC_BLOCK;
}

static uint64_t limit_of(uint64_t blocks)
{
	return blocks >= FSQ_UNLIMITED_BLOCKS ? 0 : bytes_of(blocks);
}

void fsq_usage_fill(struct fsq_usage *usage, const struct fsq_dquot *dquot)
{
	const struct fsq_amounts *blocks = &dquot->form[FSQ_BLOCKS];
	const struct fsq_amounts *inodes = &dquot->form[FSQ_INODES];

	usage->used_bytes = bytes_of(blocks->used);
	usage->soft_bytes = limit_of(blocks->soft);
	usage->hard_bytes = limit_of(blocks->hard);
	usage->used_inodes = inodes->used;
	usage->soft_inodes = inodes->soft;
	usage->hard_inodes = inodes->hard;
}

void fsq_usage_clear(struct fsq_usage *usage)
{
	free(usage->device);
	free(usage->mountpoint);
	*usage = (struct fsq_usage){ 0 };
}

static bool is_in_memory(const struct statfs *sfs)
{
	return sfs->f_type == TMPFS_MAGIC || sfs->f_type == RAMFS_MAGIC ||
	       sfs->f_type == HUGETLBFS_MAGIC;
}

static void fill_from_statfs(struct fsq_usage *usage, const struct statfs *sfs)
{
	usage->source = FSQ_USAGE_STATFS;
	usage->used_bytes = (uint64_t)sfs->f_bsize * (sfs->f_blocks - sfs->f_bfree);
	usage->hard_bytes = (uint64_t)sfs->f_bsize * sfs->f_blocks;
	usage->used_inodes = sfs->f_files - sfs->f_ffree;
	usage->hard_inodes = sfs->f_files;
}

/* The project that the projects file has for a directory, or else the one that it carries. */
static int find_project(int fd, const char *projects_file, const struct fsq_inode_project *carried,
			uint32_t *id, struct fsq_error *err)
{
	char link[32], path[PATH_MAX];
	ssize_t length = -1;
	int rc = 0;

	*id = 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (projects_file)
		length = readlink(link, path, sizeof(path));
	if (length > 0 && (size_t)length < sizeof(path)) {
		path[length] = '\0';
		rc = fsq_projects_id_of(projects_file, path, id, err);
	}
	if (*id == 0)
		*id = carried->id;
	return rc;
}

/*
 * What the kernel says.
 * @return   0; FSQ_E_NOT_FOUND or FSQ_E_NOT_SUPPORTED where it has no quota of this file
 */
static int ask_kernel(struct fsq_usage *usage, int fd, const char *path, const char *projects_file,
		      struct fsq_error *err)
{
	const struct fsq_target target = {
		.fd = fd,
		.device = usage->device[0] == '/' ? usage->device : NULL,
	};
	struct fsq_inode_project project;
	struct fsq_dquot dquot;
	struct fsq_state state;
	int rc = fsq_kernel_state(&target, FSQ_PROJECT, &state);

	if (rc == 0) {
		usage->accounting = state.accounting[FSQ_PROJECT];
		usage->enforced = state.enforced[FSQ_PROJECT];
	}
	if (!usage->accounting) {
		fsq_fail(err, FSQ_E_NOT_SUPPORTED, 0, path,
			 "there is no project quota on this filesystem");
		if (err)
			err->hint = "it takes XFS, ext4 or f2fs, mounted with prjquota, or "
				    "--fallback=walk";
		return FSQ_E_NOT_SUPPORTED;
	}
	rc = -fsq_inode_project_get(fd, &project);
	if (rc == ENOTTY)
		return fsq_fail(err, FSQ_E_NOT_SUPPORTED, 0, path,
				"has no project ID: it is neither a file nor a directory");
	if (rc)
		return fsq_fail(err, fsq_code_of_errno(rc), rc, path, "cannot read the project ID");
	rc = find_project(fd, projects_file, &project, &usage->id, err);
	if (rc)
		return rc;
	if (usage->id == 0) {
		fsq_fail(err, FSQ_E_NOT_FOUND, 0, path, "belongs to no project");
		if (err)
			err->hint = "fsquota assign puts a quota on it, --fallback=walk counts";
		return FSQ_E_NOT_FOUND;
	}
	rc = -fsq_kernel_get(&target, FSQ_PROJECT, usage->id, &dquot);
	if (rc)
		return fsq_fail(err, fsq_code_of_errno(rc), rc, path,
				"cannot read the quota of project %u", usage->id);
	fsq_usage_fill(usage, &dquot);
	return 0;
}

static int count(struct fsq_usage *usage, int fd, const char *path,
		 const struct fsq_walk_manner *manner, struct fsq_error *err)
{
	usage->source = FSQ_USAGE_WALK;
	return fsq_disk_use(fd, path, manner, &usage->used_bytes, &usage->used_inodes, err);
}

static int get(struct fsq_usage *usage, int fd, const char *path, const char *projects_file,
	       bool walk, const struct fsq_walk_manner *manner, struct fsq_error *err)
{
	struct fsq_mount mount;
	struct statfs sfs;
	int rc = fsq_mount_of_fd(fd, path, &mount, err);

	if (rc)
		return rc;
	usage->device = mount.device;
	usage->mountpoint = mount.directory;
	if (fstatfs(fd, &sfs))
		return fsq_fail(err, FSQ_E_FAILED, errno, path, "cannot ask the filesystem");
	if (is_in_memory(&sfs)) {
		fill_from_statfs(usage, &sfs);
		return 0;
	}
	rc = ask_kernel(usage, fd, path, projects_file, err);
	if (walk && (rc == FSQ_E_NOT_FOUND || rc == FSQ_E_NOT_SUPPORTED))
		rc = count(usage, fd, path, manner, err);
	return rc;
}

int fsq_usage_get(struct fsq_usage *usage, const char *path, const char *projects_file, bool walk,
		  const struct fsq_walk_manner *manner, struct fsq_error *err)
{
	int fd, rc;

	*usage = (struct fsq_usage){ 0 };
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 && errno == ELOOP)
		return fsq_fail(err, FSQ_E_USAGE, 0, path, "is a symlink: name what it leads to");
	if (fd < 0)
		return fsq_fail(err, fsq_code_of_errno(errno), errno, path, "cannot open");
	rc = get(usage, fd, path, projects_file, walk, manner, err);
	close(fd);
	if (rc)
		fsq_usage_clear(usage);
	return rc;
}
