/* SPDX-License-Identifier: Apache-2.0 */
#include "paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/errno_words.h"
#include "shared/array.h"

static void out_of_memory(struct session *session)
{
	session_errno(session, 0, ENOMEM, NULL, "cannot go on");
}

static bool add(struct session *session, const struct path_entry *entry)
{
	struct path_entry *paths = array_grow(session->paths, session->path_count,
					      &session->path_capacity, sizeof(*paths));

	if (!paths)
		return false;
	session->paths = paths;
	paths[session->path_count++] = *entry;
	return true;
}

static void add_filesystem(struct session *session, struct fsq_filesystem *fs)
{
	struct fsq_filesystem **owned = array_grow(session->filesystems, session->filesystem_count,
						   &session->filesystem_capacity, sizeof(fs));
	struct path_entry entry = { .fs = fs, .info = fsq_filesystem_get_info(fs) };

	if (!owned) {
		fsq_filesystem_close(fs);
		out_of_memory(session);
		return;
	}
	session->filesystems = owned;
	owned[session->filesystem_count++] = fs;
	entry.directory = strdup(entry.info->directory);
	if (!entry.directory || !add(session, &entry)) {
		free(entry.directory);
		out_of_memory(session);
	}
}

bool paths_add(struct session *session, const char *path, dev_t *dev)
{
	struct fsq_filesystem *fs;
	struct fsq_error err;

	if (fsq_filesystem_open(&fs, path, NULL, 0, &err)) {
		session_fail(session, &err);
		return false;
	}
	*dev = fsq_filesystem_get_info(fs)->dev;
	if (fsq_is_tag(path) && paths_find_dev(session, *dev) >= 0)
		fsq_filesystem_close(fs);
	else
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
	if (fsq_filesystem_open_mount(&fs, mount, 0, &err)) {
		if (err.errnum == EIO || err.errnum == ENOMEM)
			session_errno(session, 0, err.errnum, mount->directory,
				      "cannot setup path for mount %s", mount->directory);
		return FSQ_VISIT_CONTINUE;
	}
	info = fsq_filesystem_get_info(fs);
	if (!info->has_device || !info->asks_device || paths_find_dev(session, info->dev) >= 0)
		fsq_filesystem_close(fs);
	else
		add_filesystem(session, fs);
	return FSQ_VISIT_CONTINUE;
}

bool paths_add_all(struct session *session)
{
	struct fsq_error err;

	if (!fsq_mounts_each(NULL, add_mount, session, &err))
		return true;
	if (err.errnum == 0)
		session_fail(session, &err);
	else
		session_errno(session, 0, err.errnum, err.path[0] ? err.path : NULL,
			      "cannot initialise path table");
	return false;
}

static void keep_quota(struct session *session, bool xfs_only)
{
	struct fsq_state state;
	size_t kept = 0;

	for (size_t i = 0; i < session->path_count; i++) {
		struct path_entry *path = &session->paths[i];

		if ((xfs_only && !path->info->is_xfs) ||
		    fsq_quota_state(path->fs, FSQ_PROJECT, &state)) {
			free(path->directory);
			continue;
		}
		session->paths[kept++] = *path;
	}
	session->path_count = kept;
}

void paths_add_all_with_quota(struct session *session, bool xfs_only)
{
	if (!paths_add_all(session))
		return;
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

	if (fsq_is_tag(path) || stat(path, &st))
		return -1;
	if (S_ISBLK(st.st_mode) || S_ISCHR(st.st_mode))
		return paths_find_dev(session, st.st_rdev);
	return paths_find_dev(session, st.st_dev);
}

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
	struct session *session = arg;
	struct path_entry entry = { .is_project = true, .project = id };
	struct stat st;
	int mount = -1, fd;

	fd = open(directory, O_PATH | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0) {
		mount = paths_find_dev(session, st.st_dev);
		errno = ENOENT;
	}
	if (mount < 0 && !is_elsewhere(errno))
		note_unseen(session, id, directory);
	if (mount >= 0) {
		entry.fs = session->paths[mount].fs;
		entry.info = session->paths[mount].info;
		entry.directory = strdup(directory);
		if (!entry.directory || !add(session, &entry)) {
			free(entry.directory);
			out_of_memory(session);
		}
	}
	if (fd >= 0)
		close(fd);
	return FSQ_VISIT_CONTINUE;
}

void paths_load_projects(struct session *session)
{
	struct fsq_error err;

	/* Without the file there are no project directories. */
	if (fsq_projects_each(session->projects_file, add_project, session, &err) < 0)
		session_note_projects(session, &err);
}
