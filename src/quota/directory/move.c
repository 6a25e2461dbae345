/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A quota that follows its directory to another path. The directory keeps the ID, and with it limits and
 * name; what changes are the lines of the projects file: its own, and those of directories in it.
 *
 * Lines with the new paths are added before those with the old ones go. Killed between them: a project has
 * a line too many, whose directory is gone; the next move, or prune, removes it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "quota/base/error.h"
#include "quota/base/path.h"
#include "quota/kernel/compat.h"
#include "quota/kernel/openat2.h"
#include "quota/mounts/handle.h"
#include "quota/mounts/lookup.h"
#include "quota/registry/project_edit.h"
#include "shared/statx.h"

struct move {
	const struct fsq_move_request *request;
	struct fsq_handle directory; /* at its old or at its new path */
	/* With --rename: the directory that it leaves, O_PATH, or -1, and its name there; and where it comes. */
	int left;
	const char *old_name;
	struct fsq_name entered;
	char *from, *to; /* as registered */
	struct fsq_project_edit *edit;
	struct line {
		char *from, *to;
		uint32_t id;
	} * lines;
	size_t count;
	bool renamed;
};

static int no_memory(const struct move *m, struct fsq_error *err)
{
	return fsq_fail_errno(err, ENOMEM, m->request->from, "cannot go on");
}

/* --- what there is to do --- */

static void free_lines(struct move *m)
{
	for (size_t i = 0; i < m->count; i++) {
		free(m->lines[i].from);
		free(m->lines[i].to);
	}
	free(m->lines);
	m->lines = NULL;
	m->count = 0;
}

static int add_line(struct move *m, char *from, struct fsq_error *err)
{
	struct line *line = &m->lines[m->count++];
	const char *below = fsq_path_below(m->from, from, strlen(from));

	line->from = from;
	fsq_project_edit_id_of(m->edit, from, &line->id);
	if (asprintf(&line->to, "%s%s%s", m->to, *below ? "/" : "", below) >= 0)
		return 0;
	line->to = NULL;
	return no_memory(m, err);
}

/* Its own line, and those below it. */
static int find_lines(struct move *m, struct fsq_error *err)
{
	char **below, *own;
	uint32_t id;
	size_t count;
	int rc;

	free_lines(m);
	rc = fsq_project_edit_below(m->edit, m->from, &below, &count);
	own = fsq_project_edit_id_of(m->edit, m->from, &id) ? strdup(m->from) : NULL;
	m->lines = calloc(count + 1, sizeof(*m->lines));
	rc = rc || !m->lines ? no_memory(m, err) : 0;
	if (rc == 0 && own)
		rc = add_line(m, own, err);
	else
		free(own);
	for (size_t i = 0; i < count; i++) {
		if (rc == 0)
			rc = add_line(m, below[i], err);
		else
			free(below[i]);
	}
	free(below);
	if (rc == 0 && m->count == 0)
		rc = fsq_fail(err, FSQ_E_NOT_FOUND, 0, m->from,
			      "is not registered, and neither is a directory in it");
	return rc;
}

/* Refuse a line whose directory at the new path carries another ID. One that is not there is no reason to refuse. */
static int check_moved_line(const struct move *m, const struct line *line, struct fsq_error *err)
{
	const char *below = fsq_path_below(m->from, line->from, strlen(line->from));
	struct fsq_inode_project now = { .id = line->id };
	uint32_t id;
	int fd, rc = 0;

	fd = *below ? fsq_openat2(m->directory.target.fd, below, O_RDONLY | O_DIRECTORY | O_CLOEXEC,
				  RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV)
		    : fcntl(m->directory.target.fd, F_DUPFD_CLOEXEC, 0);
	if (fd >= 0) {
		rc = fsq_inode_project_get(fd, &now);
		close(fd);
	}
	if (rc)
		return fsq_fail_errno(err, -rc, line->to, "cannot read the project ID");
	if (now.id != line->id)
		return fsq_add_hint(
			err, FSQ_HINT_COPIED,
			fsq_fail(err, FSQ_E_CONFLICT, 0, *below ? line->from : m->directory.path,
				 "has project ID %u, not %u as %s", now.id, line->id, line->from));
	if (fsq_project_edit_id_of(m->edit, line->to, &id) && id != line->id)
		return fsq_fail(err, FSQ_E_CONFLICT, 0, line->to, "belongs to project %u already",
				id);
	return strchr(line->to, '\n')
		       ? fsq_fail(err, FSQ_E_USAGE, 0, line->to,
				  "cannot be registered: there is a newline in its path")
		       : 0;
}

static int not_renamed(const struct move *m, int errnum, struct fsq_error *err)
{
	if (errnum == EXDEV)
		return fsq_add_hint(err, FSQ_HINT_COPY,
				    fsq_fail(err, FSQ_E_CONFLICT, errnum, m->from,
					     "cannot be renamed to %s, which is on another "
					     "filesystem or in another project",
					     m->to));
	if (errnum == EINVAL)
		return fsq_fail(err, FSQ_E_USAGE, 0, m->from,
				"cannot be renamed to %s, which is in it", m->to);
	return fsq_fail_errno(err, errnum, m->from, "cannot be renamed to %s", m->to);
}

/* Check what rename(2) would check: a dry run does not call it. */
static int check_rename(const struct move *m, struct fsq_error *err)
{
	int own = m->directory.target.fd, fd, rc = 0;
	struct fsq_inode_project from, to;
	struct statx from_stx, to_stx;

	if (fsq_path_below(m->from, m->to, strlen(m->to)))
		return not_renamed(m, EINVAL, err);
	fd = openat(m->entered.parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || get_statx(fd, "", AT_EMPTY_PATH, FSQ_STATX_MOUNT_IDS, &to_stx) ||
	    get_statx(own, "", AT_EMPTY_PATH, FSQ_STATX_MOUNT_IDS, &from_stx))
		rc = errno;
	else if (to_stx.stx_dev_major != from_stx.stx_dev_major ||
		 to_stx.stx_dev_minor != from_stx.stx_dev_minor ||
		 (to_stx.stx_mask & from_stx.stx_mask & FSQ_STATX_MOUNT_IDS &&
		  to_stx.stx_mnt_id != from_stx.stx_mnt_id) ||
		 (fsq_inode_project_get(fd, &to) == 0 && to.inherit &&
		  fsq_inode_project_get(own, &from) == 0 && from.id != to.id))
		rc = EXDEV;
	if (fd >= 0)
		close(fd);
	return rc ? not_renamed(m, rc, err) : 0;
}

/* Is another directory at the old path, or with --rename anything at the new one? */
static int check_both_paths(const struct move *m, struct fsq_error *err)
{
	const char *path = m->from;
	struct fsq_inode_project now;
	struct stat st, own;
	uint32_t id;
	int rc;

	if (m->request->rename) {
		if (fstatat(m->entered.parent, m->entered.name, &st,
			    AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0)
			return fsq_fail(err, FSQ_E_CONFLICT, 0, m->to, "is there already");
		if (errno != ENOENT)
			return fsq_fail_errno(err, errno, m->to, "cannot see whether it is there");
		return check_rename(m, err);
	}
	/* A symlink that was left there is no directory, wherever it leads. */
	rc = fsq_lookup_stat(m->directory.points, path, O_NOFOLLOW, &st, NULL);
	if (rc == -ENOENT || rc == -ENOTDIR || (rc == 0 && !S_ISDIR(st.st_mode)))
		return 0;
	if (rc)
		return fsq_fail_errno(err, -rc, path, "cannot see whether it is there");
	if (fstat(m->directory.target.fd, &own) == 0 && own.st_dev == st.st_dev &&
	    own.st_ino == st.st_ino)
		return 0;
	return fsq_add_hint(
		err,
		fsq_project_edit_id_of(m->edit, path, &id) &&
				fsq_inode_project_get(m->directory.target.fd, &now) == 0 &&
				now.id == id
			? FSQ_HINT_MADE_AGAIN
			: FSQ_HINT_COPY,
		fsq_fail(err, FSQ_E_CONFLICT, 0, path, "is still there, and is not %s", m->to));
}

/* With the locks. */
static int check(struct move *m, struct fsq_error *err)
{
	int rc = find_lines(m, err);

	if (rc == 0 && strcmp(m->from, m->to) == 0)
		rc = fsq_fail(err, FSQ_E_USAGE, 0, m->to, "is where it is already");
	if (rc == 0 && !m->renamed)
		rc = check_both_paths(m, err);
	for (size_t i = 0; i < m->count && rc == 0; i++)
		rc = check_moved_line(m, &m->lines[i], err);
	return rc;
}

/* --- doing it --- */

/* @return   0 or an errno */
static int rename_to_new(const struct move *m)
{
	return syscall(SYS_renameat2, m->left, m->old_name, m->entered.parent, m->entered.name,
		       RENAME_NOREPLACE)
		       ? errno
		       : 0;
}

static int rename_back(const struct move *m)
{
	return syscall(SYS_renameat2, m->entered.parent, m->entered.name, m->left, m->old_name,
		       RENAME_NOREPLACE)
		       ? errno
		       : 0;
}

/* Both directories are held, so nothing else can be moved but what has its name in the old one. */
static int rename_it(struct move *m, struct fsq_error *err)
{
	struct stat own, there;
	int rc = rename_to_new(m);

	if (rc)
		return not_renamed(m, rc, err);
	m->renamed = true;
	if (fstat(m->directory.target.fd, &own) == 0 &&
	    fstatat(m->entered.parent, m->entered.name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	    own.st_dev == there.st_dev && own.st_ino == there.st_ino)
		return 0;
	return fsq_fail(err, FSQ_E_CONFLICT, 0, m->from, "was replaced at the same time");
}

static int move_lines(struct move *m, struct fsq_error *err)
{
	uint32_t id;
	int rc = 0;

	for (size_t i = 0; i < m->count && rc == 0; i++)
		if (!fsq_project_edit_id_of(m->edit, m->lines[i].to, &id))
			rc = fsq_project_edit_add_directory(m->edit, m->lines[i].id, m->lines[i].to,
							    err);
	for (size_t i = 0; i < m->count && rc == 0; i++)
		rc = fsq_project_edit_remove(m->edit, m->lines[i].id, m->lines[i].from, false, err);
	if (rc)
		fsq_project_edit_rollback(m->edit);
	return rc;
}

/* Sync the new path to the disk before a line has it. That can take long, so do it without the locks. */
static int move(struct move *m, struct fsq_error *err)
{
	int rc = fsq_project_edit_lock(m->edit, false, err);

	if (rc == 0)
		rc = check(m, err);
	if (rc || m->request->dry_run)
		return rc;
	fsq_project_edit_unlock(m->edit);
	if (m->request->rename)
		rc = rename_it(m, err);
	if (rc == 0)
		rc = fsq_handle_sync(&m->directory, err);
	if (rc == 0)
		rc = fsq_project_edit_lock(m->edit, false, err);
	if (rc == 0)
		rc = check(m, err);
	if (rc == 0)
		rc = move_lines(m, err);
	if (rc && m->renamed && rename_back(m))
		rc = fsq_fail(err, FSQ_E_PARTIAL, 0, m->to,
			      "was renamed, and cannot be renamed back to %s", m->from);
	return rc;
}

/* The directory that it is in now, and its name there. */
static int open_left(struct move *m, struct fsq_error *err)
{
	struct stat own, there;

	m->left = openat(m->directory.target.fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	m->old_name = strrchr(m->from, '/') + 1;
	if (m->left >= 0 && fstat(m->directory.target.fd, &own) == 0 &&
	    fstatat(m->left, m->old_name, &there, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0 &&
	    own.st_dev == there.st_dev && own.st_ino == there.st_ino)
		return 0;
	return fsq_fail(err, FSQ_E_CONFLICT, 0, m->from, "was renamed, or is mounted there");
}

static int open_paths(struct move *m, struct fsq_error *err)
{
	const struct fsq_move_request *request = m->request;
	const struct fsq_mount_points *mounts = fsq_mounts_of(request->options);
	const char *here = request->rename ? request->from : request->to;
	const char *other = request->rename ? request->to : request->from;
	char *own, *away;
	int rc = fsq_handle_open_directory(&m->directory, here, mounts, err);

	if (rc) {
		m->directory = (struct fsq_handle){ .target.fd = -1 };
		return rc;
	}
	own = strdup(m->directory.path);
	if (request->rename && (rc = fsq_name_open(&m->entered, mounts, other, err)))
		away = NULL;
	else
		away = request->rename ? strdup(m->entered.path) : fsq_lookup_gone(mounts, other);
	m->from = request->rename ? own : away;
	m->to = request->rename ? away : own;
	if (rc)
		return fsq_failed(err, -rc);
	if (!away)
		return fsq_fail_errno(err, errno, other, "cannot resolve the path");
	if (!own)
		return no_memory(m, err);
	return request->rename ? open_left(m, err) : 0;
}

int fsq_move(const struct fsq_move_request *request, struct fsq_moved *moved, struct fsq_error *err)
{
	if (!request)
		return fsq_fail_null(err);

	struct move m = {
		.request = request, .directory.target.fd = -1, .left = -1, .entered.parent = -1
	};
	int rc = fsq_check_size(request, request->size, sizeof(*request), err);

	if (rc == 0)
		rc = fsq_check_parts(request->registry, request->options, err);
	if (rc)
		return rc;
	if (!request->from || !request->to)
		return fsq_fail(err, FSQ_E_USAGE, 0, NULL, "a path is missing");
	m.edit = fsq_project_edit_new(request->registry, request->dry_run, request->options);
	rc = m.edit ? open_paths(&m, err) : no_memory(&m, err);
	if (rc == 0)
		rc = fsq_project_edit_lock_tree(m.edit, m.directory.target.fd, m.directory.path,
						false, err);
	if (rc == 0)
		rc = move(&m, err);
	fsq_project_edit_free(m.edit);
	if (rc == 0 && moved)
		*moved = (struct fsq_moved){ .id = strcmp(m.lines[0].from, m.from) == 0
							   ? m.lines[0].id
							   : 0,
					     .lines = m.count };
	free_lines(&m);
	free(m.from);
	free(m.to);
	fsq_handle_close(&m.directory);
	fsq_name_close(&m.entered);
	if (m.left >= 0)
		close(m.left);
	return rc;
}
