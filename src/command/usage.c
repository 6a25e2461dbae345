/* SPDX-License-Identifier: Apache-2.0 */
#include "quota/usage.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <string.h>

#include "config.h"
#include "listing.h"
#include "native_command.h"
#include "progress.h"
#include "quota/interrupt.h"

enum { FALLBACK = LISTING_OWN };

NATIVE_FUNCTION(usage)
{
	static const struct option words[] = {
		NATIVE_WORDS,
		NATIVE_FILE_WORDS,
		LISTING_WORDS,
		NATIVE_WALK_WORDS,
		{ "fallback", required_argument, NULL, FALLBACK },
		{ NULL, 0, NULL, 0 },
	};
	struct project_style style = { 0 };
	struct project_output *output;
	struct progress progress;
	bool walk = false, stopped = false;
	sigset_t before;
	int option, taken;

	if (!config_read(session))
		return;
	project_columns(&style, "PATH,ID,NAME,USED,HARD,USE%,IUSED,IHARD,SOURCE");
	while ((option = native_option(session, command, argc, argv, "h" LISTING_LETTERS, words)) !=
	       -1) {
		if (option == FALLBACK) {
			walk = strcmp(optarg, "walk") == 0;
			if (walk || strcmp(optarg, "none") == 0)
				continue;
			session_complain(session, 1, FSQ_E_USAGE,
					 "--fallback is walk or none, not \"%s\"", optarg);
			return;
		}
		taken = listing_option(session, &style, option);
		if (taken < 1)
			return;
	}
	if (optind == argc) {
		session_complain(session, 1, FSQ_E_USAGE, "no directory given; usage: %s",
				 command->usage);
		return;
	}
	output = listing_begin(session, &style, "usage", false);
	if (!output)
		return;
	progress_begin(&progress, session);
	if (walk)
		fsq_interrupt_block_stops(&before);
	for (int i = optind; i < argc && !stopped; i++) {
		struct fsq_usage usage;
		struct project_row row;
		struct fsq_error err;
		int rc = fsq_usage_get(&usage, argv[i], session->projects_file, walk,
				       &progress.manner, &err);

		progress_clear(&progress);
		if (rc) {
			session_fail(session, &err);
			stopped = err.errnum == EINTR;
			continue;
		}
		row = listing_row(session, argv[i], &usage);
		listing_add(session, output, &row);
		fsq_usage_clear(&usage);
	}
	listing_end(session, output);
	if (!walk)
		return;
	session_flush(session);
	fsq_interrupt_restore(&before);
}
