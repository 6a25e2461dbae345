/* SPDX-License-Identifier: Apache-2.0 */
#include "paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "quota/base/error.h"
#include "quota/base/path.h"
#include "quota/fsquota.h"
#include "quota/mounts/device.h"
#include "quota/mounts/lookup.h"
#include "shared/array.h"
#include "shared/errno_words.h"
#include "shared/statx.h"

static bool add_path_entry(struct session *session, const struct path_entry *entry)
{
	return array_add(&session->paths, &session->path_count, &session->path_capacity, entry,
			 sizeof(*entry));
}

static void add_filesystem_entry(struct session *session, struct fsq_filesystem *fs)
{
	struct path_entry entry = { .fs = fs, .info = fsq_filesystem_get_info(fs) };

	entry.directory = strdup(entry.info->directory);
	if (!entry.directory || !add_path_entry(session, &entry)) {
		fsq_filesystem_close(fs);
		free(entry.directory);
		session_no_memory(session);
	}
}

bool paths_add(struct session *session, const char *path, dev_t *dev)
{
	struct fsq_filesystem *fs;
	struct fsq_error err;
	dev_t found;

	if (fsq_filesystem_open(&fs, path, NULL, 0, &err))
		return session_fail(session, &err);
	found = fsq_filesystem_get_info(fs)->dev;
	if (dev)
		*dev = found;
	if (fsq_is_tag(path) && paths_find_dev(session, found) >= 0)
		fsq_filesystem_close(fs);
	else
		add_filesystem_entry(session, fs);
	return true;
}

static enum fsq_visit add_mounted_filesystem(const struct fsq_mount *mount, void *arg)
{
	const struct fsq_filesystem_info *info;
	struct session *session = arg;
	struct fsq_filesystem *fs;
	struct fsq_error err;

	/* Skip a second mount by its device number, without opening it. */
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
		add_filesystem_entry(session, fs);
	return FSQ_VISIT_CONTINUE;
}

bool paths_add_all(struct session *session)
{
	struct fsq_error err;

	if (!fsq_mounts_each(NULL, add_mounted_filesystem, session, &err))
		return true;
	if (err.errnum == 0)
		session_fail(session, &err);
	else
		session_errno(session, 0, err.errnum, err.path[0] ? err.path : NULL,
			      "cannot initialise path table");
	return false;
}

/* The disk of the system seldom has quotas. */
static bool is_of_system(const char *directory)
{
	return strcmp(directory, "/") == 0 || fsq_path_below("/boot", directory, strlen(directory));
}

/* Tell a person which filesystems are not shown. @first  of @count */
static void tell_of_left_out(struct session *session, const char *first, size_t count)
{
	char others[40] = "";

	if (count > 1)
		snprintf(others, sizeof(others), " (and on %zu more)", count - 1);
	if (count && session_has_person(session))
		session_warn(session, first,
			     "left out: project quota is off here%s, see fsquota doctor", others);
}

void paths_add_all_with_quota(struct session *session)
{
	struct fsq_state state;
	size_t kept = 0, left = 0;
	char *first = NULL;

	if (!paths_add_all(session))
		return;
	for (size_t i = 0; i < session->path_count; i++) {
		struct path_entry *path = &session->paths[i];
		int rc = fsq_quota_state(path->fs, FSQ_PROJECT, &state);

		/* If the question is forbidden, assume that there is quota. */
		if (rc == 0 || fsq_error_kind_of(-rc) == FSQ_E_PERMISSION) {
			session->paths[kept++] = *path;
			continue;
		}
		if (!is_of_system(path->directory) && left++ == 0)
			first = path->directory;
		else
			free(path->directory);
		fsq_filesystem_close(path->fs);
	}
	session->path_count = kept;
	if (first && kept)
		tell_of_left_out(session, first, left);
	free(first);
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

bool paths_read_space(struct session *session, const struct path_entry *path, const char *directory,
		      struct fsq_space space[FSQ_FORMS])
{
	const struct fsq_mount_points *points = path->is_project ? session_mounts(session) : NULL;
	int rc = path->is_project && !points
			 ? -ENOMEM
			 : fsq_filesystem_space(path->fs, points, directory, space);

	return rc == 0 ||
	       session_errno(session, ERROR_AT_PATH, -rc, directory, "cannot read its size");
}

int paths_find(const struct session *session, const char *path)
{
	struct stat st;

	if (fsq_is_tag(path) || fsq_lookup_stat(NULL, path, 0, &st, NULL))
		return -1;
	if (S_ISBLK(st.st_mode) || S_ISCHR(st.st_mode))
		return paths_find_dev(session, st.st_rdev);
	return paths_find_dev(session, st.st_dev);
}

static enum fsq_visit add_registered_path(uint32_t id, const char *directory, void *arg)
{
	struct session *session = arg;
	struct path_entry entry = { .is_project = true, .project = id };
	const struct fsq_mount_points *points = session_mounts(session);
	struct fsq_error err = { 0 };
	struct stat st;
	int mount = -1;

	if (!points)
		return FSQ_VISIT_STOP;
	if (fsq_lookup_stat(points, directory, O_NOFOLLOW, &st, &err) == 0)
		mount = paths_find_dev(session, st.st_dev);
	switch (err.errnum) {
	case 0:
	case ENOENT:
	case ENOTDIR:
	case EINVAL:
	case EACCES:
	case ELOOP:
	case EXDEV:
	case ENAMETOOLONG:
	case ESTALE:
	case ENOTCONN:
	case ENXIO:
	case ENODEV:
		/* No directory, or one that is on no filesystem of this run. */
		break;
	default:
		/* Warn: the command works on all directories of the project but this one. */
		session_warn(session, directory, "cannot be looked at: %s",
			     errno_words(err.errnum));
		if (fsq_id_set_insert(&session->unseen, id))
			session_no_memory(session);
	}
	if (mount >= 0) {
		entry.fs = session->paths[mount].fs;
		entry.info = session->paths[mount].info;
		entry.directory = strdup(directory);
		if (!entry.directory || !add_path_entry(session, &entry)) {
			free(entry.directory);
			session_no_memory(session);
		}
	}
	return FSQ_VISIT_CONTINUE;
}

void paths_load_projects(struct session *session)
{
	struct fsq_error err;

	/* Without the file there are no project directories. */
	if (fsq_projects_each(session->projects_file, add_registered_path, session, &err) < 0)
		session_note_projects(session, &err);
}

bool scopes_add(struct scopes *scopes, const struct scope *scope)
{
	return array_add(&scopes->list, &scopes->count, &scopes->capacity, scope, sizeof(*scope));
}

static char *without_slashes_at_end(const char *path)
{
	char *copy = strdup(path);

	for (size_t i = copy ? strlen(copy) : 0; i > 1 && copy[i - 1] == '/'; i--)
		copy[i - 1] = '\0';
	return copy;
}

/* The project of a directory, 0: none. @return  false: an error was reported */
static bool find_own(struct session *session, const char *path, uint32_t *id)
{
	struct fsq_usage usage;
	struct fsq_error err;
	int rc = session_usage(session, path, &usage, &err);

	*id = rc ? 0 : usage.id;
	if (rc == 0)
		fsq_usage_clear(&usage);
	/* No other project; the caller checks for those below it. */
	if (rc == 0 || (rc == FSQ_E_NOT_FOUND && err.errnum == 0))
		return true;
	return session_fail(session, &err);
}

/* Find out what a path stands for. @return  false: an error was reported */
static bool read_scope(struct session *session, const char *path, bool own, struct scope *scope)
{
	struct fsq_error err;
	struct statx stx;
	int fd = fsq_lookup(NULL, path, O_PATH, &err);
	bool good = false;

	if (fd < 0)
		return session_fail(session, &err);
	if (get_statx(fd, "", AT_EMPTY_PATH, STATX_TYPE, &stx))
		session_errno(session, 0, errno, path, "%s: cannot read", path);
	else if (!S_ISDIR(stx.stx_mode) && !S_ISBLK(stx.stx_mode))
		session_error(session, 0, FSQ_E_USAGE, 0, path,
			      "%s: is neither a directory nor a device", path);
	else
		good = true;
	/* A device or a mount point means the whole filesystem. */
	scope->whole =
		good && (S_ISBLK(stx.stx_mode) || (stx.stx_attributes & STATX_ATTR_MOUNT_ROOT));
	if (good && !scope->whole)
		scope->directory = fsq_fd_path(fd);
	close(fd);
	if (!good || scope->whole)
		return good;
	if (own && !find_own(session, path, &scope->id))
		return false;
	scope->given = without_slashes_at_end(path);
	return (scope->directory && scope->given) ||
	       session_errno(session, 0, errno, path, "%s: cannot find it again", path);
}

void scopes_add_path(struct scopes *scopes, struct session *session, const char *path, bool own)
{
	struct scope scope = { .whole = fsq_is_tag(path) };
	int at = paths_find(session, path);

	if (at >= 0)
		scope.dev = session->paths[at].info->dev;
	else if (!paths_add(session, path, &scope.dev))
		return;
	if (scope.whole || read_scope(session, path, own, &scope)) {
		if (scopes_add(scopes, &scope))
			return;
		session_errno(session, 0, ENOMEM, path, "cannot list %s", path);
	}
	free(scope.directory);
	free(scope.given);
}

bool scope_has(const struct scope *scope, uint32_t id, const char *directory)
{
	if (scope->whole || (scope->id && scope->id == id))
		return true;
	return directory && scope->directory &&
	       (fsq_path_below(scope->directory, directory, strlen(directory)) ||
		fsq_path_below(scope->given, directory, strlen(directory)));
}

bool scopes_want(const struct scopes *scopes, dev_t dev, uint32_t id, const char *directory)
{
	for (size_t i = 0; i < scopes->count; i++)
		if (scopes->list[i].dev == dev && scope_has(&scopes->list[i], id, directory))
			return true;
	return scopes->count == 0;
}

bool scopes_want_some(const struct scopes *scopes, dev_t dev)
{
	for (size_t i = 0; i < scopes->count; i++)
		if (scopes->list[i].dev == dev)
			return true;
	return scopes->count == 0;
}

uint32_t scopes_next_id(const struct scopes *scopes, dev_t dev, uint32_t above)
{
	uint32_t id = 0;

	for (size_t i = 0; i < scopes->count; i++) {
		const struct scope *scope = &scopes->list[i];

		if (scope->dev == dev && scope->id > above && (!id || scope->id < id))
			id = scope->id;
	}
	return id;
}

void scopes_free(struct scopes *scopes)
{
	for (size_t i = 0; i < scopes->count; i++) {
		free(scopes->list[i].directory);
		free(scopes->list[i].given);
	}
	free(scopes->list);
}
