/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"
#include "options.h"
#include "quota/fsquota.h"

static void command_id(struct session *session, const struct invocation *invocation)
{
	if (!options_some_operand(session, invocation, "path"))
		return;
	render_begin(session->render, session->out, "id");
	for (int i = 0; i < invocation->operand_count; i++) {
		const char *path = invocation->operands[i];
		struct fsq_error err;
		bool inherit;
		uint32_t id;

		if (fsq_file_get_project(path, &id, &inherit, &err))
			session_fail(session, &err);
		else
			session->render->id_row(session->out, path, id);
	}
	render_end(session->render, session->out);
}

const struct command id_command = {
	.name = "id",
	.summary = "print the project ID of files",
	.synopsis = "[--json] PATH...",
	.help = "Print the project ID that each PATH carries, one a line; 0 is none.",
	.options = (option_tables){ json_option, help_option, NULL },
	.operands = { { VALUE_PATH, "PATH", true } },
	.flags = COMMAND_QUICK,
	.run = command_id,
};
