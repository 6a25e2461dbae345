/* SPDX-License-Identifier: Apache-2.0 */
#include "quota/release.h"

#include <getopt.h>
#include <signal.h>

#include "native_command.h"

enum { KEEP_TAGS = NATIVE_OWN, NO_REGISTER, DRY_RUN };

NATIVE_FUNCTION(release)
{
	static const struct option words[] = {
		NATIVE_WORDS,
		NATIVE_FILE_WORDS,
		{ "keep-tags", no_argument, NULL, KEEP_TAGS },
		{ "no-register", no_argument, NULL, NO_REGISTER },
		{ "dry-run", no_argument, NULL, DRY_RUN },
		{ NULL, 0, NULL, 0 },
	};
	struct fsq_release_request request = { 0 };
	sigset_t signals_before;
	struct fsq_error err;
	int option;

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
	/* The process ends: a signal that comes now has nothing to stop any more. */
	if (fsq_release(&request, &signals_before, &err))
		session_fail(session, &err);
}
