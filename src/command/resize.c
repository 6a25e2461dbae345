/* SPDX-License-Identifier: Apache-2.0 */
#include "quota/fsquota.h"

#include <errno.h>

#include "command.h"
#include "options.h"

struct resize_options {
	uint32_t id;
	bool allow_shrink, dry_run;
};

/* SIZE or +SIZE */
static bool parse_size(struct session *session, const char *size,
		       struct fsq_resize_request *request)
{
	int rc;

	request->relative = size[0] == '+';
	rc = fsq_parse_bytes(size + request->relative, &request->bytes);
	if (rc == -ERANGE)
		session_usage_error(session, "\"%s\" is too large for a limit", size);
	else if (rc)
		session_usage_error(session, "\"%s\" is no size, such as 500M, 10G or +5G", size);
	return rc == 0;
}

static void command_resize(struct session *session, const struct invocation *invocation)
{
	const struct resize_options *options = invocation->options;
	const struct fsq_registry registry = session_registry(session);
	struct fsq_resize_request request = {
		.size = sizeof(request),
		.registry = &registry,
		.id = options->id,
		.allow_shrink = options->allow_shrink,
		.dry_run = options->dry_run,
	};
	struct fsq_error err;

	if (invocation->operand_count != 2) {
		session_usage_error(session,
				    "a directory and a size are wanted; usage: fsquota resize %s",
				    invocation->command->synopsis);
		return;
	}
	request.directory = invocation->operands[0];
	if (!parse_size(session, invocation->operands[1], &request))
		return;
	if (fsq_resize(&request, &err))
		session_fail(session, &err);
}

#define FIELD(member) offsetof(struct resize_options, member)

static const struct command_option shrink_option[] = {
	{ 0, "allow-shrink", "let it become smaller than it is", .field = FIELD(allow_shrink) },
	{ 0 },
};

static const struct command_option dry_option[] = {
	{ 0, "dry-run", "only say whether it could be done", .field = FIELD(dry_run) },
	{ 0 },
};

const struct command resize_command = {
	.name = "resize",
	.summary = "change the hard limit of a directory's quota",
	.synopsis = "DIR SIZE|+SIZE [OPTION]...",
	.help = "Make the hard limit of the project that DIR belongs to SIZE, or larger by SIZE:\n"
		"500M, 10G, +5G, ... It cannot become smaller than what is in use.",
	.options = (option_tables){ shrink_option, own_id_option, registry_options, dry_option,
				    json_errors_option, help_option, NULL },
	.operands = { { VALUE_DIRECTORY, "DIR", false }, { VALUE_SIZE, "SIZE", false } },
	.options_size = sizeof(struct resize_options),
	.flags = COMMAND_CONFIG,
	.run = command_resize,
};
