/* SPDX-License-Identifier: Apache-2.0 */
#include "quota/fsquota.h"

#include <inttypes.h>
#include <signal.h>

#include "command.h"
#include "options.h"
#include "progress.h"
#include "signals.h"

struct release_options {
	uint32_t id;
	bool keep_tags, dry_run;
};

static void command_release(struct session *session, const struct invocation *invocation)
{
	const struct release_options *options = invocation->options;
	const struct fsq_registry registry = session_registry(session);
	struct fsq_release_request request = {
		.size = sizeof(request),
		.registry = &registry,
		.id = options->id,
		.keep_tags = options->keep_tags,
		.dry_run = options->dry_run,
	};
	struct fsq_released released;
	sigset_t signals_before;
	struct progress progress;
	struct fsq_error err;
	int rc;

	if (!options_directory(session, invocation, &request.directory))
		return;
	progress_begin(&progress, session);
	request.options = &progress.options;
	block_termination_signals(&signals_before);
	/* They stay blocked: a signal that comes too late has nothing to stop any more. */
	rc = fsq_release(&request, &released, &err);
	progress_clear(&progress);
	if (rc) {
		session_fail(session, &err);
		restore_signals(&signals_before);
	} else if (released.left_inodes && !request.keep_tags && !request.dry_run) {
		session_warn(
			session, request.directory,
			"%s: released, but %" PRIu64 " file%s project ID %u: deleted but open, "
			"linked elsewhere, or of a kind that this kernel cannot change; nobody "
			"gets the ID before",
			request.directory, released.left_inodes,
			released.left_inodes == 1 ? " still has" : "s still have", released.id);
	}
}

#define FIELD(member) offsetof(struct release_options, member)

static const struct command_option tags_option[] = {
	{ 0, "keep-tags", "leave the ID on the files: DIR is about to be deleted",
	  .field = FIELD(keep_tags) },
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
	.summary = "take the quota off a directory, and free its ID",
	.synopsis = "DIR [OPTION]...",
	.help = "Take the project ID off DIR and all that is in it and, if DIR was its last\n"
		"directory, the limits off the project and its lines out of the files. Any\n"
		"error: nothing has changed. Also for a quota that other tools put there.",
	.options = (option_tables){ tags_option, own_id_option, register_option, registry_options,
				    lock_option, dry_option, progress_option, json_errors_option,
				    help_option, NULL },
	.operands = { { VALUE_DIRECTORY, "DIR", false } },
	.options_size = sizeof(struct release_options),
	.flags = COMMAND_CONFIG,
	.run = command_release,
};
