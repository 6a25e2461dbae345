/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "dquots.h"
#include "options.h"
#include "output/renderer.h"

struct dump_options {
	struct quota_options quota;
	const char *lower, *upper;
};

struct dump {
	struct session *session;
	const char *device;
};

static void show(const struct fsq_dquot *dquot, void *arg)
{
	const struct dump *dump = arg;
	struct limits_row row = { .device = dump->device, .id = dquot->id };
	bool any = false;

	for (int form = 0; form < FSQ_FORMS; form++) {
		row.soft_units[form] = dquot->form[form].soft;
		row.hard_units[form] = dquot->form[form].hard;
		any |= row.soft_units[form] || row.hard_units[form];
	}
	if (any)
		dump->session->render->limits_row(dump->session->out, &row);
}

static void command_dump(struct session *session, const struct invocation *invocation)
{
	const struct dump_options *options = invocation->options;
	struct dquot_range range = { .type = options_type(&options->quota) };
	struct dump dump = { .session = session };
	struct fsq_filesystem *fs;

	if (!options_number(session, options->lower, &range.lower) ||
	    !options_number(session, options->upper, &range.upper))
		return;
	if (invocation->operand_count > 0 || options_type_count(&options->quota) > 1) {
		command_show_usage(session, invocation->command);
		return;
	}
	if (session->current_path < 0 || !session_output_begin(session, options->quota.file))
		return;
	fs = session->paths[session->current_path].fs;
	dump.device = fsq_filesystem_get_info(fs)->device;
	dquots_each(session, fs, &range, show, &dump);
	session_output_end(session);
}

#define FIELD(member) offsetof(struct dump_options, member)

static const struct command_option range_options[] = {
	{ 'L', NULL, "lowest ID", .kind = VALUE_ID, .argument = "ID", .field = FIELD(lower) },
	{ 'U', NULL, "highest ID", .kind = VALUE_ID, .argument = "ID", .field = FIELD(upper) },
	{ 0 },
};

const struct command dump_command = {
	.name = "dump",
	.summary = "dump quota information for backup utilities",
	.synopsis = "[-g|-p|-u] [-LU] [-f file]",
	.help = "Print the limits of every user (-u, default), group (-g) or project (-p) that\n"
		"has any, in a form that restore reads.",
	.options = (option_tables){ default_users_option, other_types_options, range_options,
				    output_file_option, NULL },
	.options_size = sizeof(struct dump_options),
	.flags = COMMAND_XFS_QUOTA | COMMAND_FOREIGN | COMMAND_EXPERT,
	.run = command_dump,
};
