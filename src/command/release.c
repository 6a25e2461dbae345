/* SPDX-License-Identifier: Apache-2.0 */
#include "quota/fsquota.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>

#include "change.h"
#include "command.h"
#include "names.h"
#include "options.h"
#include "progress.h"
#include "signals.h"
#include "output/renderer.h"

struct release_options {
	bool keep_tags, if_exists;
};

/* What is said of a project: its directory, or how it was asked for. */
static void warn_of_left(struct session *session, const struct fsq_release_request *request,
			 const struct fsq_released *released)
{
	if (!released->left_inodes || request->keep_tags || request->dry_run)
		return;
	session_warn(session, request->directory ? request->directory : request->at,
		     "released, but %" PRIu64 " file%s project ID %u: deleted but open, "
		     "linked elsewhere, or of a kind that this kernel cannot change; nobody "
		     "gets the ID before",
		     released->left_inodes,
		     released->left_inodes == 1 ? " still has" : "s still have", released->id);
}

/*
 * @rc       as fsq_release(): after FSQ_E_PARTIAL files have lost the ID all the same; or
 *           FSQ_E_NOT_FOUND, which is shown as no change
 */
static void show(struct session *session, const struct fsq_release_request *request,
		 const struct fsq_released *released, uint64_t mounts, int rc)
{
	const struct applied_limits limits = change_limits_row(&released->limits);
	const struct released_row row = {
		.path = request->directory,
		.id = released->id,
		.name = released->id ? names_of_id(session, FSQ_PROJECT, released->id) : NULL,
		.limits = released->limits_off ? &limits : NULL,
		.lines = released->lines,
		.untagged = released->untagged,
		.left_inodes = released->left_inodes,
		.mounts_skipped = mounts,
		.change = change_word(rc == 0 || released->untagged > 0),
		.would = request->dry_run,
	};

	session->render->released_row(session->out, &row);
	session_flush_terminal(session);
}

/* Is there certainly no quota? Not where a line has a directory that may be on a filesystem that is not mounted. */
static bool is_none(int rc, const struct fsq_error *err)
{
	return rc == FSQ_E_NOT_FOUND && err->hint != FSQ_HINT_RELEASE_AT &&
	       !(err->hint == FSQ_HINT_NAME_FILESYSTEM && err->path[0]);
}

/* @return   false when a signal came: no more is to be released */
static bool release(struct session *session, struct fsq_release_request *request, bool if_exists)
{
	struct fsq_released released;
	sigset_t signals_before;
	struct progress progress;
	struct fsq_error err;
	uint64_t mounts;
	int rc;

	progress_begin(&progress, session);
	request->options = &progress.options;
	block_termination_signals(&signals_before);
	rc = fsq_release(request, &released, &err);
	request->options = NULL;
	progress_clear(&progress);
	mounts = progress_take_mounts(&progress, session, request->directory);
	if (change_is_shown(session) &&
	    (!rc || released.untagged || released.lines || (is_none(rc, &err) && if_exists)))
		show(session, request, &released, mounts, rc);
	if (is_none(rc, &err) && if_exists)
		rc = 0;
	else if (!rc)
		warn_of_left(session, request, &released);
	if (!rc)
		/* They stay blocked: a signal that comes too late has nothing to stop any more. */
		return true;
	session_fail(session, &err);
	restore_signals(&signals_before);
	return err.errnum != EINTR;
}

static bool check_words(struct session *session, const struct invocation *invocation)
{
	int count = invocation->operand_count;

	if (count > 0 || options_choose_project(session))
		return options_check_own_project(session, count);
	session_usage_error(session, "no directory given; usage: fsquota %s %s",
			    invocation->command->name, invocation->command->synopsis);
	return false;
}

static void command_release(struct session *session, const struct invocation *invocation)
{
	const struct release_options *options = invocation->options;
	const struct fsq_registry registry = session_registry(session);
	bool found;
	struct fsq_release_request request = {
		.size = sizeof(request),
		.registry = &registry,
		.at = session->at_count ? session->at[0] : NULL,
		.keep_tags = options->keep_tags,
		.dry_run = session->dry_run,
	};

	if (!check_words(session, invocation))
		return;
	found = options_project_id(session, options->if_exists, &request.id);
	/* Names are read before they go; without them nothing is done. */
	if (change_is_shown(session))
		session_names(session);
	if (session->status)
		return;
	render_begin(session->render, session->out, "release");
	if (found && invocation->operand_count == 0)
		release(session, &request, options->if_exists);
	for (int i = 0; i < invocation->operand_count; i++) {
		request.directory = invocation->operands[i];
		if (!release(session, &request, options->if_exists))
			break;
	}
	render_end(session->render, session->out);
}

#define FIELD(member) offsetof(struct release_options, member)

static const struct command_option tags_option[] = {
	{ 0, "keep-tags", "leave the ID on the files: DIR is about to be deleted",
	  .field = FIELD(keep_tags) },
	{ 0 },
};

static const struct command_option exists_option[] = {
	{ 0, "if-exists", "what has no quota is no failure", .field = FIELD(if_exists) },
	{ 0 },
};

static const struct command_option register_option[] = {
	{ 0, "no-register", "leave the files as they are",
	  .session_field = offsetof(struct session, no_register) },
	{ 0 },
};

const struct command release_command = {
	.name = "release",
	.summary = "take the quota off directories, and free their IDs",
	.synopsis = "DIR... | --id ID | --name NAME [OPTION]...",
	.help = "Take the project ID off DIR and all that is in it and, if DIR was its last\n"
		"directory, the limits off the project and its lines out of the files. Any\n"
		"error: nothing has changed. Also for a quota that other tools put there.\n"
		"Without DIR: all directories of a project on a filesystem, also when they are\n"
		"gone.",
	.options = (option_tables){ tags_option, own_project_options, exists_option,
				    register_option, registry_options, lock_option, dry_run_option,
				    progress_option, json_option, help_option, NULL },
	.operands = { { VALUE_DIRECTORY, "DIR", true } },
	.options_size = sizeof(struct release_options),
	.flags = COMMAND_CONFIG,
	.run = command_release,
};
