/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "disk_use.h"
#include "quota/base/error.h"
#include "quota/base/path.h"
#include "quota/base/units.h"
#include "quota/kernel/fs_type.h"
#include "quota/limits/limits.h"
#include "quota/mounts/handle.h"
#include "quota/mounts/lookup.h"
#include "quota/registry/entries.h"
#include "shared/file_stamp.h"
#include "usage.h"

/* --- mounts, and the files of the registry as long as they do not change --- */

/* A file that was read. */
struct fsq_cached_file {
	char *path;   /* NULL: none yet */
	bool checked; /* unchanged at the last check */
	struct fsq_file_stamp stamp;
};

struct fsq_cache {
	struct fsq_mount_cache mounts;
	struct fsq_cached_file projects, projid;
	struct fsq_entries entries; /* of the projects file, with an index by word */
	struct fsq_project_names *names;
};

int fsq_cache_new(struct fsq_cache **cache, struct fsq_error *err)
{
	*cache = calloc(1, sizeof(**cache));
	if (!*cache)
		return fsq_fail_errno(err, ENOMEM, NULL, "cannot go on");
	fsq_mount_cache_open(&(*cache)->mounts);
	return 0;
}

void fsq_cache_check(struct fsq_cache *cache)
{
	if (!cache)
		return;
	fsq_mount_cache_check(&cache->mounts);
	cache->projects.checked = cache->projid.checked = false;
}

static bool is_current(struct fsq_cached_file *cached, const char *file)
{
	if (!cached->path || strcmp(cached->path, file) != 0)
		return false;
	if (!cached->checked)
		cached->checked = fsq_file_stamp_is_current(&cached->stamp, file);
	return cached->checked;
}

/* Note path and time of a file that is about to be read. @return  0; FSQ_E_FAILED no memory */
static int remember_cached_file(struct fsq_cached_file *cached, const char *file,
				struct fsq_error *err)
{
	free(cached->path);
	*cached = (struct fsq_cached_file){
		.path = strdup(file),
		.checked = true,
		.stamp = fsq_file_stamp_of(file),
	};
	return cached->path ? 0 : fsq_fail_errno(err, ENOMEM, file, "cannot read");
}

/* Next time read the file again, and report a failure again. */
static void forget_cached_file(struct fsq_cached_file *cached)
{
	free(cached->path);
	cached->path = NULL;
}

/* As fsq_projects_id_of(). */
static int cached_id_of(struct fsq_cache *cache, const char *file, const char *directory,
			uint32_t *id, struct fsq_error *err)
{
	int rc = 0;

	if (!is_current(&cache->projects, file)) {
		fsq_entries_free(&cache->entries);
		cache->entries = (struct fsq_entries){ 0 };
		rc = remember_cached_file(&cache->projects, file, NULL);
		if (rc == 0)
			rc = fsq_entries_of_projects(&cache->entries, file, NULL);
		if (rc == 0)
			rc = fsq_entries_index_words(&cache->entries, NULL);
	}
	if (rc) {
		/* Report the failure as without a cache. */
		forget_cached_file(&cache->projects);
		return fsq_projects_id_of(file, directory, id, err);
	}
	*id = fsq_entries_id_of_word(&cache->entries, directory);
	return 0;
}

int fsq_cache_names(struct fsq_cache *cache, const char *file, struct fsq_project_names **names,
		    struct fsq_error *err)
{
	int rc = 0;

	if (!is_current(&cache->projid, file)) {
		fsq_project_names_free(cache->names);
		cache->names = NULL;
		rc = remember_cached_file(&cache->projid, file, err);
		if (rc == 0)
			rc = fsq_project_names_read(&cache->names, file, err);
		if (rc)
			forget_cached_file(&cache->projid);
	}
	*names = cache->names;
	return rc;
}

void fsq_cache_free(struct fsq_cache *cache)
{
	if (!cache)
		return;
	fsq_mount_cache_close(&cache->mounts);
	fsq_entries_free(&cache->entries);
	free(cache->projects.path);
	fsq_project_names_free(cache->names);
	free(cache->projid.path);
	free(cache);
}

/* --- what the kernel counts --- */

void fsq_usage_set_dquot(struct fsq_usage *usage, const struct fsq_dquot *dquot)
{
	if (!usage || !dquot)
		return;

	const struct fsq_amounts *blocks = &dquot->form[FSQ_BLOCKS];
	const struct fsq_amounts *inodes = &dquot->form[FSQ_INODES];

	usage->used_bytes = fsq_block_bytes(blocks->used);
	usage->soft_bytes = fsq_block_bytes(fsq_limit_or_0(blocks->soft));
	usage->hard_bytes = fsq_block_bytes(fsq_limit_or_0(blocks->hard));
	usage->used_inodes = inodes->used;
	usage->soft_inodes = fsq_limit_or_0(inodes->soft);
	usage->hard_inodes = fsq_limit_or_0(inodes->hard);
	/*
	 * XFS keeps the grace times in the record of ID 0, which has none of its own. And it starts one above a hard
	 * limit without a soft one, where nothing ends with it.
	 */
	usage->bytes_expires = dquot->id && usage->soft_bytes ? blocks->expires : 0;
	usage->inodes_expires = dquot->id && usage->soft_inodes ? inodes->expires : 0;
}

void fsq_usage_clear(struct fsq_usage *usage)
{
	if (!usage)
		return;
	free(usage->device);
	free(usage->mountpoint);
	*usage = (struct fsq_usage){ 0 };
}

/* The project that the directory is registered for, or else the one that it carries. */
static int find_project(struct fsq_handle *handle, const struct fsq_usage_request *request,
			struct fsq_cache *cache, uint32_t *id, struct fsq_error *err)
{
	const char *file = request->projects_file;
	char *found = file && !handle->is_canonical ? fsq_fd_path(handle->target.fd) : NULL;
	const char *path = handle->is_canonical ? handle->path : found;
	int rc = 0;

	*id = 0;
	if (file && path && cache)
		rc = cached_id_of(cache, file, path, id, err);
	else if (file && path)
		rc = fsq_projects_id_of(file, path, id, err);
	free(found);
	if (*id == 0)
		*id = handle->project.id;
	return rc;
}

static bool is_file(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode);
}

/* @return   0; FSQ_E_NOT_FOUND or FSQ_E_NOT_SUPPORTED when the kernel has no quota of the file */
static int ask_quota_of(struct fsq_usage *usage, struct fsq_handle *handle,
			const struct fsq_usage_request *request, struct fsq_cache *cache,
			struct fsq_error *err)
{
	struct fsq_dquot dquot;
	struct fsq_state state;
	int rc = fsq_handle_state(handle, &state);

	if (rc == 0) {
		usage->accounting = state.accounting[FSQ_PROJECT];
		usage->enforced = state.enforced[FSQ_PROJECT];
	}
	if (fsq_error_kind_of(-rc) == FSQ_E_PERMISSION)
		return fsq_fail(err, FSQ_E_PERMISSION, -rc, handle->path,
				"cannot ask whether there is project quota");
	if (!usage->accounting)
		return fsq_add_hint(err, FSQ_HINT_MOUNT_OR_COUNT,
				    fsq_fail(err, FSQ_E_NOT_SUPPORTED, 0, handle->path,
					     "there is no project quota on this filesystem"));
	rc = -fsq_inode_project_get(handle->target.fd, &handle->project);
	if (rc == ENOTTY)
		return fsq_fail(err, FSQ_E_NOT_SUPPORTED, 0, handle->path,
				"has no project ID: it is neither a file nor a directory");
	if (rc)
		return fsq_fail_errno(err, rc, handle->path, "cannot read the project ID");
	rc = find_project(handle, request, cache, &usage->id, err);
	if (rc)
		return rc;
	if (usage->id == 0)
		return fsq_add_hint(
			err, FSQ_HINT_ASSIGN_OR_COUNT,
			fsq_fail(err, FSQ_E_NOT_FOUND, 0, handle->path, "belongs to no project"));
	rc = fsq_limits_read(&handle->target, usage->id, false, &dquot, handle->path, err);
	if (rc)
		return rc;
	fsq_usage_set_dquot(usage, &dquot);
	usage->carried_id = handle->project.id;
	usage->in_force = fsq_in_force_of(usage->id, &handle->project,
					  !handle->project.inherit && is_file(handle->target.fd),
					  usage->enforced);
	return 0;
}

/* --- for a caller who may not ask the kernel --- */

/* What statfs(2) reports for the filesystem outside of the project; UINT64_MAX: unknown. */
struct outside {
	uint64_t blocks, free_blocks, files, free_files;
};

/* Ask at the mount point, unless it belongs to the same project. @project  or NULL: another filesystem knows it */
static struct outside look_outside(const struct fsq_handle *handle,
				   const struct fsq_inode_project *project,
				   const struct statfs *inside)
{
	struct fsq_inode_project other;
	struct statfs sfs;
	int fd = fsq_lookup(handle->points, handle->mount.directory, O_PATH | O_DIRECTORY, NULL);
	bool known = fd >= 0 && fstatfs(fd, &sfs) == 0 &&
		     memcmp(&sfs.f_fsid, &inside->f_fsid, sizeof(sfs.f_fsid)) == 0 &&
		     !(project &&
		       fsq_lookup_project(handle->points, handle->mount.directory, &other) == 0 &&
		       other.id == project->id && other.inherit);

	if (fd >= 0)
		close(fd);
	if (!known)
		return (struct outside){ UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };
	return (struct outside){ sfs.f_blocks, sfs.f_bfree, sfs.f_files, sfs.f_ffree };
}

/* The kernel reports no more free space than the filesystem has; if it has no more than that, the use is unknown. */
static uint64_t used(uint64_t limit, uint64_t free, uint64_t one, uint64_t other)
{
	if (free >= (one < other ? one : other) && free <= (one < other ? other : one))
		return FSQ_NOT_KNOWN;
	return limit > free ? limit - free : 0;
}

/*
 * Read what statfs(2) reports in a directory whose project has enforced limits: the soft limit if there is
 * one, otherwise the hard one, never more used than that, and never more free than the filesystem has. If the
 * mount shows no directory outside of the project, the numbers may also be those of the filesystem.
 *
 * @project  of the directory, or NULL: another filesystem knows it
 * @usage    filled on success; unknown values are FSQ_NOT_KNOWN, unknown limits 0
 * @return   whether there is a limit
 */
static bool ask_statfs(struct fsq_usage *usage, const struct fsq_handle *handle,
		       const struct fsq_inode_project *project)
{
	struct outside before, after;
	struct statfs sfs;
	uint64_t size, blocks;
	bool bytes, inodes;

	if (fstatfs(handle->target.fd, &sfs))
		return false;
	/*
	 * XFS reports as many files as fit into its free space, so compare a limit with the count before and
	 * after.
	 */
	before = look_outside(handle, project, &sfs);
	if (fstatfs(handle->target.fd, &sfs))
		return false;
	after = look_outside(handle, project, &sfs);
	bytes = sfs.f_blocks < before.blocks;
	inodes = sfs.f_files < before.files && sfs.f_files < after.files;
	if (!bytes && !inodes)
		return false;
	size = (uint64_t)sfs.f_bsize;
	blocks = used(sfs.f_blocks, sfs.f_bfree, before.free_blocks, after.free_blocks);
	usage->source = FSQ_USAGE_STATFS;
	usage->id = project ? project->id : 0;
	usage->accounting = usage->enforced = usage->at_least = true;
	usage->hard_bytes = bytes ? sfs.f_blocks * size : 0;
	usage->used_bytes = bytes && blocks != FSQ_NOT_KNOWN ? blocks * size : FSQ_NOT_KNOWN;
	usage->hard_inodes = inodes ? sfs.f_files : 0;
	usage->used_inodes =
		inodes ? used(sfs.f_files, sfs.f_ffree, before.free_files, after.free_files)
		       : FSQ_NOT_KNOWN;
	return true;
}

static bool ask_statfs_of_project(struct fsq_usage *usage, const struct fsq_handle *handle)
{
	struct fsq_inode_project project;

	/* A limit that is not enforced is not reported. */
	return !(usage->accounting && !usage->enforced) &&
	       fsq_inode_project_get(handle->target.fd, &project) == 0 && project.id &&
	       project.inherit && ask_statfs(usage, handle, &project);
}

/* Set use and limits to use and size of a filesystem. */
static void take_size(struct fsq_usage *usage, const struct statfs *sfs)
{
	usage->source = FSQ_USAGE_STATFS;
	usage->used_bytes = (uint64_t)sfs->f_bsize * (sfs->f_blocks - sfs->f_bfree);
	usage->hard_bytes = (uint64_t)sfs->f_bsize * sfs->f_blocks;
	usage->used_inodes = sfs->f_files - sfs->f_ffree;
	usage->hard_inodes = sfs->f_files;
}

/*
 * Read the size of a filesystem that has no quota here: a tmpfs or the like, or one that another answers for, which
 * shows the limit of a project instead where there is one.
 *
 * @return   whether it is such a filesystem, and shows what is wanted
 */
static bool ask_for_size(struct fsq_usage *usage, const struct fsq_handle *handle,
			 const struct statfs *sfs, bool walk)
{
	struct fsq_inode_project project;

	if (fsq_is_in_memory(sfs)) {
		take_size(usage, sfs);
		return true;
	}
	if (!fsq_is_answered_for(sfs))
		return false;
	if (!ask_statfs(usage, handle, NULL)) {
		if (walk || !sfs->f_blocks)
			return false;
		take_size(usage, sfs);
		/* Beside a limit of space, files are counted for all of it. */
		usage->used_inodes = FSQ_NOT_KNOWN;
		usage->hard_inodes = 0;
		usage->at_least = true;
	}
	/* An overlay tells the ID of its upper layer. */
	if (fsq_inode_project_get(handle->target.fd, &project) == 0)
		usage->id = project.id;
	return true;
}

/* --- all together --- */

static int get_usage_of(struct fsq_usage *usage, struct fsq_handle *handle,
			const struct fsq_usage_request *request, struct fsq_cache *cache,
			struct fsq_error *err)
{
	struct statfs sfs;
	int rc = fsq_handle_find_mount(handle, err);

	if (rc)
		return rc;
	usage->device = handle->mount.device;
	usage->mountpoint = handle->mount.directory;
	if (!handle->known || handle->known->has_no_quota) {
		if (fstatfs(handle->target.fd, &sfs))
			return fsq_fail(err, FSQ_E_FAILED, errno, handle->path,
					"cannot ask the filesystem");
		if (ask_for_size(usage, handle, &sfs, request->walk))
			return 0;
	}
	rc = ask_quota_of(usage, handle, request, cache, err);
	if (rc == FSQ_E_PERMISSION && ask_statfs_of_project(usage, handle))
		return 0;
	if (!request->walk ||
	    (rc != FSQ_E_NOT_FOUND && rc != FSQ_E_NOT_SUPPORTED && rc != FSQ_E_PERMISSION))
		return rc;
	usage->source = FSQ_USAGE_WALK;
	return fsq_disk_use(handle->target.fd, handle->path, request->options, &usage->used_bytes,
			    &usage->used_inodes, err);
}

int fsq_usage_get(struct fsq_usage *usage, const struct fsq_usage_request *request,
		  struct fsq_error *err)
{
	return fsq_usage_get_cached(usage, request, NULL, err);
}

int fsq_usage_get_cached(struct fsq_usage *usage, const struct fsq_usage_request *request,
			 struct fsq_cache *cache, struct fsq_error *err)
{
	if (!usage || !request)
		return fsq_fail_null(err);

	struct fsq_handle handle;
	int rc = fsq_check_size(request, request->size, sizeof(*request), err);

	*usage = (struct fsq_usage){ 0 };
	if (rc == 0)
		rc = fsq_check_parts(NULL, request->options, err);
	if (rc == 0)
		rc = fsq_handle_open(&handle, request->path, fsq_mounts_of(request->options), err);
	if (rc)
		return rc;
	if (cache)
		handle.mounts = &cache->mounts;
	rc = get_usage_of(usage, &handle, request, cache, err);
	/* The usage owns the strings of the mount. */
	if (rc)
		*usage = (struct fsq_usage){ 0 };
	else
		handle.mount.device = handle.mount.directory = NULL;
	fsq_handle_close(&handle);
	return rc;
}

/* --- whether it can have quotas --- */

/* A caller who may not read project quotas may not set one either. */
static int check_support(struct fsq_handle *directory, bool *enforced, struct fsq_error *err)
{
	struct fsq_dquot dquot;
	int rc = fsq_handle_read_project(directory, err);

	if (rc == 0)
		rc = fsq_handle_check_quota(directory, enforced, err);
	if (rc)
		return rc;
	rc = -fsq_quotactl_get(&directory->target, FSQ_PROJECT, 1, &dquot);
	if (rc == 0 || rc == ENOENT)
		return 0;
	return fsq_fail_errno(err, rc, directory->path, "cannot read quotas of projects");
}

int fsq_supported(const char *path, struct fsq_support *support, struct fsq_error *err)
{
	struct fsq_handle directory;
	struct fsq_error unknown;
	int rc = fsq_handle_open_directory(&directory, path, NULL, err);

	*support = (struct fsq_support){ 0 };
	if (rc)
		return rc;
	rc = fsq_handle_explain(&directory, check_support(&directory, &support->enforced, err),
				err);
	/* The mount is not always known. */
	if (rc == 0 && fsq_handle_find_mount(&directory, &unknown) == 0) {
		support->device = directory.mount.device;
		support->mountpoint = directory.mount.directory;
		directory.mount.device = directory.mount.directory = NULL;
	} else if (rc == 0 && unknown.errnum == ENOMEM) {
		rc = unknown.kind;
		if (err)
			*err = unknown;
	}
	fsq_handle_close(&directory);
	return rc;
}

void fsq_support_clear(struct fsq_support *support)
{
	if (!support)
		return;
	free(support->device);
	free(support->mountpoint);
	*support = (struct fsq_support){ 0 };
}
