/* SPDX-License-Identifier: Apache-2.0 */
#include "quota/release.h"

#include <getopt.h>
#include <signal.h>

#include "native_command.h"
#include "progress.h"
#include "quota/interrupt.h"

enum { KEEP_TAGS = NATIVE_OWN, NO_REGISTER, DRY_RUN };

NATIVE_FUNCTION(release)
{
	static const struct option words[] = {
		NATIVE_WORDS,
		NATIVE_FILE_WORDS,
		NATIVE_WALK_WORDS,
		{ "keep-tags", no_argument, NULL, KEEP_TAGS },
		{ "no-register", no_argument, NULL, NO_REGISTER },
		{ "dry-run", no_argument, NULL, DRY_RUN },
		{ NULL, 0, NULL, 0 },
	};
	struct fsq_release_request request = { 0 };
	sigset_t signals_before;
	struct progress progress;
	struct fsq_error err;
	int option, rc;

	while ((option = native_option(session, command, argc, argv, "h", words)) != -1) {
		switch (option) {
		case KEEP_TAGS:
			request.keep_tags = true;
			break;
		case NO_REGISTER:
			request.registry.none = true;
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
	request.registry.projects_file = session->projects_file;
	request.registry.projid_file = session->projid_file;
	progress_begin(&progress, session);
	request.manner = &progress.manner;
	/* The process ends: a signal that comes then has nothing to stop any more. */
	rc = fsq_release(&request, &signals_before, &err);
	progress_clear(&progress);
	if (rc) {
		session_fail(session, &err);
		fsq_interrupt_restore(&signals_before);
	}
}
