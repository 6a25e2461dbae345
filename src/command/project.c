/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "names.h"
#include "options.h"
#include "output/renderer.h"
#include "paths.h"
#include "progress.h"
#include "quota/filesystem.h"
#include "quota/inode_project.h"
#include "quota/interrupt.h"
#include "quota/privilege.h"
#include "quota/tree_walk.h"
#include "shared/array.h"

struct project_options {
	enum project_action action;
	const char *depth;
	struct directory *directories; /* -p, in their order */
	size_t directory_count, directory_room;
};

/* A directory of the command line. */
struct directory {
	const char *path;
	bool is_found; /* on a filesystem of the table; and whether that is foreign */
	bool foreign;
};

struct job {
	struct session *session;
	enum project_action action;
	int depth;
	struct directory *directories; /* -p, in their order */
	size_t directory_count;
	struct progress progress;
	atomic_bool *changed;  /* something was to be set, or may have been missed */
	struct timespec began; /* the walk of a tree again */
	bool again;	       /* findings were reported by the walk before */
	uint64_t specials;     /* passed over, which may keep their IDs */
	/* the project being worked on: */
	const char *word;
	uint32_t id;
	unsigned int walked; /* directories */
	/* At the native door, for the summary at the end: */
	uint64_t entries, failures;
	int first_code;
	bool over; /* a signal came, or too much failed */
};

/* How many failures the native door reports; it counts the others. */
#define NAMED_FAILURES 10

/* What there is to tell of an entry. The first two may come together. */
enum {
	WRONG_ID = 1,
	NO_INHERITANCE = 2,
	SPECIAL_FILE = 4,
	NO_STAT,
	NO_OPEN,
	CANNOT_GET,
	CANNOT_CHANGE,
};

/* So many more walks of a tree in which files are moved about. */
#define WALKS 32

/* What fail() and tell() return to end the walk. */
#define END_WALK 2

static bool is_plain(const struct fsq_walk_entry *entry)
{
	struct stat st;

	return fstatat(entry->dirfd, entry->name, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) == 0 &&
	       (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

static void visit_project(const struct job *job, const struct fsq_walk_entry *entry,
			  struct fsq_walk_finding *finding)
{
	struct fsq_inode_project project;
	bool is_directory, inherit;
	int rc = fsq_walk_project_get(entry, &project);

	finding->errnum = -rc;
	if (rc == -ENOTTY && !(job->session->native && is_plain(entry))) {
		/* Or something else was put in its place before it was opened. */
		finding->what = SPECIAL_FILE;
	} else if (rc) {
		finding->what = rc == -ENOENT && entry->fd < 0 ? NO_STAT : CANNOT_GET;
	} else {
		is_directory = fsq_walk_is_directory(entry, &project);
		switch (job->action) {
		case PROJECT_CHECK:
			finding->id = project.id;
			finding->what = (project.id != job->id ? WRONG_ID : 0) |
					(is_directory && !project.inherit ? NO_INHERITANCE : 0);
			break;
		case PROJECT_SETUP:
			/* By name it may be a directory by now, which must not lose it. */
			inherit = is_directory || (entry->by_name && project.id != job->id);
			if (project.id != job->id || project.inherit != inherit)
				atomic_store(job->changed, true);
			rc = fsq_walk_project_set(entry, &project, job->id, inherit);
			break;
		case PROJECT_CLEAR:
			if (project.id || project.inherit)
				atomic_store(job->changed, true);
			rc = fsq_walk_project_set(entry, &project, 0, false);
			break;
		}
		if (rc)
			finding->what = CANNOT_CHANGE;
		finding->errnum = -rc;
	}
}

/* By any thread. */
static int visit(const struct fsq_walk_entry *entry, struct fsq_walk_finding *finding, void *arg)
{
	const struct job *job = arg;

	switch (entry->kind) {
	case FSQ_WALK_FILE:
	case FSQ_WALK_DIRECTORY:
	case FSQ_WALK_SPECIAL:
		if (entry->has_project)
			visit_project(job, entry, finding);
		else
			finding->what = SPECIAL_FILE;
		break;
	case FSQ_WALK_NO_STAT:
	case FSQ_WALK_NO_OPEN:
		finding->what = entry->kind == FSQ_WALK_NO_STAT ? NO_STAT : NO_OPEN;
		finding->errnum = entry->errnum;
		break;
	case FSQ_WALK_LEAVE:
		if (job->again && !atomic_load(job->changed) &&
		    fsq_walk_changed_since(entry, &job->began))
			atomic_store(job->changed, true);
		break;
	}
	return 0;
}

static void print_failure(struct job *job, const struct fsq_walk_finding *finding)
{
	static const char *const verbs[] = {
		[PROJECT_CHECK] = "get", [PROJECT_SETUP] = "set", [PROJECT_CLEAR] = "clear"
	};
	struct session *session = job->session;

	switch (finding->what) {
	case NO_STAT:
		session_error(session, 0, FSQ_E_PARTIAL, 0, finding->path, "cannot stat file %s",
			      finding->path);
		break;
	case NO_OPEN:
		session_errno(session, 0, finding->errnum, finding->path, "cannot open %s",
			      finding->path);
		break;
	case CANNOT_GET:
		session_errno(session, 0, finding->errnum, finding->path, "cannot get flags on %s",
			      finding->path);
		break;
	case CANNOT_CHANGE:
		/* In a user namespace the kernel calls it invalid. */
		if (finding->errnum == EINVAL && fsq_in_user_namespace())
			session_error(session, 0, FSQ_E_PERMISSION,
				      session->native ? EPERM : finding->errnum, finding->path,
				      "cannot %s project on %s", verbs[job->action], finding->path);
		else
			session_errno(session, 0, finding->errnum, finding->path,
				      "cannot %s project on %s", verbs[job->action], finding->path);
		break;
	}
}

/* The native door reports the first ones, and a summary at the end. */
static int fail(struct job *job, const struct fsq_walk_finding *finding)
{
	struct session *session = job->session;
	int status = session->status;

	job->failures++;
	if (!session->native || job->failures <= NAMED_FAILURES)
		print_failure(job, finding);
	if (session->native) {
		if (job->failures == 1)
			job->first_code = session->status;
		session->status = status;
		job->over |= job->failures == session->max_errors;
		if (job->over)
			return END_WALK;
	}
	/* No other file here will have a project ID either. */
	return finding->what == CANNOT_GET && finding->errnum == ENOTTY ? END_WALK : 0;
}

static void tell_special_file(struct job *job, const char *path)
{
	struct session *session = job->session;
	bool explain = job->action != PROJECT_SETUP &&
		       generation_explains_special_files(session->generation);

	/* A warning, in spite of its errno. */
	session_error(session, 0, FSQ_OK, explain ? EOPNOTSUPP : 0, path,
		      "skipping special file %s", path);
}

/* In the order of the tree. */
static int tell(const struct fsq_walk_finding *finding, void *arg)
{
	struct job *job = arg;
	struct session *session = job->session;

	if (job->again)
		return 0;
	progress_clear(&job->progress);
	if (finding->what == SPECIAL_FILE) {
		job->specials++;
		tell_special_file(job, finding->path);
		return 0;
	}
	if (finding->what >= NO_STAT)
		return fail(job, finding);
	if (finding->what & WRONG_ID)
		session->render->project_wrong_id(session->out, finding->path, finding->id,
						  job->id);
	if (finding->what & NO_INHERITANCE)
		session->render->project_no_inheritance(session->out, finding->path);
	return 0;
}

/* Nothing was to be set: does the kernel say so, or only its memory of a filesystem that is gone?
 */
static void ask(struct job *job, const char *directory)
{
	struct fsq_walk_finding finding = { .what = CANNOT_CHANGE, .path = directory };

	if (job->action == PROJECT_CHECK || atomic_load(job->changed) || job->over)
		return;
	finding.errnum = -fsq_filesystem_ask(directory);
	if (finding.errnum)
		fail(job, &finding);
}

static struct fsq_walk walk_of(struct job *job, const char *directory)
{
	return (struct fsq_walk){
		.root = directory,
		.root_fd = -1,
		.max_depth = job->depth,
		.reach = FSQ_WALK_PROJECTS_BY_NAME,
		.manner = &job->progress.manner,
		.visit = visit,
		.tell = tell,
		.arg = job,
	};
}

/*
 * What somebody moves about may be missed where it is cleared: into a directory that hands on its
 * ID, as when it is set, the kernel lets nothing be moved that has another one. So a directory is
 * walked again while the kernel counts more with the ID and the last walk found some.
 */
static void clear_again(struct job *job, const char *directory)
{
	struct fsq_walk walk = walk_of(job, directory);
	struct fsq_error err;

	if (job->action != PROJECT_CLEAR || job->depth != FSQ_WALK_INFINITE)
		return;
	job->again = true;
	for (int i = 0; i < WALKS && atomic_load(job->changed) && !job->over &&
			fsq_filesystem_inodes_of(directory, job->id) > job->specials;
	     i++) {
		atomic_store(job->changed, false);
		clock_gettime(CLOCK_REALTIME_COARSE, &job->began);
		if (fsq_tree_walk(&walk, &err) == FSQ_E_FAILED)
			job->over = err.errnum == EINTR;
	}
	job->again = false;
}

static void walk(struct job *job, const char *directory)
{
	struct session *session = job->session;
	struct fsq_walk walk = walk_of(job, directory);
	struct fsq_error err;

	atomic_store(job->changed, false);
	session->render->project_begin(session->out, job->action, job->word, directory);
	session_flush_terminal(session);
	/* Else the teller ended it, and has told why. */
	if (fsq_tree_walk(&walk, &err) == FSQ_E_FAILED) {
		progress_clear(&job->progress);
		job->over = err.errnum == EINTR;
		if (job->over)
			session_errno(session, 0, EINTR, err.path, "%s: %s", err.path, err.message);
		else
			session_errno(session, 0, err.errnum, err.path, "cannot walk %s", err.path);
	}
	ask(job, directory);
	clear_again(job, directory);
	progress_clear(&job->progress);
	job->entries += walk.entries;
	job->walked++;
}

/* The directories of the projects file and of the command line: XFS first, then foreign. */
static void do_project(struct job *job)
{
	struct session *session = job->session;

	job->walked = 0;
	job->specials = 0;
	for (int foreign = 0; foreign <= 1 && !job->over; foreign++) {
		for (size_t i = 0; i < session->path_count && !job->over; i++) {
			const struct path_entry *path = &session->paths[i];

			if (path->is_project && path->foreign == foreign &&
			    path->project == job->id)
				walk(job, path->directory);
		}
		for (size_t i = 0; i < job->directory_count && !job->over; i++)
			if (job->directories[i].foreign == foreign)
				walk(job, job->directories[i].path);
	}
	if (job->over)
		return;
	render_project_end(session->render, session->out, job->walked, session->projects_file,
			   job->word, job->depth);
}

/* A directory must lie on a filesystem of the table; else an error is reported. */
static bool find_directory(struct session *session, struct directory *directory)
{
	int mount;

	if (directory->is_found)
		return true;
	mount = paths_find(session, directory->path);
	directory->is_found = mount >= 0;
	if (directory->is_found)
		directory->foreign = session->paths[mount].foreign;
	else
		session_errno(session, ERROR_STATUS_0, ENOENT, directory->path,
			      "cannot setup path for project dir %s", directory->path);
	return directory->is_found;
}

static void do_words(struct job *job, int argc, char **argv)
{
	struct session *session = job->session;

	if (job->directory_count > 0 && argc > 1) {
		session_usage_error(
			session,
			"only one projid/name can be specified when using -p <path>, %d found.",
			argc);
		return;
	}
	if (job->directory_count == 0 && access(session->projects_file, F_OK)) {
		session_error(session, ERROR_BARE, FSQ_E_NOT_FOUND, 0, session->projects_file,
			      "projects file \"%s\" doesn't exist", session->projects_file);
		return;
	}
	paths_load_projects(session);
	for (int i = 0; i < argc && !job->over; i++) {
		job->word = argv[i];
		if (names_to_id(session, FSQ_PROJECT, argv[i], &job->id))
			do_project(job);
		else
			session_error(session, ERROR_BARE, FSQ_E_NOT_FOUND, 0, NULL,
				      "%s - no such project in %s or invalid project number",
				      argv[i], session->projects_file);
	}
}

/* Set the exit status of the native door: did all, some or no files fail? */
static void tell_result(struct job *job)
{
	struct session *session = job->session;
	bool partial = job->failures < job->entries;
	int status = session->status;

	if (job->failures == 0 || !session->native)
		return;
	if (job->failures > NAMED_FAILURES || job->failures == session->max_errors)
		session_error(session, 0, FSQ_E_PARTIAL, 0, NULL,
			      "%" PRIu64 " of %" PRIu64
			      " files and directories failed%s; the first are named above",
			      job->failures, job->entries,
			      job->failures == session->max_errors
				      ? ", as many as --max-errors allows"
				      : "");
	session->status = status    ? status
			  : partial ? session_exit_code(FSQ_E_PARTIAL)
				    : job->first_code;
}

/* A signal that is to stop us lets the file that is worked on be finished, and be counted. */
static void do_words_or_stop(struct job *job, int argc, char **argv)
{
	sigset_t before;

	progress_begin(&job->progress, job->session);
	fsq_interrupt_block_stops(&before);
	do_words(job, argc, argv);
	tell_result(job);
	/* Also one that came too late to stop anything. */
	if (job->over || fsq_interrupt_pending())
		session_flush(job->session);
	fsq_interrupt_restore(&before);
}

static void command_project(struct session *session, const struct invocation *invocation)
{
	const struct project_options *options = invocation->options;
	atomic_bool changed = false;
	struct job job = {
		.session = session,
		.action = options->action,
		.changed = &changed,
		.depth = FSQ_WALK_INFINITE,
		.directories = options->directories,
		.directory_count = options->directory_count,
	};
	uint32_t depth = UINT32_MAX;

	if (!options_number(session, options->depth, &depth))
		return;
	if ((int)depth >= 0)
		job.depth = (int)depth;
	for (size_t i = 0; i < options->directory_count; i++)
		if (!find_directory(session, &options->directories[i]))
			return;
	/* The directories of all filesystems are worked on at once. */
	if (invocation->operand_count == 0)
		command_show_usage(session, invocation->command);
	else if (session->pass == 0)
		do_words_or_stop(&job, invocation->operand_count, invocation->operands);
}

static bool take_action(struct session *session, const struct command_option *option, void *to,
			const char *value)
{
	struct project_options *options = to;

	(void)session, (void)value;
	options->action = option->letter == 's'	  ? PROJECT_SETUP
			  : option->letter == 'C' ? PROJECT_CLEAR
						  : PROJECT_CHECK;
	return true;
}

static bool take_directory(struct session *session, const struct command_option *option, void *to,
			   const char *path)
{
	struct project_options *options = to;
	struct directory *all = array_grow(options->directories, options->directory_count,
					   &options->directory_room, sizeof(*all));

	(void)option;
	if (!all) {
		session_errno(session, 0, ENOMEM, NULL, "cannot go on");
		return false;
	}
	options->directories = all;
	all += options->directory_count++;
	*all = (struct directory){ .path = path };
	/* xfs_quota looks at no option behind one that is wrong; the native door has no table yet.
	 */
	return session->native || find_directory(session, all);
}

static void clear_options(void *options)
{
	free(((struct project_options *)options)->directories);
}

#define FIELD(member) offsetof(struct project_options, member)

static const struct command_option project_options[] = {
	{ 'c', NULL, "say what does not carry the ID (default)", .take = take_action },
	{ 's', NULL,
	  "set the ID, and let directories hand it on to what is\n"
	  "created in them",
	  .take = take_action },
	{ 'C', NULL, "clear the ID and the inheritance", .take = take_action },
	{ 'd', NULL, "go no deeper than this; 0 is the directory alone", .kind = VALUE_NUMBER,
	  .argument = "DEPTH", .field = FIELD(depth) },
	{ 'p', NULL, "a directory that is not in the projects file", .kind = VALUE_DIRECTORY,
	  .argument = "DIR", .take = take_directory },
	{ 0 },
};

const struct command project_command = {
	.name = "project",
	.alias = "tree",
	.summary = "check, setup or clear project quota trees",
	.synopsis = "[-c|-s|-C|-d <depth>|-p <path>] project ...",
	.help = "Give the directories of a project its ID, and everything in them. Which\n"
		"directories these are is written in the projects file, or given with -p.\n"
		"Symbolic links are not followed, other mounts are not entered.",
	.example = "project -s -p /srv/volume 42",
	.options = (option_tables){ project_options, max_errors_option, progress_option, NULL },
	.operands = { { VALUE_PROJECT, "PROJECT", true } },
	.options_size = sizeof(struct project_options),
	.clear_options = clear_options,
	.min_words = 1,
	.flags = COMMAND_XFS_QUOTA | COMMAND_FOREIGN | COMMAND_EXPERT,
	.run = command_project,
};
