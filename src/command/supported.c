/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"
#include "options.h"
#include "quota/fsquota.h"

struct supported_options {
	bool quiet;
};

static void command_supported(struct session *session, const struct invocation *invocation)
{
	const struct supported_options *options = invocation->options;
	struct fsq_support support;
	struct support_row row = { 0 };
	struct fsq_error err;

	if (!options_directory(session, invocation, &row.path))
		return;
	if (fsq_supported(row.path, &support, &err)) {
		if (options->quiet)
			session->status = session_exit_code(err.kind);
		else
			session_fail(session, &err);
		return;
	}
	row.filesystem = support.device;
	row.mountpoint = support.mountpoint;
	row.enforced = support.enforced;
	if (!options->quiet)
		session->render->support(session->out, &row);
	fsq_support_clear(&support);
}

#define FIELD(member) offsetof(struct supported_options, member)

static const struct command_option quiet_option[] = {
	{ 'q', "quiet", "say nothing else", .field = FIELD(quiet) },
	{ 0 },
};

const struct command supported_command = {
	.name = "supported",
	.summary = "tell whether a quota can be put on a directory",
	.synopsis = "DIR [OPTION]...",
	.help = "Can a quota be put on DIR, here and by this caller? The exit status says so:\n"
		"0 yes, 3 not on this filesystem, 4 not by this caller.",
	.options = (option_tables){ quiet_option, json_option, help_option, NULL },
	.operands = { { VALUE_DIRECTORY, "DIR", false } },
	.options_size = sizeof(struct supported_options),
	.flags = COMMAND_QUICK,
	.run = command_supported,
};
