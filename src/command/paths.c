/* SPDX-License-Identifier: Apache-2.0 */
#include "paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "names.h"
#include "output/errno_words.h"
#include "shared/array.h"

static void out_of_memory(struct session *session)
{
	session_errno(session, 0, ENOMEM, NULL, "cannot go on");
}

/* XFS entries come first, each kind in the order it was added. */
static bool insert(struct session *session, const struct path_entry *entry)
{
	size_t at = entry->foreign ? session->path_count : session->xfs_path_count;
	struct path_entry *paths = array_grow(session->paths, session->path_count,
					      &session->path_capacity, sizeof(*paths));

	if (!paths)
		return false;
	session->paths = paths;
	session->xfs_path_count += !entry->foreign;
	memmove(&paths[at + 1], &paths[at], (session->path_count - at) * sizeof(*paths));
	paths[at] = *entry;
	session->path_count++;
	session->current_path += session->current_path >= (int)at;
	session->home_path += session->home_path >= (int)at;
	return true;
}

/* Take over an open filesystem. */
static void add_filesystem(struct session *session, struct fsq_filesystem *fs)
{
	struct fsq_filesystem **all = array_grow(session->filesystems, session->filesystem_count,
						 &session->filesystem_capacity, sizeof(fs));
	const struct fsq_filesystem_info *info = fsq_filesystem_get_info(fs);
	struct path_entry entry = {
		.foreign = !info->is_xfs,
		.directory = strdup(info->directory),
		.fs = fs,
		.info = info,
	};

	if (!all) {
		fsq_filesystem_close(fs);
		free(entry.directory);
		out_of_memory(session);
		return;
	}
	all[session->filesystem_count++] = fs;
	session->filesystems = all;
	if (!entry.directory || !insert(session, &entry)) {
		free(entry.directory);
		out_of_memory(session);
	}
}

static unsigned int open_flags(const struct session *session)
{
	return generation_asks_mount_points(session->generation) ? FSQ_OPEN_ASK_MOUNT_POINT : 0;
}

bool paths_add(struct session *session, const char *path, dev_t *dev)
{
	struct fsq_filesystem *fs;
	struct fsq_error err;

	if (fsq_filesystem_open(&fs, path, session->mount_table, open_flags(session), &err)) {
		if (session->native)
			session_fail(session, &err);
		else
			session_errno(session, ERROR_STATUS_0, err.errnum, path,
				      "cannot setup path for mount %s", path);
		return false;
	}
	/* Callers of xfs_quota take its absence for "not mounted here". */
	if (!fsq_filesystem_get_info(fs)->has_device && !session->native) {
		session_errno(session, ERROR_STATUS_0, ENXIO, path,
			      "cannot setup path for mount %s", path);
		fsq_filesystem_close(fs);
		return false;
	}
	*dev = fsq_filesystem_get_info(fs)->dev;
	add_filesystem(session, fs);
	return true;
}

static enum fsq_visit add_mount(const struct fsq_mount *mount, void *arg)
{
	const struct fsq_filesystem_info *info;
	struct session *session = arg;
	struct fsq_filesystem *fs;
	struct fsq_error err;

	/* Known by its number alone: a second mount of it is not even opened. */
	if (mount->dev && paths_find_dev(session, mount->dev) >= 0)
		return FSQ_VISIT_CONTINUE;
	if (fsq_filesystem_open_mount(&fs, mount, open_flags(session), &err)) {
		if (err.errnum == EIO || err.errnum == ENOMEM)
			session_errno(session, 0, err.errnum, mount->directory,
				      "cannot setup path for mount %s", mount->directory);
		return FSQ_VISIT_CONTINUE;
	}
	info = fsq_filesystem_get_info(fs);
	if (!info->has_device || (session->native && !info->asks_device) ||
	    paths_find_dev(session, info->dev) >= 0)
		fsq_filesystem_close(fs);
	else
		add_filesystem(session, fs);
	return FSQ_VISIT_CONTINUE;
}

void paths_add_all(struct session *session)
{
	struct fsq_error err;

	if (fsq_mounts_each(session->mount_table, add_mount, session, &err)) {
		session_errno(session, ERROR_STATUS_0, err.errnum, err.path[0] ? err.path : NULL,
			      "cannot initialise path table");
		/* No filesystem, no project on it. */
		session->projects_loaded = true;
	}
}

static void keep_quota(struct session *session, bool xfs_only)
{
	struct fsq_state state;
	size_t kept = 0;

	session->xfs_path_count = 0;
	for (size_t i = 0; i < session->path_count; i++) {
		struct path_entry *path = &session->paths[i];

		if ((path->foreign && xfs_only) || fsq_quota_state(path->fs, FSQ_PROJECT, &state)) {
			free(path->directory);
			continue;
		}
		session->xfs_path_count += !path->foreign;
		session->paths[kept++] = *path;
	}
	session->path_count = kept;
}

void paths_add_all_with_quota(struct session *session, bool xfs_only)
{
	paths_add_all(session);
	keep_quota(session, xfs_only);
	if (session->path_count == 0 && !session->no_memory)
		session_error(session, 0, FSQ_E_NOT_SUPPORTED, 0, NULL,
			      "no filesystem with quota is mounted; see fsquota doctor");
}

int paths_find_dev(const struct session *session, dev_t dev)
{
	for (size_t i = 0; i < session->path_count; i++)
		if (!session->paths[i].is_project && session->paths[i].info->dev == dev)
			return (int)i;
	return -1;
}

int paths_find(const struct session *session, const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -1;
	if (S_ISBLK(st.st_mode) || S_ISCHR(st.st_mode))
		return paths_find_dev(session, st.st_rdev);
	return paths_find_dev(session, st.st_dev);
}

/* Which lines of the projects file are wanted. */
struct project_filter {
	struct session *session;
	bool all;
	uint32_t id;
	bool found;
};

/* Whoever works on all directories of the project has to know of it. */
static void note_unseen(struct session *session, uint32_t id, const char *directory)
{
	uint32_t *unseen;

	session_warn(session, directory, "cannot be looked at: %s", errno_words(errno));
	unseen = array_grow(session->unseen, session->unseen_count, &session->unseen_capacity,
			    sizeof(*unseen));
	if (!unseen) {
		out_of_memory(session);
		return;
	}
	session->unseen = unseen;
	unseen[session->unseen_count++] = id;
}

bool paths_saw_all(const struct session *session, uint32_t id)
{
	for (size_t i = 0; i < session->unseen_count; i++)
		if (session->unseen[i] == id)
			return false;
	return true;
}

/* Does an error say that there is no directory, or none of ours? */
static bool is_elsewhere(int errnum)
{
	return errnum == ENOENT || errnum == ENOTDIR || errnum == EINVAL || errnum == EACCES ||
	       errnum == ELOOP || errnum == ENAMETOOLONG || errnum == ESTALE ||
	       errnum == ENOTCONN || errnum == ENXIO || errnum == ENODEV;
}

static enum fsq_visit add_project(uint32_t id, const char *directory, void *arg)
{
	struct project_filter *filter = arg;
	struct session *session = filter->session;
	struct path_entry entry = { .is_project = true, .project = id };
	struct stat st;
	int mount = -1, fd;

	if (!filter->all && id != filter->id)
		return FSQ_VISIT_CONTINUE;
	fd = open(directory, O_PATH | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0) {
		mount = paths_find_dev(session, st.st_dev);
		/* What xfs_quota says about a directory that is elsewhere. */
		errno = session->path_count ? EINVAL : ENOENT;
	}
	if (mount < 0 && session->native && !is_elsewhere(errno))
		note_unseen(session, id, directory);
	if (mount < 0 && (session->native || !generation_tells_stale_lines(session->generation,
									   session->path_given))) {
		/* Other filesystems are none of its business. */
	} else if (mount < 0) {
		session_error(session, 0, FSQ_OK, 0, directory,
			      "cannot find mount point for path `%s': %s", directory,
			      errno_words(errno));
	} else {
		entry.fs = session->paths[mount].fs;
		entry.info = session->paths[mount].info;
		entry.foreign =
			!(entry.info->is_xfs && (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)));
		entry.directory = strdup(directory);
		filter->found = entry.directory && insert(session, &entry);
		if (!filter->found) {
			free(entry.directory);
			out_of_memory(session);
		}
	}
	if (fd >= 0)
		close(fd);
	/* Of one project xfs_quota takes the first directory that is there. */
	return !filter->all && filter->found ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

void paths_load_projects(struct session *session)
{
	struct project_filter filter = { .session = session };
	struct fsq_error err;

	if (session->projects_loaded)
		return;
	session->projects_loaded = true;
	if (session->only_project_count == 0) {
		filter.all = true;
		/* Without the file there are no project directories. */
		if (fsq_projects_each(session->projects_file, add_project, &filter, &err) < 0)
			session_note_projects(session, &err);
		return;
	}
	for (size_t i = 0; i < session->only_project_count; i++) {
		const char *wanted = session->only_projects[i];

		filter.found = false;
		if (names_to_id(session, FSQ_PROJECT, wanted, &filter.id))
			if (fsq_projects_each(session->projects_file, add_project, &filter, &err) <
			    0)
				session_note_projects(session, &err);
		if (!filter.found)
			session_errno(session, ERROR_STATUS_0, ENOENT, NULL,
				      "cannot setup path for project %s", wanted);
	}
}
