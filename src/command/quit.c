/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

COMMAND_FUNCTION(quit)
{
	(void)session, (void)command, (void)argc, (void)argv;
	return COMMAND_QUIT;
}
