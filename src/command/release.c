/* SPDX-License-Identifier: Apache-2.0 */
#include "quota/release.h"

#include <getopt.h>
#include <inttypes.h>
#include <signal.h>

#include "config.h"
#include "native_command.h"
#include "progress.h"
#include "quota/interrupt.h"

enum { KEEP_TAGS = NATIVE_OWN, ID, NO_REGISTER, DRY_RUN };

NATIVE_FUNCTION(release)
{
	static const struct option words[] = {
		NATIVE_WORDS,
		NATIVE_FILE_WORDS,
		NATIVE_LOCK_WORDS,
		NATIVE_WALK_WORDS,
		{ "keep-tags", no_argument, NULL, KEEP_TAGS },
		{ "id", required_argument, NULL, ID },
		{ "no-register", no_argument, NULL, NO_REGISTER },
		{ "dry-run", no_argument, NULL, DRY_RUN },
		{ NULL, 0, NULL, 0 },
	};
	struct fsq_release_request request = { 0 };
	struct fsq_released released;
	sigset_t signals_before;
	struct progress progress;
	struct fsq_error err;
	int option, rc;

	if (!config_read(session))
		return;
	while ((option = native_option(session, command, argc, argv, "h", words)) != -1) {
		switch (option) {
		case KEEP_TAGS:
			request.keep_tags = true;
			break;
		case ID:
			if (!native_take_id(session, &request.claim))
				return;
			break;
		case NO_REGISTER:
			session->no_register = true;
			break;
		case DRY_RUN:
			request.dry_run = true;
			break;
		default:
			return;
		}
	}
	if (!native_operand(session, command, argc, argv, &request.directory))
		return;
	request.registry = session_registry(session);
	progress_begin(&progress, session);
	request.manner = &progress.manner;
	/* The process ends: a signal that comes then has nothing to stop any more. */
	rc = fsq_release(&request, &released, &signals_before, &err);
	progress_clear(&progress);
	if (rc) {
		session_fail(session, &err);
		fsq_interrupt_restore(&signals_before);
	} else if (released.left_inodes && !request.keep_tags && !request.dry_run) {
		session_complain(
			session, 0, FSQ_OK,
			"%s: released, but %" PRIu64 " file%s project ID %u: deleted but open, "
			"linked elsewhere, or of a kind that this kernel cannot change; nobody "
			"gets the ID before",
			request.directory, released.left_inodes,
			released.left_inodes == 1 ? " still has" : "s still have", released.id);
	}
}
