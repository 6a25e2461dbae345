/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "native/cli/journal.h"
#include "native/cli/options.h"
#include "native/cli/paths.h"
#include "native/cli/progress.h"
#include "native/cli/suggest.h"
#include "native/rows/change.h"
#include "quota/fsquota.h"
#include "quota/mounts/lookup.h"
#include "quota/usage/project_tree.h"

/* A directory tree whose ID is set, cleared or checked. */
struct tree_row {
	const char *action;  /* "check", "setup" or "clear"; or NULL */
	const char *project; /* as it was given; or NULL */
	const char *finding; /* "id" or "inheritance"; or NULL */
	uint64_t id, wanted; /* of the finding "id", else FIELD_NOT_KNOWN */
	const char *path;
	/* Files and directories in it, and how many of them are changed; or FIELD_NOT_KNOWN. */
	uint64_t entries, changed, mounts_skipped;
	enum row_change change;
};

#define MEMBER(name) .offset = offsetof(struct tree_row, name)

static const struct field tree_fields[] = {
	{ "ACTION", "action", FIELD_TEXT, MEMBER(action), "check, setup or clear",
	  .optional = true },
	{ "PROJECT", "project", FIELD_TEXT, MEMBER(project), "the project, as it was given",
	  .optional = true },
	{ "FINDING", "finding", FIELD_TEXT, MEMBER(finding), "what is wrong: id or inheritance",
	  .optional = true },
	{ "ID", "id", FIELD_COUNT, MEMBER(id), "the project ID that it has", .optional = true,
	  .is_id = true },
	{ "EXPECTED", "expected_id", FIELD_COUNT, MEMBER(wanted), "the one that it should have",
	  .optional = true, .is_id = true },
	{ "PATH", "path", FIELD_PATH, MEMBER(path), "the file or directory" },
	{ "FILES", "files", FIELD_COUNT, MEMBER(entries), "files and directories in it",
	  .optional = true },
	{ "CHANGED", "changed_files", FIELD_COUNT, MEMBER(changed), "how many of them are changed",
	  .optional = true },
	{ "MOUNTS", "mounts_skipped", FIELD_COUNT, MEMBER(mounts_skipped),
	  "mounts that are not entered", .optional = true },
	{ NULL, "changed", FIELD_CHANGE, MEMBER(change) },
	{ 0 },
};

static const char *const action_words[] = {
	[FSQ_TREE_CHECK] = "check", [FSQ_TREE_SET] = "setup", [FSQ_TREE_CLEAR] = "clear"
};

static void write_tree(struct writer *w, const void *arg)
{
	const struct tree_row *row = arg;

	if (row->finding) {
		write_escaped(w, row->path);
		if (row->id == FIELD_NOT_KNOWN)
			write_text(w, ": does not hand on its project ID\n");
		else
			write_format(w, ": has project ID %" PRIu64 ", not %" PRIu64 "\n", row->id,
				     row->wanted);
		return;
	}
	write_format(w, "%s project ", change_action(row->change));
	write_escaped(w, row->project);
	write_text(w, ", ");
	write_escaped(w, row->path);
	write_format(w, ": %" PRIu64 " of %" PRIu64 " %s\n", row->changed, row->entries,
		     row->entries == 1 ? "file or directory" : "files and directories");
}

static const struct row_fields tree_rows = {
	tree_fields, sizeof(struct tree_row),
	"ACTION,PROJECT,FINDING,ID,EXPECTED,PATH,FILES,CHANGED", write_tree
};

struct project_options {
	enum fsq_tree_action action;
	const char *depth;
	struct word_list directories; /* -p, in their order */
};

struct project_run {
	struct session *session;
	const struct project_options *options;
	int depth;
	struct progress progress;
	/* the project being worked on: */
	const char *word;
	uint32_t id;
	/* For the summary at the end: */
	uint64_t entries, failures;
	int first_code;
	char *failed; /* the last path that did, or NULL */
	bool over;    /* cancelled, or too much failed */
};

static struct tree_row new_row(const struct project_run *run, const char *path)
{
	return (struct tree_row){
		.action = action_words[run->options->action],
		.project = run->word,
		.path = path,
		.id = FIELD_NOT_KNOWN,
		.wanted = FIELD_NOT_KNOWN,
		.entries = FIELD_NOT_KNOWN,
		.changed = FIELD_NOT_KNOWN,
		.mounts_skipped = FIELD_NOT_KNOWN,
	};
}

/* How many failures are reported; the others are counted. */
#define NAMED_FAILURES 10

static void print_failure(struct project_run *run, const struct fsq_tree_event *event)
{
	static const char *const verbs[] = {
		[FSQ_TREE_CHECK] = "get", [FSQ_TREE_SET] = "set", [FSQ_TREE_CLEAR] = "clear"
	};
	struct session *session = run->session;

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
		session_error(session, 0, event->error,
			      event->error == FSQ_E_PERMISSION ? EPERM : event->errnum, event->path,
			      "cannot %s project on %s", verbs[run->options->action], event->path);
		break;
	}
}

static enum fsq_visit fail_event(struct project_run *run, const struct fsq_tree_event *event)
{
	struct session *session = run->session;
	int status = session->status;

	/* A device that dies fails for one directory twice. */
	if (event->kind == FSQ_TREE_CANNOT_OPEN && run->failed &&
	    strcmp(run->failed, event->path) == 0)
		return FSQ_VISIT_CONTINUE;
	free(run->failed);
	run->failed = strdup(event->path);
	run->failures++;
	if (run->failures <= NAMED_FAILURES)
		print_failure(run, event);
	if (run->failures == 1)
		run->first_code = session->status;
	session->status = status;
	run->over |= run->failures == session->max_errors;
	/* Stop: no file here can have a project ID. */
	return run->over || event->kind == FSQ_TREE_NO_PROJECT || event->errnum == EOPNOTSUPP
		       ? FSQ_VISIT_STOP
		       : FSQ_VISIT_CONTINUE;
}

static enum fsq_visit show_tree_event(const struct fsq_tree_event *event, void *arg)
{
	struct project_run *run = arg;
	struct session *session = run->session;
	struct tree_row row = new_row(run, event->path);

	progress_clear(&run->progress);
	if (event->kind > FSQ_TREE_SPECIAL_FILE)
		return fail_event(run, event);
	if (event->kind == FSQ_TREE_SPECIAL_FILE)
		session_warn(session, event->path,
			     "is a special file, whose ID this kernel cannot change");
	row.action = row.project = NULL;
	if (event->kind & FSQ_TREE_WRONG_ID) {
		row.finding = "id";
		row.id = event->id;
		row.wanted = run->id;
		tables_row(session, &row);
	}
	if (event->kind & FSQ_TREE_NO_INHERITANCE) {
		row.finding = "inheritance";
		row.id = row.wanted = FIELD_NOT_KNOWN;
		tables_row(session, &row);
	}
	return FSQ_VISIT_CONTINUE;
}

/* @last  no other directory is known to have the ID now */
static void walk_project_tree(struct project_run *run, const char *directory, bool last)
{
	struct session *session = run->session;
	/* Then a row follows the walk, instead of one before it. */
	bool reports_changes = run->options->action != FSQ_TREE_CHECK && change_is_shown(session);
	struct tree_row row = new_row(run, directory);
	uint64_t entries, changed;
	const struct fsq_tree_request request = {
		.size = sizeof(request),
		.directory = directory,
		.id = run->id,
		.action = run->options->action,
		.max_depth = run->depth,
		.dry_run = session->dry_run,
		.last = last,
		.emit = show_tree_event,
		.arg = run,
		.options = &run->progress.options,
		.changed = &changed,
	};
	struct fsq_error err;
	int rc;

	if (!reports_changes && session_has_rows(session))
		tables_row(session, &row);
	session_flush_terminal(session);
	rc = fsq_project_tree(&request, &entries, &err);
	if (run->options->action != FSQ_TREE_CHECK)
		journal_write(session, &(struct journal_entry){ .type = FSQ_PROJECT,
								.id = run->id,
								.directory = directory,
								.err = rc ? &err : NULL });
	if (rc) {
		progress_clear(&run->progress);
		run->over = err.errnum == EINTR;
		if (run->over)
			session_errno(session, 0, EINTR, err.path, "%s: %s", err.path, err.message);
		else
			session_errno(session, 0, err.errnum, err.path, "cannot walk %s", err.path);
	}
	progress_clear(&run->progress);
	row.entries = entries;
	row.changed = changed;
	row.mounts_skipped = progress_take_mounts(&run->progress, session, directory);
	row.change = change_word(changed > 0);
	if (reports_changes) {
		tables_row(session, &row);
		session_flush_terminal(session);
	}
	run->entries += entries;
}

/* The directories of the projects file, then those of the command line.
 * @return  NULL when the one there is not of the project */
static const char *directory_at(const struct project_run *run, size_t at)
{
	const struct session *session = run->session;
	const struct path_entry *path = &session->paths[at];

	if (at >= session->path_count)
		return run->options->directories.words[at - session->path_count];
	return path->is_project && path->project == run->id ? path->directory : NULL;
}

/* The projects file has named the first ones, the caller the others. */
static bool look_at(const struct project_run *run, size_t at, struct stat *st)
{
	const struct fsq_mount_points *points =
		at < run->session->path_count ? run->session->mounts : NULL;

	return fsq_lookup_stat(points, directory_at(run, at), O_NOFOLLOW, st, NULL) == 0;
}

/* Is a directory of the command line also one of the projects file, or was it given before? */
static bool is_repeated(const struct project_run *run, size_t at)
{
	struct stat own, other;

	if (at < run->session->path_count || !look_at(run, at, &own))
		return false;
	for (size_t i = 0; i < at; i++)
		if (directory_at(run, i) && look_at(run, i, &other) && other.st_dev == own.st_dev &&
		    other.st_ino == own.st_ino)
			return true;
	return false;
}

struct first_line {
	uint32_t id;
	char *directory;
};

static enum fsq_visit take_first_line(uint32_t id, const char *directory, void *arg)
{
	struct first_line *first = arg;

	if (id != first->id)
		return FSQ_VISIT_CONTINUE;
	first->directory = strdup(directory);
	return FSQ_VISIT_STOP;
}

/* Doing nothing would look like success. */
static void refuse_without_directories(const struct project_run *run)
{
	struct session *session = run->session;
	struct first_line first = { run->id, NULL };

	fsq_projects_each(session->projects_file, take_first_line, &first, NULL);
	if (first.directory)
		session_error(session, ERROR_AT_PATH, FSQ_E_NOT_FOUND, 0, first.directory,
			      "is the directory of project %s, and not there; if it was renamed: "
			      "fsquota move OLD NEW",
			      run->word);
	else
		session_error(session, 0, FSQ_E_NOT_FOUND, 0, NULL,
			      "project %s has no directory in %s: name one with -p DIR", run->word,
			      session->projects_file);
	free(first.directory);
}

static void do_named_project(struct project_run *run)
{
	struct session *session = run->session;
	size_t count = session->path_count + run->options->directories.count, left = 0;
	const char *directory;

	if (fsq_id_set_has(&session->unseen, run->id))
		session_error(session, 0, FSQ_E_PARTIAL, 0, NULL,
			      "not all directories of project %s could be looked at", run->word);
	for (size_t i = 0; i < count; i++)
		left += directory_at(run, i) && !is_repeated(run, i);
	/* After an error it is not known whether one is there. */
	if (left == 0 && session->status == 0) {
		refuse_without_directories(run);
		return;
	}
	for (size_t i = 0; i < count && !run->over; i++) {
		directory = directory_at(run, i);
		if (!directory || is_repeated(run, i))
			continue;
		/* The walk of a small tree ends before it looks for signals. */
		run->progress.options.mounts = i < session->path_count ? session->mounts : NULL;
		if (session_goes_on(session, directory))
			walk_project_tree(run, directory, --left == 0);
		else
			run->over = true;
	}
}

static void do_operand_words(struct project_run *run, int argc, char **argv)
{
	struct session *session = run->session;
	size_t directories = run->options->directories.count;

	if (directories > 0 && argc > 1) {
		session_usage_error(
			session,
			"only one projid/name can be specified when using -p <path>, %d found.",
			argc);
		return;
	}
	if (directories == 0 && access(session->projects_file, F_OK)) {
		session_error(session, 0, FSQ_E_NOT_FOUND, 0, session->projects_file,
			      "projects file \"%s\" doesn't exist", session->projects_file);
		return;
	}
	paths_load_projects(session);
	for (int i = 0; i < argc && !run->over; i++) {
		run->word = argv[i];
		if (names_to_id(session, FSQ_PROJECT, argv[i], &run->id))
			do_named_project(run);
		else if (!names_are_lost(session))
			session_error(
				session, 0, FSQ_E_NOT_FOUND, 0, NULL,
				"%s - no such project in %s or invalid project number%s", argv[i],
				session->projects_file,
				suggest_has_word(" check set clear ", argv[i], strlen(argv[i]))
					? "; -s sets the ID, -c checks it, -C takes it off"
					: "");
	}
}

/* Set the exit status: did all, some or no files fail? */
static void report_result(struct project_run *run)
{
	struct session *session = run->session;
	bool partial = run->failures < run->entries;
	int status = session->status;

	if (run->failures == 0)
		return;
	if (run->failures > NAMED_FAILURES || run->failures == session->max_errors)
		session_error(session, 0, FSQ_E_PARTIAL, 0, NULL,
			      "%" PRIu64 " of %" PRIu64
			      " files and directories failed%s; the first are named above",
			      run->failures, run->entries,
			      run->failures == session->max_errors
				      ? ", as many as --max-errors allows"
				      : "");
	session->status = status    ? status
			  : partial ? session_exit_code(FSQ_E_PARTIAL)
				    : run->first_code;
}

static void command_project(struct session *session, const struct invocation *invocation)
{
	const struct project_options *options = invocation->options;
	struct project_run run = { .session = session,
				   .options = options,
				   .depth = FSQ_DEPTH_INFINITE };
	int current = session->current_path;
	uint32_t depth = UINT32_MAX;
	sigset_t before;

	if (!options_number(session, options->depth, &depth))
		return;
	if ((int)depth >= 0)
		run.depth = (int)depth;
	for (size_t i = 0; i < options->directories.count; i++) {
		const char *directory = options->directories.words[i];

		if (paths_find(session, directory) < 0) {
			session_errno(session, 0, ENOENT, directory,
				      "cannot setup path for project dir %s", directory);
			return;
		}
	}
	if (invocation->operand_count == 0) {
		session_usage_error(session,
				    "name the project, by its name or ID, which fsquota id DIR "
				    "prints: fsquota project [-c|-s|-C] [-p DIR] ID PATH");
		return;
	}
	/* Errors name the directory, not the first of several filesystems. */
	if (session->path_count > 1)
		session->current_path = -1;
	progress_begin(&run.progress, session);
	/* A signal waits until the current file is finished and counted. */
	block_interrupts(&before);
	do_operand_words(&run, invocation->operand_count, invocation->operands);
	report_result(&run);
	free(run.failed);
	/* Including a signal that came too late. */
	if (run.over || is_signal_pending(NULL))
		session_flush(session);
	restore_signals(&before);
	session->current_path = current;
}

static bool take_action(struct session *session, const struct command_option *option, void *to,
			const char *value)
{
	struct project_options *options = to;

	(void)session, (void)value;
	options->action = option->letter == 's'	  ? FSQ_TREE_SET
			  : option->letter == 'C' ? FSQ_TREE_CLEAR
						  : FSQ_TREE_CHECK;
	return true;
}

static void clear_project_options(void *options)
{
	free(((struct project_options *)options)->directories.words);
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
	  .argument = "DIR", .field = FIELD(directories), .repeats = true },
	{ 0 },
};

const struct command project_command = {
	.name = "project",
	.alias = "tree",
	.group = GROUP_RECORDS,
	.summary = "check, set or clear the project of directory trees",
	.synopsis = "[-c|-s|-C|-d <depth>|-p <path>] project ...",
	.help = "Give the directories of a project its ID, and everything in them. Which\n"
		"directories these are is written in the projects file, or given with -p.\n"
		"Symbolic links are not followed, other mounts are not entered.",
	.example = "project -s -p /srv/volume 42\n"
		   "project -c -p /srv/volume 42 /srv",
	.options = (option_tables){ project_options, dry_run_option, max_errors_option,
				    progress_option, NULL },
	.operands = { { VALUE_PROJECT, "PROJECT", true } },
	.rows = &tree_rows,
	.options_size = sizeof(struct project_options),
	.clear_options = clear_project_options,
	.flags = COMMAND_FILESYSTEMS | COMMAND_ONCE | COMMAND_CONFIG,
	.run = command_project,
};
