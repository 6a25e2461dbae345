/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/signals.h"
#include "quota/mounts/lookup.h"
#include "quota/usage/project_tree.h"
#include "shared/array.h"

/* A directory of -p. */
struct directory {
	const char *path;
	bool foreign; /* on a filesystem that is not XFS */
};

struct project_run {
	struct state *state;
	enum fsq_tree_action action; /* -c, -s, -C */
	int depth;		     /* -d */
	struct directory *directories;
	size_t directory_count, directory_capacity;
	struct fsq_call_options options; /* of each walk */
	bool cancelled;
	/* of the current project: */
	const char *word;
	uint32_t id;
	const char *next;    /* the directory to walk next */
	unsigned int walked; /* how many directories */
	/* of the current tree: */
	const char *directory;
	uint64_t mounts; /* how many mounts of the same filesystem were not entered */
	char *first_mount;
	struct fsq_mount_points *points; /* read on first use */
};

static enum fsq_visit report(const struct fsq_tree_event *event, void *arg)
{
	static const char *const verbs[] = {
		[FSQ_TREE_CHECK] = "get", [FSQ_TREE_SET] = "set", [FSQ_TREE_CLEAR] = "clear"
	};
	const struct project_run *run = arg;
	struct state *state = run->state;
	const char *path = event->path;
	bool explain;

	switch (event->kind) {
	case FSQ_TREE_SPECIAL_FILE:
	case FSQ_TREE_NO_PROJECT:
		/* xfs_quota calls every file that cannot have a project ID special. From 7.2 on, -c and
		 * -C print the reason. */
		explain = run->action != FSQ_TREE_SET && state->generation >= XFS_QUOTA_7_2;
		xq_error(state, 0, FSQ_OK, explain ? EOPNOTSUPP : 0, "skipping special file %s",
			 path);
		break;
	case FSQ_TREE_CANNOT_STAT:
		xq_error(state, 0, FSQ_E_PARTIAL, 0, "cannot stat file %s", path);
		break;
	case FSQ_TREE_CANNOT_OPEN:
		xq_errno(state, 0, event->errnum, "cannot open %s", path);
		break;
	case FSQ_TREE_CANNOT_GET:
		xq_errno(state, 0, event->errnum, "cannot get flags on %s", path);
		break;
	case FSQ_TREE_CANNOT_CHANGE:
		xq_error(state, 0, event->error, event->errnum, "cannot %s project on %s",
			 verbs[run->action], path);
		break;
	default:
		if (event->kind & FSQ_TREE_WRONG_ID)
			write_format(state->out,
				     "%s - project identifier is not set (inode=%u, tree=%u)\n",
				     path, event->id, run->id);
		if (event->kind & FSQ_TREE_NO_INHERITANCE)
			write_format(state->out, "%s - project inheritance flag is not set\n",
				     path);
		break;
	}
	return FSQ_VISIT_CONTINUE;
}

/*
 * @return  whether xfs_quota would enter this mount, as one of the same filesystem. Looks in the mount table only:
 *          a system call on the mount could hang if its server is dead.
 */
static bool is_entered_by_xfs_quota(struct project_run *run, const char *path)
{
	const char *rest = path + strlen(run->directory);
	char *real = NULL, *mount = NULL;
	const struct fsq_mount *there;
	struct stat st;
	bool entered;

	if (!run->points && fsq_mount_points_read(&run->points, NULL))
		run->points = NULL;
	if (run->points)
		real = fsq_lookup_gone(run->options.mounts, run->directory);
	if (!real || asprintf(&mount, "%s/%s", real[1] ? real : "", rest + (*rest == '/')) < 0)
		mount = NULL;
	there = mount ? fsq_mount_points_get(run->points, mount) : NULL;
	entered =
		there &&
		fsq_lookup_stat(run->options.mounts, run->directory, O_NOFOLLOW, &st, NULL) == 0 &&
		there->dev == st.st_dev;
	free(mount);
	free(real);
	return entered;
}

static void skip_mount(const char *path, void *arg)
{
	struct project_run *run = arg;

	if (is_entered_by_xfs_quota(run, path) && run->mounts++ == 0)
		run->first_mount = strdup(path);
}

static void report_mounts(struct project_run *run, const char *directory)
{
	const char *first = run->first_mount ? run->first_mount : directory;

	if (run->mounts == 1)
		xq_error(run->state, 0, FSQ_OK, 0, "the mount %s is not entered", first);
	else if (run->mounts)
		xq_error(run->state, 0, FSQ_OK, 0, "%" PRIu64 " mounts are not entered, first %s",
			 run->mounts, first);
	fsq_mount_points_free(run->points);
	free(run->first_mount);
	run->points = NULL;
	run->first_mount = NULL;
	run->mounts = 0;
}

/* @is_last  no other directory is known to have the ID afterwards */
static void walk(struct project_run *run, const char *directory, bool is_last)
{
	static const char *const words[] = { [FSQ_TREE_CHECK] = "Checking",
					     [FSQ_TREE_SET] = "Setting up",
					     [FSQ_TREE_CLEAR] = "Clearing" };
	const struct fsq_tree_request request = {
		.size = sizeof(request),
		.directory = directory,
		.id = run->id,
		.action = run->action,
		.max_depth = run->depth,
		.last = is_last,
		.emit = report,
		.arg = run,
		.options = &run->options,
	};
	struct state *state = run->state;
	struct fsq_error err;
	uint64_t entries;

	write_format(state->out, "%s project %s (path %s)...\n", words[run->action], run->word,
		     directory);
	xq_flush_terminal(state);
	run->directory = directory;
	if (fsq_project_tree(&request, &entries, &err)) {
		run->cancelled = err.errnum == EINTR;
		if (run->cancelled)
			xq_errno(state, 0, EINTR, "%s: %s", err.path, err.message);
		else
			xq_errno(state, 0, err.errnum, "cannot walk %s", err.path);
	}
	report_mounts(run, directory);
	run->walked++;
}

/*
 * Walk the directory of the previous call, and remember @directory for the next one: walk() must know which is
 * the last.
 *
 * @directory  NULL: there is no further one
 * @mounts     to keep to, or NULL: it was named by -p
 */
static void walk_next(struct project_run *run, const char *directory,
		      const struct fsq_mount_points *mounts)
{
	/* A walk of a small tree ends before it checks for signals. */
	run->cancelled |= is_signal_pending(NULL);
	if (run->next && !run->cancelled)
		walk(run, run->next, !directory);
	run->next = directory;
	run->options.mounts = mounts;
}

/* Walk the directories of a project, from the projects file and -p: first those on XFS. */
static void do_project(struct project_run *run)
{
	const struct state *state = run->state;

	run->walked = 0;
	for (int foreign = 0; foreign < 2; foreign++) {
		for (size_t i = 0; i < state->path_count; i++) {
			const struct path *path = &state->paths[i];

			if (path->is_project && path->foreign == foreign &&
			    path->project == run->id)
				walk_next(run, path->directory, state->mounts);
		}
		for (size_t i = 0; i < run->directory_count; i++)
			if (run->directories[i].foreign == foreign)
				walk_next(run, run->directories[i].path, NULL);
	}
	walk_next(run, NULL, NULL);
	if (run->cancelled)
		return;
	write_format(state->out,
		     "Processed %u (%s and cmdline) paths for project %s with recursion ",
		     run->walked, state->projects_file, run->word);
	if (run->depth < 0)
		write_format(state->out, "depth infinite (-1).\n");
	else
		write_format(state->out, "depth limited (%d).\n", run->depth);
}

static void do_words(struct project_run *run, int count, char **words)
{
	struct state *state = run->state;

	if (run->directory_count > 0 && count > 1) {
		xq_usage_error(
			state,
			"only one projid/name can be specified when using -p <path>, %d found.",
			count);
		return;
	}
	if (run->directory_count == 0 && access(state->projects_file, F_OK)) {
		xq_error(state, XQ_BARE, FSQ_E_NOT_FOUND, 0, "projects file \"%s\" doesn't exist",
			 state->projects_file);
		return;
	}
	xq_load_projects(state);
	for (int i = 0; i < count && !run->cancelled; i++) {
		run->word = words[i];
		if (xq_find_id(state, FSQ_PROJECT, words[i], &run->id))
			do_project(run);
		else if (!xq_names_are_lost(state))
			xq_error(state, XQ_BARE, FSQ_E_NOT_FOUND, 0,
				 "%s - no such project in %s or invalid project number", words[i],
				 state->projects_file);
	}
}

/* Add a directory of -p. @return  false: it is on no filesystem of the table, or no memory; reported */
static bool add_directory(struct project_run *run, const char *path)
{
	struct state *state = run->state;
	int mount = xq_find_path(state, path);
	struct directory directory = { .path = path };

	if (mount < 0) {
		xq_errno(state, XQ_STATUS_0, ENOENT, "cannot setup path for project dir %s", path);
		return false;
	}
	directory.foreign = state->paths[mount].foreign;
	if (!array_add(&run->directories, &run->directory_count, &run->directory_capacity,
		       &directory, sizeof(directory))) {
		xq_out_of_memory(state);
		return false;
	}
	return true;
}

/* Parse here, not in xq_parse_options(): xfs_quota ignores options after a -p that it rejects. */
static bool parse(struct project_run *run, const struct call *call)
{
	int letter;

	optind = 0;
	while ((letter = getopt(call->argc, call->argv, "csCd:p:")) != -1) {
		switch (letter) {
		case 'c':
			run->action = FSQ_TREE_CHECK;
			break;
		case 's':
			run->action = FSQ_TREE_SET;
			break;
		case 'C':
			run->action = FSQ_TREE_CLEAR;
			break;
		case 'd':
			run->depth = (int)xq_number(optarg);
			break;
		case 'p':
			if (!add_directory(run, optarg))
				return false;
			break;
		default:
			xq_show_usage(run->state, call);
			return false;
		}
	}
	if (run->depth < 0)
		run->depth = FSQ_DEPTH_INFINITE;
	return true;
}

static void run_project(struct state *state, const struct call *call)
{
	struct project_run run = {
		.state = state,
		.action = FSQ_TREE_CHECK,
		.depth = FSQ_DEPTH_INFINITE,
		/* With one thread, files are visited in the order of xfs_quota. */
		.options = { .size = sizeof(run.options),
			     .threads = 1,
			     .is_cancelled = is_signal_pending,
			     .mount_skipped = skip_mount,
			     .arg = &run },
	};
	sigset_t before;

	if (!parse(&run, call))
		goto out;
	if (optind >= call->argc) {
		xq_show_usage(state, call);
		goto out;
	}
	/* The first pass has walked the directories on all filesystems. */
	if (state->pass > 0)
		goto out;
	/* Block termination signals: the walk ends after the current file when one is pending. */
	block_interrupts(&before);
	do_words(&run, call->argc - optind, call->argv + optind);
	/* restore_signals() unblocks the pending signal, which ends the process. */
	if (is_signal_pending(NULL))
		xq_flush(state);
	restore_signals(&before);
out:
	free(run.directories);
}

const struct command xq_project = {
	.name = "project",
	.alias = "tree",
	.min = 1,
	.max = -1,
	.flags = COMMAND_FOREIGN | COMMAND_EXPERT,
	.synopsis = "[-c|-s|-C|-d <depth>|-p <path>] project ...",
	.summary = "check, setup or clear project quota trees",
	.help = "Give the directories of a project its ID, and everything in them. Which\n"
		"directories these are is written in the projects file, or given with -p.\n"
		"Symbolic links are not followed, other mounts are not entered.\n"
		"\n"
		"  -c        say what does not carry the ID (default)\n"
		"  -s        set the ID, and let directories hand it on to what is\n"
		"            created in them\n"
		"  -C        clear the ID and the inheritance\n"
		"  -d DEPTH  go no deeper than this; 0 is the directory alone\n"
		"  -p DIR    a directory that is not in the projects file\n"
		"\n"
		"Example: project -s -p /srv/volume 42\n",
	.run = run_project,
};
