/* SPDX-License-Identifier: Apache-2.0 */
#include "quota/resize.h"

#include <getopt.h>

#include "native_command.h"
#include "quota/units.h"

enum { ALLOW_SHRINK = NATIVE_OWN, DRY_RUN };

NATIVE_FUNCTION(resize)
{
	static const struct option words[] = {
		NATIVE_WORDS,
		{ "allow-shrink", no_argument, NULL, ALLOW_SHRINK },
		{ "dry-run", no_argument, NULL, DRY_RUN },
		{ NULL, 0, NULL, 0 },
	};
	struct fsq_resize_request request = { 0 };
	struct fsq_error err;
	const char *size;
	int option;

	while ((option = native_option(session, command, argc, argv, "h", words)) != -1) {
		switch (option) {
		case ALLOW_SHRINK:
			request.allow_shrink = true;
			break;
		case DRY_RUN:
			request.dry_run = true;
			break;
		default:
			return;
		}
	}
	if (argc - optind != 2) {
		session_complain(session, 1, FSQ_E_USAGE,
				 "a directory and a size are wanted; usage: %s", command->usage);
		return;
	}
	request.directory = argv[optind];
	size = argv[optind + 1];
	request.relative = size[0] == '+';
	if (fsq_parse_bytes(size + request.relative, &request.bytes)) {
		session_complain(session, 1, FSQ_E_USAGE,
				 "\"%s\" is no size, such as 500M, 10G or +5G", size);
		return;
	}
	if (fsq_resize(&request, &err))
		session_fail(session, &err);
}
