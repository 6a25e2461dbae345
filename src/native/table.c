/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "command.h"
#include "options.h"

/* Sorted by name. */
static const struct command *const commands[] = {
	&apply_command,	  &assign_command,  &batch_command,	&check_command,	 &df_command,
	&disable_command, &doctor_command,  &dump_command,	&enable_command, &find_command,
	&id_command,	  &limit_command,   &list_command,	&lsattr_command, &metrics_command,
	&off_command,	  &project_command, &prune_command,	&quot_command,	 &quota_command,
	&release_command, &remove_command,  &report_command,	&resize_command, &restore_command,
	&schema_command,  &state_command,   &supported_command, &timer_command,	 &usage_command,
	&watch_command,
};

const struct command *command_at(size_t index)
{
	return index < sizeof(commands) / sizeof(commands[0]) ? commands[index] : NULL;
}

const struct command *command_find(const char *name)
{
	const struct command *command;

	for (size_t i = 0; (command = command_at(i)); i++)
		if (strcmp(command->name, name) == 0 ||
		    (command->alias && strcmp(command->alias, name) == 0))
			break;
	return command;
}

/* @return   the option at *@index of these tables, or NULL, and *@index less what they hold */
static const struct command_option *option_of(const struct command_option *const *tables,
					      size_t *index)
{
	for (; tables && *tables; tables++)
		for (const struct command_option *option = *tables; option->letter || option->name;
		     option++)
			if ((*index)-- == 0)
				return option;
	return NULL;
}

const struct command_option *command_option(const struct command *command, size_t index)
{
	const struct command_option *option = option_of(command->options, &index);

	if (!option && (command->flags & COMMAND_FILESYSTEMS))
		option = option_of(options_of_filesystems, &index);
	return option;
}
