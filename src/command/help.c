/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"
#include "output/xfs_quota_text.h"

COMMAND_FUNCTION(help)
{
	size_t count;
	const struct command *all = command_all(&count);
	const struct command *one;

	(void)command;
	if (argc == 1) {
		for (size_t i = 0; i < count; i++)
			if (session->expert || !(all[i].flags & COMMAND_EXPERT))
				text_help_line(session->out, all[i].name, all[i].synopsis,
					       all[i].summary);
		text_help_end(session->out);
		return COMMAND_NEXT;
	}
	one = command_find(session, argv[1]);
	if (!one) {
		text_help_unknown(session->out, argv[1]);
		return COMMAND_NEXT;
	}
	text_help_line(session->out, argv[1], one->synopsis, one->summary);
	if (one->help)
		text_help_long(session->out, one->help);
	return COMMAND_NEXT;
}
