/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "change.h"
#include "names.h"
#include "options.h"
#include "paths.h"
#include "progress.h"
#include "signals.h"
#include "output/renderer.h"
#include "quota/fsquota.h"
#include "shared/array.h"

struct project_options {
	enum project_action action;
	const char *depth;
	struct directory *directories; /* -p, in their order */
	size_t directory_count, directory_capacity;
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
	/* the project being worked on: */
	const char *word;
	uint32_t id;
	unsigned int walked; /* directories */
	/* At the native door, for the summary at the end: */
	uint64_t entries, failures;
	int first_code;
	bool over; /* cancelled, or too much failed */
};

/* How many failures the native door reports; it counts the others. */
#define NAMED_FAILURES 10

static void print_failure(struct job *job, const struct fsq_tree_event *event)
{
	static const char *const verbs[] = {
		[PROJECT_CHECK] = "get", [PROJECT_SETUP] = "set", [PROJECT_CLEAR] = "clear"
	};
	struct session *session = job->session;

	switch (event->kind) {
	case FSQ_TREE_CANNOT_STAT:
		session_error(session, 0, FSQ_E_PARTIAL, 0, event->path, "cannot stat file %s",
			      event->path);
		break;
	case FSQ_TREE_CANNOT_OPEN:
		session_errno(session, 0, event->errnum, event->path, "cannot open %s",
			      event->path);
		break;
	case FSQ_TREE_NO_PROJECT:
	case FSQ_TREE_CANNOT_GET:
		session_errno(session, 0, event->errnum, event->path, "cannot get flags on %s",
			      event->path);
		break;
	case FSQ_TREE_CANNOT_CHANGE:
		/* In a user namespace the kernel calls it invalid. */
		session_error(
			session, 0, event->error,
			session->native && event->error == FSQ_E_PERMISSION ? EPERM : event->errnum,
			event->path, "cannot %s project on %s", verbs[job->action], event->path);
		break;
	}
}

/* The native door reports the first ones, and a summary at the end. */
static enum fsq_visit fail(struct job *job, const struct fsq_tree_event *event)
{
	struct session *session = job->session;
	int status = session->status;

	job->failures++;
	if (!session->native || job->failures <= NAMED_FAILURES)
		print_failure(job, event);
	if (session->native) {
		if (job->failures == 1)
			job->first_code = session->status;
		session->status = status;
		job->over |= job->failures == session->max_errors;
		if (job->over)
			return FSQ_VISIT_STOP;
	}
	/* No other file here will have a project ID either. */
	return event->kind == FSQ_TREE_NO_PROJECT ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
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

static enum fsq_visit emit(const struct fsq_tree_event *event, void *arg)
{
	struct job *job = arg;
	struct session *session = job->session;

	progress_clear(&job->progress);
	/* xfs_quota takes what has no project ID for a special file. */
	if (event->kind == FSQ_TREE_SPECIAL_FILE ||
	    (event->kind == FSQ_TREE_NO_PROJECT && !session->native)) {
		tell_special_file(job, event->path);
		return FSQ_VISIT_CONTINUE;
	}
	if (event->kind > FSQ_TREE_SPECIAL_FILE)
		return fail(job, event);
	if (event->kind & FSQ_TREE_WRONG_ID)
		session->render->project_wrong_id(session->out, event->path, event->id, job->id);
	if (event->kind & FSQ_TREE_NO_INHERITANCE)
		session->render->project_no_inheritance(session->out, event->path);
	return FSQ_VISIT_CONTINUE;
}

/* Then a row follows the walk, instead of what is said before and after it. */
static bool tells_changes(const struct job *job)
{
	return job->action != PROJECT_CHECK && change_is_shown(job->session);
}

static void tell_changes(struct job *job, const char *directory, uint64_t entries, uint64_t changed,
			 uint64_t mounts)
{
	struct session *session = job->session;
	const struct changed_tree_row row = {
		.action = job->action,
		.project = job->word,
		.path = directory,
		.entries = entries,
		.changed = changed,
		.mounts_skipped = mounts,
		.would = session->dry_run,
	};

	if (!tells_changes(job))
		return;
	session->render->changed_tree_row(session->out, &row);
	session_flush_terminal(session);
}

/* @last  no other directory is known to have the ID now */
static void walk(struct job *job, const char *directory, bool last)
{
	uint64_t changed;
	static const enum fsq_tree_action actions[] = {
		[PROJECT_CHECK] = FSQ_TREE_CHECK,
		[PROJECT_SETUP] = FSQ_TREE_SET,
		[PROJECT_CLEAR] = FSQ_TREE_CLEAR,
	};
	const struct fsq_tree_request request = {
		.size = sizeof(request),
		.directory = directory,
		.id = job->id,
		.action = actions[job->action],
		.max_depth = job->depth,
		.dry_run = job->session->dry_run,
		.last = last,
		.emit = emit,
		.arg = job,
		.options = &job->progress.options,
		.changed = &changed,
	};
	struct session *session = job->session;
	struct fsq_error err;
	uint64_t entries;

	if (!tells_changes(job))
		session->render->project_begin(session->out, job->action, job->word, directory);
	session_flush_terminal(session);
	if (fsq_project_tree(&request, &entries, &err)) {
		progress_clear(&job->progress);
		job->over = err.errnum == EINTR;
		if (job->over)
			session_errno(session, 0, EINTR, err.path, "%s: %s", err.path, err.message);
		else
			session_errno(session, 0, err.errnum, err.path, "cannot walk %s", err.path);
	}
	progress_clear(&job->progress);
	tell_changes(job, directory, entries, changed,
		     progress_take_mounts(&job->progress, session, directory));
	job->entries += entries;
	job->walked++;
}

/* The directories of the projects file and of the command line: XFS first, then foreign.
 * @return  NULL when the one there is not of the project */
static const char *directory_at(const struct job *job, size_t at)
{
	const struct session *session = job->session;
	size_t count = session->path_count + job->directory_count;
	bool foreign = at >= count;
	const struct path_entry *path;
	const struct directory *directory;

	if (foreign)
		at -= count;
	if (at < session->path_count) {
		path = &session->paths[at];
		return path->is_project && path->foreign == foreign && path->project == job->id
			       ? path->directory
			       : NULL;
	}
	directory = &job->directories[at - session->path_count];
	return directory->foreign == foreign ? directory->path : NULL;
}

static void do_project(struct job *job)
{
	struct session *session = job->session;
	size_t count = 2 * (session->path_count + job->directory_count), left = 0;
	const char *directory;

	job->walked = 0;
	if (!paths_saw_all(session, job->id))
		session_error(session, 0, FSQ_E_PARTIAL, 0, NULL,
			      "not all directories of project %s could be looked at", job->word);
	for (size_t i = 0; i < count; i++)
		left += directory_at(job, i) != NULL;
	for (size_t i = 0; i < count && !job->over; i++) {
		directory = directory_at(job, i);
		if (directory)
			walk(job, directory, --left == 0);
	}
	if (job->over || tells_changes(job))
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
		else if (!names_are_lost(session))
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
	struct session *session = job->session;
	int current = session->current_path;
	sigset_t before;

	/* What goes wrong is of the directory, not of the first filesystem of all. */
	if (session->path_count > 1)
		session->current_path = -1;
	progress_begin(&job->progress, session);
	block_interrupts(&before);
	do_words(job, argc, argv);
	tell_result(job);
	/* Also one that came too late to stop anything. */
	if (job->over || is_signal_pending(NULL))
		session_flush(session);
	restore_signals(&before);
	session->current_path = current;
}

static void command_project(struct session *session, const struct invocation *invocation)
{
	const struct project_options *options = invocation->options;
	struct job job = {
		.session = session,
		.action = options->action,
		.depth = FSQ_DEPTH_INFINITE,
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
					   &options->directory_capacity, sizeof(*all));

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
	.options = (option_tables){ project_options, dry_run_option, max_errors_option,
				    progress_option, NULL },
	.operands = { { VALUE_PROJECT, "PROJECT", true } },
	.options_size = sizeof(struct project_options),
	.clear_options = clear_options,
	.min_words = 1,
	.flags = COMMAND_XFS_QUOTA | COMMAND_FOREIGN | COMMAND_EXPERT,
	.run = command_project,
};
