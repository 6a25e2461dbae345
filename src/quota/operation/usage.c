/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>

#include "cache.h"
#include "disk_use.h"
#include "limits.h"
#include "quota/base/error.h"
#include "quota/base/path.h"
#include "quota/base/units.h"
#include "quota/kernel/fs_type.h"
#include "quota/mounts/place.h"

static uint64_t limit_of(uint64_t blocks)
{
	return fsq_limit_is_none(blocks) ? 0 : fsq_block_bytes(blocks);
}

void fsq_usage_set_dquot(struct fsq_usage *usage, const struct fsq_dquot *dquot)
{
	const struct fsq_amounts *blocks = &dquot->form[FSQ_BLOCKS];
	const struct fsq_amounts *inodes = &dquot->form[FSQ_INODES];

	usage->used_bytes = fsq_block_bytes(blocks->used);
	usage->soft_bytes = limit_of(blocks->soft);
	usage->hard_bytes = limit_of(blocks->hard);
	usage->used_inodes = inodes->used;
	usage->soft_inodes = inodes->soft;
	usage->hard_inodes = inodes->hard;
	/* XFS keeps the grace times of all in the record of ID 0, which has none of its own. */
	usage->bytes_expires = dquot->id ? blocks->expires : 0;
	usage->inodes_expires = dquot->id ? inodes->expires : 0;
}

void fsq_usage_clear(struct fsq_usage *usage)
{
	free(usage->device);
	free(usage->mountpoint);
	*usage = (struct fsq_usage){ 0 };
}

/* The project that the projects file has for a directory, or else the one that it carries. */
static int find_project(struct fsq_place *place, const struct fsq_usage_request *request,
			uint32_t *id, struct fsq_error *err)
{
	const char *file = request->projects_file;
	char *found = file && !place->is_canonical ? fsq_fd_path(place->target.fd) : NULL;
	const char *path = place->is_canonical ? place->path : found;
	int rc = 0;

	*id = 0;
	if (file && path && request->cache)
		rc = fsq_cache_id_of(request->cache, file, path, id, err);
	else if (file && path)
		rc = fsq_projects_id_of(file, path, id, err);
	free(found);
	if (*id == 0)
		*id = place->project.id;
	return rc;
}

/* @return   0; FSQ_E_NOT_FOUND or FSQ_E_NOT_SUPPORTED where the kernel has no quota of the file */
static int ask_kernel(struct fsq_usage *usage, struct fsq_place *place,
		      const struct fsq_usage_request *request, struct fsq_error *err)
{
	struct fsq_dquot dquot;
	struct fsq_state state;
	int rc = fsq_place_state(place, &state);

	if (rc == 0) {
		usage->accounting = state.accounting[FSQ_PROJECT];
		usage->enforced = state.enforced[FSQ_PROJECT];
	}
	if (fsq_error_kind_of(-rc) == FSQ_E_PERMISSION)
		return fsq_fail(err, FSQ_E_PERMISSION, -rc, place->path,
				"cannot ask whether there is project quota");
	if (!usage->accounting)
		return fsq_add_hint(err, FSQ_HINT_MOUNT_OR_COUNT,
				    fsq_fail(err, FSQ_E_NOT_SUPPORTED, 0, place->path,
					     "there is no project quota on this filesystem"));
	rc = -fsq_inode_project_get(place->target.fd, &place->project);
	if (rc == ENOTTY)
		return fsq_fail(err, FSQ_E_NOT_SUPPORTED, 0, place->path,
				"has no project ID: it is neither a file nor a directory");
	if (rc)
		return fsq_fail(err, fsq_error_kind_of(rc), rc, place->path,
				"cannot read the project ID");
	rc = find_project(place, request, &usage->id, err);
	if (rc)
		return rc;
	if (usage->id == 0)
		return fsq_add_hint(
			err, FSQ_HINT_ASSIGN_OR_COUNT,
			fsq_fail(err, FSQ_E_NOT_FOUND, 0, place->path, "belongs to no project"));
	rc = fsq_limits_read(&place->target, usage->id, false, &dquot, place->path, err);
	if (rc == 0)
		fsq_usage_set_dquot(usage, &dquot);
	return rc;
}

/* --- for a caller who may not ask the kernel --- */

/* What statfs(2) shows of the file system outside of a project; UINT64_MAX: not known. */
struct outside {
	uint64_t blocks, free_blocks, files, free_files;
};

/* The mount point of the directory's mount is outside, unless it is in the same project. */
static struct outside look_outside(const struct fsq_place *place,
				   const struct fsq_inode_project *project,
				   const struct statfs *inside)
{
	struct fsq_inode_project other;
	struct statfs sfs;

	if ((fsq_inode_project_of(place->mount.directory, &other) == 0 && other.id == project->id &&
	     other.inherit) ||
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

/*
 * Read what statfs(2) shows in a directory whose project has limits that are enforced. It shows the
 * soft limit if there is one, else the hard one, no use above it, and no more free than there is on
 * the file system. Where the mount has no directory outside of the project, what it shows can also
 * be the size and the use of the file system.
 *
 * @usage    filled on success; what is not shown is FSQ_NOT_KNOWN, or 0 for a limit
 * @return   whether it shows a limit
 */
static bool ask_statfs(struct fsq_usage *usage, const struct fsq_place *place)
{
	struct fsq_inode_project project;
	struct outside before, after;
	struct statfs sfs;
	uint64_t size, blocks;
	bool bytes, inodes;

	/* It shows no limit that nobody is stopped at. */
	if ((usage->accounting && !usage->enforced) ||
	    fsq_inode_project_get(place->target.fd, &project) || project.id == 0 ||
	    !project.inherit || fstatfs(place->target.fd, &sfs))
		return false;
	/* XFS has as many files as fit into its free space, so a limit is smaller at any time. */
	before = look_outside(place, &project, &sfs);
	if (fstatfs(place->target.fd, &sfs))
		return false;
	after = look_outside(place, &project, &sfs);
	bytes = sfs.f_blocks < before.blocks;
	inodes = sfs.f_files < before.files && sfs.f_files < after.files;
	if (!bytes && !inodes)
		return false;
	size = (uint64_t)sfs.f_bsize;
	blocks = used(sfs.f_blocks, sfs.f_bfree, before.free_blocks, after.free_blocks);
	usage->source = FSQ_USAGE_STATFS;
	usage->id = project.id;
	usage->accounting = usage->enforced = usage->at_least = true;
	usage->hard_bytes = bytes ? sfs.f_blocks * size : 0;
	usage->used_bytes = bytes && blocks != FSQ_NOT_KNOWN ? blocks * size : FSQ_NOT_KNOWN;
	usage->hard_inodes = inodes ? sfs.f_files : 0;
	usage->used_inodes =
		inodes ? used(sfs.f_files, sfs.f_ffree, before.free_files, after.free_files)
		       : FSQ_NOT_KNOWN;
	return true;
}

/* --- all together --- */

static int get(struct fsq_usage *usage, struct fsq_place *place,
	       const struct fsq_usage_request *request, struct fsq_error *err)
{
	struct statfs sfs;
	int rc = fsq_place_find_mount(place, err);

	if (rc)
		return rc;
	usage->device = place->mount.device;
	usage->mountpoint = place->mount.directory;
	/* A tmpfs or the like is asked for its size, not for its quota. */
	if (!place->known || place->known->in_memory) {
		if (fstatfs(place->target.fd, &sfs))
			return fsq_fail(err, FSQ_E_FAILED, errno, place->path,
					"cannot ask the filesystem");
		if (fsq_is_in_memory(&sfs)) {
			usage->source = FSQ_USAGE_STATFS;
			usage->used_bytes = (uint64_t)sfs.f_bsize * (sfs.f_blocks - sfs.f_bfree);
			usage->hard_bytes = (uint64_t)sfs.f_bsize * sfs.f_blocks;
			usage->used_inodes = sfs.f_files - sfs.f_ffree;
			usage->hard_inodes = sfs.f_files;
			return 0;
		}
	}
	rc = ask_kernel(usage, place, request, err);
	if (rc == FSQ_E_PERMISSION && ask_statfs(usage, place))
		return 0;
	if (!request->walk ||
	    (rc != FSQ_E_NOT_FOUND && rc != FSQ_E_NOT_SUPPORTED && rc != FSQ_E_PERMISSION))
		return rc;
	usage->source = FSQ_USAGE_WALK;
	return fsq_disk_use(place->target.fd, place->path, request->options, &usage->used_bytes,
			    &usage->used_inodes, err);
}

int fsq_usage_get(struct fsq_usage *usage, const struct fsq_usage_request *request,
		  struct fsq_error *err)
{
	struct fsq_place place;
	int rc = fsq_check_size(request, request->size, sizeof(*request), err);

	*usage = (struct fsq_usage){ 0 };
	if (rc == 0)
		rc = fsq_place_open(&place, request->path, err);
	if (rc)
		return rc;
	if (request->cache)
		place.mounts = &request->cache->mounts;
	rc = get(usage, &place, request, err);
	/* The usage keeps the strings of the mount. */
	if (rc)
		*usage = (struct fsq_usage){ 0 };
	else
		place.mount.device = place.mount.directory = NULL;
	fsq_place_close(&place);
	return rc;
}

/* --- whether it can have quotas --- */

/* A caller who may not ask about projects may not put a quota on anything. */
static int check_support(struct fsq_place *directory, bool *enforced, struct fsq_error *err)
{
	struct fsq_dquot dquot;
	int rc = fsq_place_read_project(directory, err);

	if (rc == 0)
		rc = fsq_place_check_quota(directory, enforced, err);
	if (rc)
		return rc;
	rc = -fsq_quotactl_get(&directory->target, FSQ_PROJECT, 1, &dquot);
	if (rc == 0 || rc == ENOENT)
		return 0;
	return fsq_fail(err, fsq_error_kind_of(rc), rc, directory->path,
			"cannot read quotas of projects");
}

int fsq_supported(const char *path, struct fsq_support *support, struct fsq_error *err)
{
	struct fsq_place directory;
	struct fsq_error unknown;
	int rc = fsq_place_open_directory(&directory, path, err);

	*support = (struct fsq_support){ 0 };
	if (rc)
		return rc;
	rc = fsq_place_explain(&directory, check_support(&directory, &support->enforced, err), err);
	/* Where it is mounted is not always known. */
	if (rc == 0 && fsq_place_find_mount(&directory, &unknown) == 0) {
		support->device = directory.mount.device;
		support->mountpoint = directory.mount.directory;
		directory.mount.device = directory.mount.directory = NULL;
	} else if (rc == 0 && unknown.errnum == ENOMEM) {
		rc = unknown.kind;
		if (err)
			*err = unknown;
	}
	fsq_place_close(&directory);
	return rc;
}

void fsq_support_clear(struct fsq_support *support)
{
	free(support->device);
	free(support->mountpoint);
	*support = (struct fsq_support){ 0 };
}
