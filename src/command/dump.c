/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>
#include <stdlib.h>

#include "command.h"
#include "dquots.h"
#include "options.h"
#include "output/renderer.h"

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

COMMAND_FUNCTION(dump)
{
	struct selection selection = { 0 };
	struct dump dump = { .session = session };
	struct dquot_range range = { 0 };
	const char *file = NULL;
	int option;

	options_begin();
	while ((option = getopt(argc, argv, command->options)) != -1) {
		switch (option) {
		case 'f':
			file = optarg;
			break;
		case 'L':
			if (!options_number(session, optarg, &range.lower))
				return COMMAND_NEXT;
			break;
		case 'U':
			if (!options_number(session, optarg, &range.upper))
				return COMMAND_NEXT;
			break;
		default:
			if (!options_select(&selection, option))
				return command_usage(session, command);
		}
	}
	if (optind != argc || options_type_count(&selection) > 1)
		return command_usage(session, command);
	if (session->current_path < 0 || !session_output_begin(session, file))
		return COMMAND_NEXT;
	range.type = options_type(&selection);
	dump.device = session->paths[session->current_path].fs->device;
	dquots_each(session, session->paths[session->current_path].fs, &range, show, &dump);
	session_output_end(session);
	return COMMAND_NEXT;
}
