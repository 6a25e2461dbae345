/* SPDX-License-Identifier: Apache-2.0 */
#include "output/help_text.h"

#include <stdio.h>
#include <string.h>

#include "command.h"
#include "output/xfs_quota_text.h"

#define LABEL_SIZE 64

static const char *kind_name(enum value_kind kind)
{
	static const char *const names[] = {
		[VALUE_NONE] = "none",	 [VALUE_NUMBER] = "number",
		[VALUE_SIZE] = "size",	 [VALUE_TIME] = "time",
		[VALUE_ID] = "id",	 [VALUE_CHOICE] = "choice",
		[VALUE_NAME] = "name",	 [VALUE_PROJECT] = "project",
		[VALUE_LIMIT] = "limit", [VALUE_COLUMNS] = "columns",
		[VALUE_FILE] = "file",	 [VALUE_DIRECTORY] = "directory",
		[VALUE_PATH] = "path",
	};

	return names[kind];
}

const char *command_paths(const struct command *command)
{
	if (!(command->flags & COMMAND_XFS_QUOTA))
		return "";
	if (command->flags & COMMAND_CHANGES)
		return " PATH";
	return command->flags & COMMAND_PATHS ? " [PATH...]" : " [PATH]";
}

void command_show_usage(struct session *session, const struct command *command)
{
	if (session->native)
		session_usage_error(session, "usage: fsquota %s%s%s%s", command->name,
				    command->synopsis ? " " : "",
				    command->synopsis ? command->synopsis : "",
				    command_paths(command));
	else
		text_help_line(session->out, command->name, command->synopsis, command->summary);
}

static void make_label(char label[LABEL_SIZE], const struct command_option *option)
{
	const char letter[] = { option->letter ? '-' : ' ', option->letter ? option->letter : ' ',
				'\0' };

	snprintf(label, LABEL_SIZE, "%s%s%s%s%s%s", letter,
		 !option->name	  ? ""
		 : option->letter ? ", "
				  : "  ",
		 option->name ? "--" : "", option->name ? option->name : "",
		 option->argument ? " " : "", option->argument ? option->argument : "");
}

/* @return   whether help shows an option; the xfs_quota door has those with a letter */
static bool is_shown(const struct session *session, const struct command_option *option)
{
	return option->help && (session->native || option->letter);
}

static void show_options(struct session *session, const struct command *command)
{
	const struct command_option *option;
	char label[LABEL_SIZE];
	size_t width = 0;

	for (size_t i = 0; (option = command_option(command, i)); i++) {
		if (!is_shown(session, option))
			continue;
		make_label(label, option);
		if (strlen(label) > width)
			width = strlen(label);
	}
	if (width > 0)
		write_char(session->out, '\n');
	for (size_t i = 0; (option = command_option(command, i)); i++) {
		if (!is_shown(session, option))
			continue;
		make_label(label, option);
		text_help_option(session->out, label, width, option->help);
	}
}

void command_explain(struct session *session, const struct command *command)
{
	if (session->native)
		text_usage(session->out, command->name, command->synopsis, command_paths(command));
	else
		write_char(session->out, '\n');
	write_text(session->out, command->help ? command->help : command->summary);
	write_char(session->out, '\n');
	show_options(session, command);
	if (command->example) {
		write_text(session->out, "\nExample: ");
		write_text(session->out, command->example);
		write_char(session->out, '\n');
	}
	if (!session->native)
		write_char(session->out, '\n');
}

static void describe_all(struct session *session)
{
	const struct command *command;

	for (size_t i = 0; (command = command_at(i)); i++) {
		const char *fields[] = { command->name, command->summary };

		if (!(command->flags & COMMAND_SHELL))
			text_machine_line(session->out, fields, 2);
	}
}

static void describe_option(struct session *session, const struct command_option *option)
{
	const char letter[] = { '-', option->letter, '\0' };
	char name[LABEL_SIZE] = "";
	const char *const fields[] = { option->letter ? letter : NULL,
				       name,
				       kind_name(option->kind),
				       option->argument,
				       option->choices,
				       option->help };

	if (option->name)
		snprintf(name, sizeof(name), "--%s", option->name);
	text_machine_line(session->out, fields, 6);
}

static void describe_operand(struct session *session, const struct command_operand *operand)
{
	const char *const fields[] = { "operand",
				       operand->repeats ? "..." : NULL,
				       kind_name(operand->kind),
				       operand->argument,
				       NULL,
				       NULL };

	text_machine_line(session->out, fields, 6);
}

void command_describe(struct session *session, const struct command *command)
{
	const struct command_operand path = { VALUE_PATH, "PATH", true };
	const struct command_option *option;

	if (!command) {
		describe_all(session);
		return;
	}
	for (size_t i = 0; (option = command_option(command, i)); i++)
		if (option->help)
			describe_option(session, option);
	for (const struct command_operand *operand = command->operands; operand->kind; operand++)
		describe_operand(session, operand);
	if (command->flags & COMMAND_XFS_QUOTA)
		describe_operand(session, &path);
}

static void command_help_all(struct session *session)
{
	const struct command *command;

	for (size_t i = 0; (command = command_at(i)); i++)
		if (command_is_allowed(session, command))
			text_help_line(session->out, command->name, command->synopsis,
				       command->summary);
	text_help_end(session->out);
}

static void command_help(struct session *session, const struct invocation *invocation)
{
	const char *name = invocation->operands[0];
	const struct command *command;

	if (invocation->operand_count == 0) {
		command_help_all(session);
		return;
	}
	command = command_find(name);
	if (!command || !command_is_allowed(session, command)) {
		text_help_unknown(session->out, name);
		return;
	}
	text_help_line(session->out, name, command->synopsis, command->summary);
	if (command->help)
		command_explain(session, command);
}

const struct command help_command = {
	.name = "help",
	.alias = "?",
	.synopsis = "[command]",
	.summary = "help for one or all commands",
	.max_words = 1,
	.flags = COMMAND_XFS_QUOTA | COMMAND_SHELL | COMMAND_ONE_SHOT | COMMAND_FOREIGN,
	.run = command_help,
};
