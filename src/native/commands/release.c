/* SPDX-License-Identifier: Apache-2.0 */
#include "quota/fsquota.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>

#include "native/cli/journal.h"
#include "native/cli/options.h"
#include "native/cli/progress.h"
#include "native/cli/suggest.h"
#include "native/cli/until.h"
#include "native/rows/change.h"

/* Remove a quota. */
struct released_row {
	const char *path; /* or NULL: of a project */
	uint32_t id;	  /* 0: there is none */
	const char *name; /* or NULL */
	enum row_change change;
	const struct record_row *before; /* removed limits, or NULL */
	uint64_t lines;			 /* of both files */
	uint64_t untagged;		 /* files and directories */
	uint64_t left_inodes;		 /* that keep the ID */
	uint64_t mounts_skipped;
};

#define MEMBER(name) .offset = offsetof(struct released_row, name)

static const struct field released_fields[] = {
	{ "PATH", "path", FIELD_PATH, MEMBER(path), "the directory" },
	{ "ID", "id", FIELD_ID_OR_NONE, MEMBER(id), "project ID" },
	{ "NAME", "name", FIELD_TEXT, MEMBER(name), "name of the project" },
	{ "CHANGED", "changed", FIELD_CHANGE, MEMBER(change), "was, or would it be changed?" },
	{ NULL, "before", FIELD_ROW, MEMBER(before), .members = limit_fields,
	  .size = sizeof(struct record_row) },
	{ "LINES", "lines", FIELD_COUNT, MEMBER(lines), "lines of both files that go" },
	{ "FILES", "changed_files", FIELD_COUNT, MEMBER(untagged),
	  "files and directories that lose the ID" },
	{ "LEFT", "left_inodes", FIELD_COUNT, MEMBER(left_inodes), "inodes that keep it" },
	{ "MOUNTS", "mounts_skipped", FIELD_COUNT, MEMBER(mounts_skipped),
	  "mounts that are not entered" },
	{ 0 },
};

static void write_count(struct writer *w, const char **separator, uint64_t count, const char *one,
			const char *many)
{
	if (count == 0)
		return;
	write_format(w, "%s%" PRIu64 "%s", *separator, count, count == 1 ? one : many);
	*separator = ", ";
}

/* The line of a dry run. */
static void write_released(struct writer *w, const void *arg)
{
	const struct released_row *row = arg;
	const char *separator = ": ";

	if (row->change == ROW_UNCHANGED) {
		write_text(w, "unchanged ");
		write_escaped(w, row->path ? row->path : "project");
		write_text(w, ": no quota\n");
		return;
	}
	change_write_subject(w, "would-release", FSQ_PROJECT, row->id, row->name, row->path);
	if (row->before) {
		write_text(w, ": limits");
		separator = ", ";
	}
	write_count(w, &separator, row->lines, " line", " lines");
	write_count(w, &separator, row->untagged, " file or directory", " files and directories");
	write_char(w, '\n');
}

static const struct row_fields released_rows = { released_fields, sizeof(struct released_row),
						 "PATH,ID,NAME,CHANGED,LINES,FILES,LEFT",
						 write_released };

struct release_options {
	bool keep_tags, if_exists;
};

/*
 * @rc       as fsq_release(): after FSQ_E_PARTIAL files have lost the ID all the same; or
 *           FSQ_E_NOT_FOUND, which is shown as no change
 */
static void show_released(struct session *session, const struct fsq_release_request *request,
			  const struct fsq_released *released, uint64_t mounts, int rc)
{
	const struct record_row limits = change_values(&released->limits);
	const struct released_row row = {
		.path = request->directory,
		.id = released->id,
		.name = released->id ? names_of_id(session, FSQ_PROJECT, released->id) : NULL,
		.before = released->limits_off ? &limits : NULL,
		.lines = released->lines,
		.untagged = released->untagged,
		.left_inodes = released->left_inodes,
		.mounts_skipped = mounts,
		.change = change_word(rc == 0 || released->untagged > 0),
	};

	tables_row(session, &row);
	session_flush_terminal(session);
}

/* Is there certainly no quota? Unknown if the directory of a line may be on an unmounted filesystem. */
static bool has_certainly_no_quota(int rc, const struct fsq_error *err)
{
	return rc == FSQ_E_NOT_FOUND && err->hint != FSQ_HINT_RELEASE_AT &&
	       !(err->hint == FSQ_HINT_NAME_FILESYSTEM && err->path[0]);
}

/* @directory  that could not be released, or NULL. @return  a hint that is better than that of the library, or NULL */
static const char *hint_for(const struct session *session, const char *directory, int rc,
			    const struct fsq_error *err)
{
	if (!has_certainly_no_quota(rc, err) || err->hint)
		return NULL;
	if (directory && suggest_has_projects_below(session, directory))
		return "directories in it have their own, as fsquota list DIR shows; name them";
	return err->errnum == ENOENT
		       ? "with --if-exists that is no failure; fsquota prune --dry-run "
			 "shows what is gone"
		       : "with --if-exists that is no failure";
}

/* @return   false when a signal came: no more is to be released */
static bool release_and_show(struct session *session, struct fsq_release_request *request,
			     bool if_exists)
{
	struct fsq_released released;
	struct progress progress;
	struct fsq_error err;
	uint64_t mounts;
	int rc;

	progress_begin(&progress, session);
	request->options = &progress.options;
	rc = fsq_release(request, &released, &err);
	request->options = NULL;
	mounts = progress_take_mounts(&progress, session, request->directory);
	if (!has_certainly_no_quota(rc, &err))
		journal_write(session,
			      &(struct journal_entry){
				      .type = FSQ_PROJECT,
				      .id = released.id ? released.id : request->id,
				      .directory = request->directory,
				      .filesystem = request->at,
				      .before = released.limits_off ? &released.limits : NULL,
				      .err = rc ? &err : NULL });
	if (change_is_shown(session) && (!rc || released.untagged || released.lines ||
					 (has_certainly_no_quota(rc, &err) && if_exists)))
		show_released(session, request, &released, mounts, rc);
	if (!rc && !request->dry_run)
		until_tidy(session, released.id);
	if (!rc && request->directory && !request->dry_run)
		session_note_change(session, request->directory, RELEASED);
	if (has_certainly_no_quota(rc, &err) && if_exists)
		rc = 0;
	else if (!rc && released.left_inodes && !request->keep_tags && !request->dry_run)
		session_warn(session, request->directory ? request->directory : request->at,
			     "released, but %" PRIu64 " file%s project ID %u, and until they are "
			     "gone no directory gets it: they are deleted but open, elsewhere "
			     "(fsquota find %u), or of a kind that this kernel cannot change",
			     released.left_inodes,
			     released.left_inodes == 1 ? " still has" : "s still have", released.id,
			     released.id);
	if (rc)
		session_fail_hint(session, &err, hint_for(session, request->directory, rc, &err));
	return !rc || err.errnum != EINTR;
}

static void command_release(struct session *session, const struct invocation *invocation)
{
	const struct release_options *options = invocation->options;
	struct fsq_registry registry;
	sigset_t signals_before;
	bool found;
	struct fsq_release_request request = {
		.size = sizeof(request),
		.registry = &registry,
		.at = session->at.count ? session->at.words[0] : NULL,
		.keep_tags = options->keep_tags,
		.dry_run = session->dry_run,
	};

	if ((invocation->operand_count == 0 && !options_choose_project(session) &&
	     !options_some_operand(session, invocation, "directory")) ||
	    !options_check_own_project(session, invocation->operand_count, false))
		return;
	found = options_project_id(session, options->if_exists, &request.id);
	/* Read the names before they are removed; if that fails, release nothing. */
	if (change_is_shown(session))
		session_names(session);
	if (session->status || (invocation->operand_count > 1 && !session_keep_registry(session)))
		return;
	registry = session_registry(session);
	block_termination_signals(&signals_before);
	if (found && invocation->operand_count == 0)
		release_and_show(session, &request, options->if_exists);
	for (int i = 0; i < invocation->operand_count; i++) {
		request.directory = invocation->operands[i];
		if ((i && !session_goes_on(session, request.directory)) ||
		    !release_and_show(session, &request, options->if_exists))
			break;
	}
	tables_end(session);
	session_flush_unless_stopped(session);
	/* Where all is released, a signal came too late and must not stop anything. */
	if (session->status)
		restore_signals(&signals_before);
}

#define FIELD(member) offsetof(struct release_options, member)

static const struct command_option tags_option[] = {
	{ 0, "keep-tags", "leave the ID on the files: DIR is about to be deleted",
	  .field = FIELD(keep_tags) },
	{ 0 },
};

static const struct command_option exists_options[] = {
	{ 0, "if-exists", "what has no quota is no failure", .field = FIELD(if_exists) },
	{ 0, "no-register", "leave the files as they are",
	  .session_field = offsetof(struct session, no_register) },
	{ 0 },
};

const struct command release_command = {
	.name = "release",
	.group = GROUP_DIRECTORY,
	.summary = "take the quota off directories, and free their IDs",
	.synopsis = "DIR... | --id ID | --name NAME [OPTION]...",
	.help = "Take the project ID off DIR and all that is in it and, if DIR was its last\n"
		"directory, the limits off the project and its lines out of the files. Any\n"
		"error: nothing has changed. Also for a quota that other tools put there.\n"
		"Without DIR: all directories of a project on a filesystem, also when they are\n"
		"gone.",
	.example = "release /srv/web\n"
		   "release --name web --keep-tags",
	.options = (option_tables){ tags_option, own_project_options, exists_options,
				    registry_options, lock_option, dry_run_option, progress_option,
				    table_options, help_option, NULL },
	.operands = { { VALUE_REGISTERED, "DIR", true } },
	.rows = &released_rows,
	.options_size = sizeof(struct release_options),
	.flags = COMMAND_CONFIG,
	.run = command_release,
};
