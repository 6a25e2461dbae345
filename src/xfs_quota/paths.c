/* SPDX-License-Identifier: Apache-2.0 */
/* The table of paths: the filesystems of this run, and the project directories on them; print and path. */
#include "command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "quota/mounts/lookup.h"
#include "shared/array.h"
#include "shared/errno_words.h"

/* Insert an entry: foreign at the end, XFS before the first foreign one. @return  its index, or -1 */
static int insert(struct state *state, const struct path *path)
{
	size_t at = path->foreign ? state->path_count : state->xfs_path_count;
	struct path *paths = NULL;

	if (path->directory)
		paths = array_grow(state->paths, state->path_count, &state->path_capacity,
				   sizeof(*paths));
	if (!paths) {
		free(path->directory);
		xq_out_of_memory(state);
		return -1;
	}
	state->paths = paths;
	memmove(&paths[at + 1], &paths[at], (state->path_count - at) * sizeof(*paths));
	paths[at] = *path;
	state->path_count++;
	state->xfs_path_count += !path->foreign;
	state->current += state->current >= (int)at;
	state->home += state->home >= (int)at;
	return (int)at;
}

/* Takes ownership of @fs, even if it fails. */
static int insert_filesystem(struct state *state, struct fsq_filesystem *fs)
{
	const struct fsq_filesystem_info *info = fsq_filesystem_get_info(fs);
	const struct path path = {
		.foreign = !info->is_xfs,
		.directory = strdup(info->directory),
		.fs = fs,
		.info = info,
	};
	int index = insert(state, &path);

	if (index < 0)
		fsq_filesystem_close(fs);
	return index;
}

/* With -t, 7.2 asks for quotas by the mount point, 6.1 by the device that the table names. */
static unsigned int open_flags(const struct state *state)
{
	return FSQ_OPEN_NO_TAG |
	       (state->generation >= XFS_QUOTA_7_2 ? FSQ_OPEN_ASK_MOUNT_POINT : 0);
}

/* An error of finding a mount has an errno, unless a library is missing. */
static void report_path_error(struct state *state, const struct fsq_error *err, const char *what,
			      const char *path)
{
	if (err->errnum)
		xq_errno(state, XQ_STATUS_0, err->errnum, "%s%s", what, path);
	else
		xq_error(state, 0, err->kind, 0, "%s: %s", err->path, err->message);
}

int xq_add_path(struct state *state, const char *path)
{
	struct fsq_filesystem *fs = NULL;
	struct fsq_error err = { 0 };

	/* If the filesystem has no device, report ENXIO: callers of xfs_quota read that as "not mounted here". */
	if (fsq_filesystem_open(&fs, path, state->mount_table, open_flags(state), &err) == 0) {
		if (fsq_filesystem_get_info(fs)->has_device)
			return insert_filesystem(state, fs);
		fsq_filesystem_close(fs);
		err.errnum = ENXIO;
	}
	report_path_error(state, &err, "cannot setup path for mount ", path);
	return -1;
}

static enum fsq_visit add_mount_path(const struct fsq_mount *mount, void *arg)
{
	const struct fsq_filesystem_info *info;
	struct state *state = arg;
	struct fsq_filesystem *fs;
	struct fsq_error err;

	/* Skip another mount of a known filesystem by its device number, without opening it. */
	if (mount->dev && xq_find_dev(state, mount->dev) >= 0)
		return FSQ_VISIT_CONTINUE;
	if (fsq_filesystem_open_mount(&fs, mount, open_flags(state), &err)) {
		if (err.errnum == EIO || err.errnum == ENOMEM)
			xq_errno(state, 0, err.errnum, "cannot setup path for mount %s",
				 mount->directory);
		return FSQ_VISIT_CONTINUE;
	}
	info = fsq_filesystem_get_info(fs);
	if (info->has_device && xq_find_dev(state, info->dev) < 0)
		insert_filesystem(state, fs);
	else
		fsq_filesystem_close(fs);
	return FSQ_VISIT_CONTINUE;
}

void xq_add_all_paths(struct state *state)
{
	struct fsq_error err;

	if (fsq_mounts_each(state->mount_table, add_mount_path, state, &err)) {
		report_path_error(state, &err, "cannot initialise path table", "");
		/* The table is empty, so no project directory can be on it: do not read the projects file. */
		state->projects_loaded = true;
	}
}

int xq_find_dev(const struct state *state, dev_t dev)
{
	for (size_t i = 0; i < state->path_count; i++)
		if (!state->paths[i].is_project && state->paths[i].info->dev == dev)
			return (int)i;
	return -1;
}

int xq_find_path(const struct state *state, const char *path)
{
	struct stat st;

	if (fsq_lookup_stat(NULL, path, 0, &st, NULL))
		return -1;
	if (S_ISBLK(st.st_mode) || S_ISCHR(st.st_mode))
		return xq_find_dev(state, st.st_rdev);
	return xq_find_dev(state, st.st_dev);
}

/* Selects lines of the projects file. */
struct filter {
	struct state *state;
	bool all;
	uint32_t id;
	bool found;
};

static enum fsq_visit add_project_path(uint32_t id, const char *directory, void *arg)
{
	struct filter *filter = arg;
	struct state *state = filter->state;
	struct path path = { .is_project = true, .project = id };
	struct fsq_error err = { .errnum = ENOMEM };
	struct stat st;
	int mount = -1, errnum;

	if (!filter->all && id != filter->id)
		return FSQ_VISIT_CONTINUE;
	if ((state->mounts || fsq_mount_points_read(&state->mounts, &err) == 0) &&
	    fsq_lookup_stat(state->mounts, directory, 0, &st, &err) == 0) {
		mount = xq_find_dev(state, st.st_dev);
		/* The errno that xfs_quota prints for a directory on another filesystem. */
		errnum = state->path_count ? EINVAL : ENOENT;
	} else {
		errnum = err.errnum;
	}
	if (mount >= 0) {
		path.fs = state->paths[mount].fs;
		path.info = state->paths[mount].info;
		path.foreign = !(path.info->is_xfs && (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)));
		path.directory = strdup(directory);
		filter->found = insert(state, &path) >= 0;
	} else if (state->generation < XFS_QUOTA_7_2 || !state->path_given) {
		/* 7.2 does not report stale lines if a path was given. */
		xq_error(state, 0, errnum == ENOMEM ? FSQ_E_FAILED : FSQ_OK, 0,
			 "cannot find mount point for path `%s': %s", directory,
			 errno_words(errnum));
	}
	/* With -d, xfs_quota uses only the first existing directory of a project. */
	return !filter->all && filter->found ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

/* Add the directories that @filter selects. A missing projects file is no error. */
static void add_projects(struct state *state, struct filter *filter)
{
	struct fsq_error err;

	if (fsq_projects_each(state->projects_file, add_project_path, filter, &err) &&
	    err.errnum != ENOENT && err.errnum != ENOTDIR) {
		/* Let the next command of the shell try again. */
		state->projects_loaded = false;
		xq_errno(state, XQ_SILENT, err.errnum, "cannot read %s", err.path);
	}
}

void xq_load_projects(struct state *state)
{
	struct filter filter = { .state = state, .all = state->only_project_count == 0 };

	if (state->projects_loaded)
		return;
	state->projects_loaded = true;
	if (filter.all)
		add_projects(state, &filter);
	for (size_t i = 0; i < state->only_project_count; i++) {
		const char *wanted = state->only_projects[i];

		filter.found = false;
		if (xq_find_id(state, FSQ_PROJECT, wanted, &filter.id))
			add_projects(state, &filter);
		if (!filter.found)
			xq_errno(state, XQ_STATUS_0, ENOENT, "cannot setup path for project %s",
				 wanted);
	}
}

void xq_free_paths(struct state *state)
{
	for (size_t i = 0; i < state->path_count; i++) {
		if (!state->paths[i].is_project)
			fsq_filesystem_close(state->paths[i].fs);
		free(state->paths[i].directory);
	}
	free(state->paths);
	fsq_mount_points_free(state->mounts);
}

/* --- print and path --- */

static void print_types(struct state *state, const struct path *path)
{
	static const char *const words[][2] = {
		{ "uqnoenforce", "uquota" },
		{ "gqnoenforce", "gquota" },
		{ "pqnoenforce", "pquota" },
	};
	const char *before = " (";
	struct fsq_state quota;

	if (fsq_quota_state(path->fs, FSQ_USER, &quota))
		return;
	for (int type = 0; type < FSQ_TYPES; type++)
		if (quota.accounting[type]) {
			write_format(state->out, "%s%s", before, words[type][quota.enforced[type]]);
			before = ", ";
		}
	if (before[0] == ',')
		write_char(state->out, ')');
}

static void print_path(struct state *state, size_t index, bool numbered)
{
	const struct path *path = &state->paths[index];
	bool is_current = state->current == (int)index;
	const char *name = path->is_project ? xq_name_of(state, FSQ_PROJECT, path->project) : NULL;

	if (numbered)
		write_format(state->out, is_current ? "[%03zu] " : " %03zu  ", index);
	if (state->foreign_allowed)
		write_text(state->out, path->foreign ? "(F) " : "    ");
	write_format(state->out, "%-19s %s", path->directory, path->info->device);
	if (path->is_project)
		write_format(state->out, " (project %u%s%s)", path->project, name ? ", " : "",
			     name ? name : "");
	else
		print_types(state, path);
	write_char(state->out, '\n');
}

/* Count the entries to show: all with -f, otherwise only XFS. Those come first. */
static size_t count_visible(const struct state *state)
{
	return state->foreign_allowed ? state->path_count : state->xfs_path_count;
}

static void print_path_table(struct state *state, bool numbered)
{
	size_t count = count_visible(state);

	write_format(state->out, "%s%sFilesystem          Pathname\n", numbered ? "      " : "",
		     state->foreign_allowed ? "    " : "");
	for (size_t i = 0; i < count; i++)
		print_path(state, i, numbered);
}

static void run_print(struct state *state, const struct call *call)
{
	(void)call;
	xq_load_projects(state);
	if (state->path_count > 0)
		print_path_table(state, false);
}

static void run_path(struct state *state, const struct call *call)
{
	int index, max;

	xq_load_projects(state);
	max = (int)count_visible(state) - 1;
	if (state->path_count == 0) {
		write_format(state->out, "No paths are available\n");
		return;
	}
	if (call->operand_count > 0) {
		index = atoi(call->operands[0]);
		if (index < 0 || index > max) {
			write_format(state->out, "value %d is out of range (0-%d)\n", index, max);
			return;
		}
		state->current = index;
	}
	print_path_table(state, true);
}

const struct command xq_print_paths = {
	.name = "print",
	.alias = "p",
	.flags = COMMAND_ONE_SHOT | COMMAND_FOREIGN,
	.summary = "list known mount points and projects",
	.run = run_print,
};

const struct command xq_path = {
	.name = "path",
	.alias = "paths",
	.max = 1,
	.flags = COMMAND_ONE_SHOT | COMMAND_FOREIGN | COMMAND_EXPERT,
	.synopsis = "[N]",
	.summary = "set current path, or show the list of paths",
	.run = run_path,
};
