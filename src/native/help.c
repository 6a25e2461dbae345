/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "tables.h"

#define LABEL_SIZE 64

const struct command *command_find(const struct session *session, const char *name)
{
	const struct command *const *command;

	for (command = session->commands; *command; command++)
		if (strcmp((*command)->name, name) == 0 ||
		    ((*command)->alias && strcmp((*command)->alias, name) == 0))
			break;
	return *command;
}

/* --- for people --- */

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

/* The options that all tables share go into one paragraph. */
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

/* @label    as "-o, --output LIST"; the other lines of @help are indented like its first */
static void show_option(struct writer *w, const char *label, size_t width, const char *help)
{
	write_blanks(w, 2);
	write_left(w, label, width);
	write_blanks(w, 2);
	for (; *help; help++) {
		write_char(w, *help);
		if (*help == '\n')
			write_blanks(w, width + 4);
	}
	write_char(w, '\n');
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
		show_option(session->out, label, width, option->help);
	}
	if (command->rows)
		show_table_options(session, command);
}

void command_explain(struct session *session, const struct command *command)
{
	struct writer *w = session->out;

	write_text(w, "Usage: fsquota ");
	write_text(w, command->name);
	if (command->synopsis) {
		write_char(w, ' ');
		write_text(w, command->synopsis);
	}
	write_text(w, command_paths(command));
	write_text(w, "\n\n");
	write_text(w, command->help ? command->help : command->summary);
	write_char(w, '\n');
	show_options(session, command);
	if (command->example) {
		write_text(w, "\nExample: ");
		write_text(w, command->example);
		write_char(w, '\n');
	}
}

void command_list_all(struct session *session)
{
	struct writer *w = session->out;

	write_text(w, "Usage: fsquota COMMAND [OPTIONS] PATH...\n"
		      "       fsquota -x -c 'XFS_QUOTA COMMAND' PATH\n"
		      "\n"
		      "Manage and measure project quotas of XFS, ext4 and f2fs.\n"
		      "\n"
		      "Commands:\n");
	/* Those that work on filesystems behind the others. */
	for (unsigned int kind = 0; kind <= COMMAND_FILESYSTEMS; kind++)
		for (size_t i = 0; session->commands[i]; i++) {
			const struct command *command = session->commands[i];

			if ((command->flags & COMMAND_FILESYSTEMS) != kind)
				continue;
			write_text(w, "  ");
			write_left(w, command->name, 12);
			write_text(w, command->summary);
			write_char(w, '\n');
		}
	write_text(w,
		   "\n"
		   "fsquota help COMMAND explains one of them.\n"
		   "With -x, -c or another option of xfs_quota first, or called by that name, it\n"
		   "behaves as xfs_quota does; fsquota -x -c help lists those commands.\n");
}

/* --- for programs --- */

/* Fields separated by tabs; "-" stands for one that is NULL or empty. */
static void describe(struct session *session, const char *const *fields, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			write_char(session->out, '\t');
		for (const char *at = fields[i] && *fields[i] ? fields[i] : "-"; *at; at++)
			write_char(session->out, *at == '\n' ? ' ' : *at);
	}
	write_char(session->out, '\n');
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
	describe(session, fields, 6);
}

static void describe_operand(struct session *session, const struct command_operand *operand)
{
	const char *const fields[] = { "operand",
				       operand->repeats ? "..." : NULL,
				       kind_name(operand->kind),
				       operand->argument,
				       NULL,
				       NULL };

	describe(session, fields, 6);
}

void command_describe(struct session *session, const struct command *command)
{
	const struct command_operand path = { VALUE_PATH, "PATH", true };
	const struct command_option *option;

	if (!command) {
		for (size_t i = 0; session->commands[i]; i++) {
			const char *fields[] = { session->commands[i]->name,
						 session->commands[i]->summary };

			describe(session, fields, 2);
		}
		return;
	}
	for (size_t i = 0; (option = command_option(command, i)); i++)
		describe_option(session, option);
	for (const struct command_operand *operand = command->operands; operand->kind; operand++)
		describe_operand(session, operand);
	if (command->flags & COMMAND_FILESYSTEMS)
		describe_operand(session, &path);
}
