/* SPDX-License-Identifier: Apache-2.0 */
#include "quota/resize.h"

#include <errno.h>
#include <getopt.h>

#include "config.h"
#include "native_command.h"
#include "quota/units.h"

enum { ALLOW_SHRINK = NATIVE_OWN, ID, DRY_RUN };

NATIVE_FUNCTION(resize)
{
	static const struct option words[] = {
		NATIVE_WORDS,
		NATIVE_FILE_WORDS,
		{ "allow-shrink", no_argument, NULL, ALLOW_SHRINK },
		{ "id", required_argument, NULL, ID },
		{ "dry-run", no_argument, NULL, DRY_RUN },
		{ NULL, 0, NULL, 0 },
	};
	struct fsq_resize_request request = { 0 };
	struct fsq_error err;
	const char *size;
	int option, rc;

	if (!config_read(session))
		return;
	while ((option = native_option(session, command, argc, argv, "h", words)) != -1) {
		switch (option) {
		case ALLOW_SHRINK:
			request.allow_shrink = true;
			break;
		case ID:
			if (!native_take_id(session, &request.claim))
				return;
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
	rc = fsq_parse_bytes(size + request.relative, &request.bytes);
	if (rc == -ERANGE) {
		session_complain(session, 1, FSQ_E_USAGE, "\"%s\" is too large for a limit", size);
		return;
	}
	if (rc) {
		session_complain(session, 1, FSQ_E_USAGE,
				 "\"%s\" is no size, such as 500M, 10G or +5G", size);
		return;
	}
	request.registry = session_registry(session);
	if (fsq_resize(&request, &err))
		session_fail(session, &err);
}
