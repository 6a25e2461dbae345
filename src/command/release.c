/* SPDX-License-Identifier: Apache-2.0 */
#include "quota/fsquota.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>

#include "command.h"
#include "options.h"
#include "progress.h"
#include "signals.h"

struct release_options {
	bool keep_tags, dry_run, if_exists;
};

/* What is said of a project: its directory, or how it was asked for. */
static void warn_of_left(struct session *session, const struct fsq_release_request *request,
			 const struct fsq_released *released)
{
	const char *place = request->directory ? request->directory : request->at;

	if (!released->left_inodes || request->keep_tags || request->dry_run)
		return;
	session_warn(session, place,
		     "%s%sreleased, but %" PRIu64 " file%s project ID %u: deleted but open, "
		     "linked elsewhere, or of a kind that this kernel cannot change; nobody "
		     "gets the ID before",
		     place ? place : "", place ? ": " : "", released->left_inodes,
		     released->left_inodes == 1 ? " still has" : "s still have", released->id);
}

/* @return   false when a signal came: no more is to be released */
static bool release(struct session *session, struct fsq_release_request *request, bool if_exists)
{
	struct fsq_released released;
	sigset_t signals_before;
	struct progress progress;
	struct fsq_error err;
	int rc;

	progress_begin(&progress, session);
	request->options = &progress.options;
	block_termination_signals(&signals_before);
	rc = fsq_release(request, &released, &err);
	progress_clear(&progress);
	if (rc == FSQ_E_NOT_FOUND && if_exists)
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
	struct fsq_release_request request = {
		.size = sizeof(request),
		.registry = &registry,
		.at = session->at_count ? session->at[0] : NULL,
		.keep_tags = options->keep_tags,
		.dry_run = options->dry_run,
	};

	if (!check_words(session, invocation) ||
	    !options_project_id(session, options->if_exists, &request.id))
		return;
	if (invocation->operand_count == 0)
		release(session, &request, options->if_exists);
	for (int i = 0; i < invocation->operand_count; i++) {
		request.directory = invocation->operands[i];
		if (!release(session, &request, options->if_exists))
			break;
	}
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

static const struct command_option dry_option[] = {
	{ 0, "dry-run", "only say whether there is a quota to be taken off",
	  .field = FIELD(dry_run) },
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
				    register_option, registry_options, lock_option, dry_option,
				    progress_option, json_errors_option, help_option, NULL },
	.operands = { { VALUE_DIRECTORY, "DIR", true } },
	.options_size = sizeof(struct release_options),
	.flags = COMMAND_CONFIG,
	.run = command_release,
};
