/* SPDX-License-Identifier: Apache-2.0 */
#include "help_text.h"

#include <stdio.h>
#include <string.h>

#include "command.h"
#include "tables.h"

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
	if (!(command->flags & COMMAND_FILESYSTEMS))
		return "";
	if (command->flags & COMMAND_CHANGES)
		return " PATH";
	return command->flags & COMMAND_PATHS ? " [PATH...]" : " [PATH]";
}

void command_show_usage(struct session *session, const struct command *command)
{
	session_usage_error(session, "usage: fsquota %s%s%s%s", command->name,
			    command->synopsis ? " " : "",
			    command->synopsis ? command->synopsis : "", command_paths(command));
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

/* What every table has is in one paragraph. */
static bool is_of_tables(const struct command_option *option)
{
	for (const struct command_option *one = long_table_options; one->name; one++)
		if (option->name && strcmp(one->name, option->name) == 0)
			return true;
	return false;
}

/* In lines of at most 80 columns. */
static void show_table_options(struct session *session, const struct command *command)
{
	const struct command_option *option;
	size_t at = 80;

	write_text(session->out, "\nRows, see fsquota-output(7):");
	for (size_t i = 0; (option = command_option(command, i)); i++) {
		char label[LABEL_SIZE];
		const char *text = label;

		if (!is_of_tables(option))
			continue;
		make_label(label, option);
		text += strspn(text, " ");
		if (at + strlen(text) > 77) {
			write_text(session->out, "\n  ");
			at = 2;
		} else {
			write_text(session->out, ", ");
			at += 2;
		}
		write_text(session->out, text);
		at += strlen(text);
	}
	write_char(session->out, '\n');
}

static void show_options(struct session *session, const struct command *command)
{
	const struct command_option *option;
	char label[LABEL_SIZE];
	size_t width = 0;

	for (size_t i = 0; (option = command_option(command, i)); i++) {
		if (is_of_tables(option))
			continue;
		make_label(label, option);
		if (strlen(label) > width)
			width = strlen(label);
	}
	if (width > 0)
		write_char(session->out, '\n');
	for (size_t i = 0; (option = command_option(command, i)); i++) {
		if (is_of_tables(option))
			continue;
		make_label(label, option);
		text_help_option(session->out, label, width, option->help);
	}
	if (command->rows)
		show_table_options(session, command);
}

void command_explain(struct session *session, const struct command *command)
{
	text_usage(session->out, command->name, command->synopsis, command_paths(command));
	write_text(session->out, command->help ? command->help : command->summary);
	write_char(session->out, '\n');
	show_options(session, command);
	if (command->example) {
		write_text(session->out, "\nExample: ");
		write_text(session->out, command->example);
		write_char(session->out, '\n');
	}
}

static void describe_all(struct session *session)
{
	const struct command *command;

	for (size_t i = 0; (command = command_at(i)); i++) {
		const char *fields[] = { command->name, command->summary };

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
		describe_option(session, option);
	for (const struct command_operand *operand = command->operands; operand->kind; operand++)
		describe_operand(session, operand);
	if (command->flags & COMMAND_FILESYSTEMS)
		describe_operand(session, &path);
}
