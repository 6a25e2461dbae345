/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

static void command_quit(struct session *session, const struct invocation *invocation)
{
	(void)invocation;
	session->quit = true;
}

const struct command quit_command = {
	.name = "quit",
	.alias = "q",
	.summary = "exit the program",
	.flags = COMMAND_XFS_QUOTA | COMMAND_SHELL | COMMAND_ONE_SHOT | COMMAND_FOREIGN,
	.run = command_quit,
};
