/* SPDX-License-Identifier: Apache-2.0 */
/* What programs read about the commands: the JSON Schema of their answers, and completion scripts of shells. */
#include <string.h>

#include "native/cli/options.h"
#include "table/json.h"
#include "table/table.h"

#define DRAFT "https://json-schema.org/draft/2020-12/schema"

static void write_row(struct json *json, const char *key, const struct field *fields,
		      bool nullable);

/* "type": "integer", or with null. */
static void write_type(struct json *json, const char *type, bool nullable)
{
	if (!nullable) {
		json_string(json, "type", type);
		return;
	}
	json_open(json, "type", '[');
	json_string(json, NULL, type);
	json_string(json, NULL, "null");
	json_close(json, ']');
}

static void write_property(struct json *json, const struct field *field, const char *key)
{
	/* A field without a value is null, unless it is optional: then it is missing. */
	bool nullable = !field->optional;

	if (field->type == FIELD_ROW) {
		write_row(json, key, field->members, nullable);
		return;
	}
	json_open(json, key, '{');
	switch (field->type) {
	case FIELD_TEXTS:
		json_string(json, "type", "array");
		json_open(json, "items", '{');
		json_string(json, "type", "string");
		json_close(json, '}');
		break;
	case FIELD_WORD:
		json_open(json, "enum", '[');
		for (size_t i = 0; field->words[i]; i++)
			json_string(json, NULL, field->words[i]);
		json_close(json, ']');
		break;
	case FIELD_TIME:
		json_string(json, "type", "string");
		json_string(json, "format", "date-time");
		break;
	case FIELD_TEXT:
	case FIELD_PATH:
		write_type(json, "string", nullable);
		break;
	case FIELD_BOOL:
	case FIELD_CHANGE:
		write_type(json, "boolean", field->type == FIELD_CHANGE);
		break;
	default:
		write_type(json, field->type == FIELD_PERCENT ? "number" : "integer",
			   nullable && field->type != FIELD_ID);
		break;
	}
	if (field->help)
		json_string(json, "description", field->help);
	json_close(json, '}');
}

static void write_row(struct json *json, const char *key, const struct field *fields, bool nullable)
{
	json_open(json, key, '{');
	write_type(json, "object", nullable);
	json_open(json, "properties", '{');
	for (const struct field *field = fields; field->column || field->key; field++) {
		if (!field->key)
			continue;
		write_property(json, field, field->key);
		if (field->type == FIELD_CHANGE && strcmp(field->key, "changed") == 0)
			write_property(json, field, "would_change");
	}
	json_close(json, '}');
	json_open(json, "required", '[');
	for (const struct field *field = fields; field->column || field->key; field++)
		if (field->key && !field->optional && !field->sometimes &&
		    field->type != FIELD_CHANGE)
			json_string(json, NULL, field->key);
	json_close(json, ']');
	json_bool(json, "additionalProperties", false);
	json_close(json, '}');
}

static void write_rows(struct json *json, const char *key, const struct row_fields *rows)
{
	json_open(json, key, '{');
	json_string(json, "type", "array");
	write_row(json, "items", rows->fields, false);
	json_close(json, '}');
}

static void write_document(struct json *json, const char *key, const struct command *command)
{
	json_open(json, key, '{');
	json_string(json, "type", "object");
	json_open(json, "properties", '{');
	if (command->answers & ANSWER_SINGLE)
		write_row(json, command->name, command->rows->fields, false);
	else
		write_rows(json, command->name, command->rows);
	if (command->totals)
		write_rows(json, "total", command->totals);
	if (command->answers & ANSWER_MOUNTS) {
		json_open(json, "mounts_skipped", '{');
		json_string(json, "type", "integer");
		json_close(json, '}');
	}
	json_close(json, '}');
	json_open(json, "required", '[');
	json_string(json, NULL, command->name);
	json_close(json, ']');
	json_bool(json, "additionalProperties", false);
	json_close(json, '}');
}

/* Each line of watch is a row of its own. */
static void write_command(struct json *json, const char *key, const struct command *command)
{
	if (command->answers & ANSWER_LINES)
		write_row(json, key, command->rows->fields, false);
	else
		write_document(json, key, command);
}

static void command_schema(struct session *session, const struct invocation *invocation)
{
	const char *name = invocation->operand_count ? invocation->operands[0] : NULL;
	const struct command *command = name ? command_find(session, name) : NULL;
	struct json json;

	if (invocation->operand_count > 1 || (name && (!command || !command->rows))) {
		options_refuse(session, invocation,
			       invocation->operand_count > 1 ? "one command at a time"
			       : command
				       ? "that command has no rows of its own; see fsquota-json(5)"
				       : "there is no such command; errors and batch: see "
					 "fsquota-json(5)");
		return;
	}
	json_start(&json, session->out);
	json_open(&json, NULL, '{');
	json_string(&json, "$schema", DRAFT);
	json_string(&json, "title", name ? name : "answers of fsquota");
	if (command) {
		json_string(&json, "$ref", "#/$defs/answer");
		json_open(&json, "$defs", '{');
		write_command(&json, "answer", command);
	} else {
		json_open(&json, "$defs", '{');
		for (const struct command *const *one = session->commands; *one; one++)
			if ((*one)->rows)
				write_command(&json, (*one)->name, *one);
	}
	json_close(&json, '}');
	json_close(&json, '}');
	json_end(&json);
}

const struct command schema_command = {
	.name = "schema",
	.group = GROUP_PROGRAMS,
	.summary = "print the JSON Schema of answers",
	.synopsis = "[COMMAND]",
	.help = "Print what the JSON of COMMAND looks like, as a JSON Schema (draft 2020-12);\n"
		"without one, of all commands, each under $defs.",
	.example = "schema list >list.schema.json\n"
		   "schema",
	.options = (option_tables){ help_option, NULL },
	.flags = COMMAND_QUICK,
	.run = command_schema,
};

/* --- completion --- */

/* Of completion_scripts.c, which the build makes of completions/: what is one file on a node has them, too. */
extern const char completion_bash[], completion_zsh[], completion_fish[];

static void command_completion(struct session *session, const struct invocation *invocation)
{
	static const struct {
		const char *name, *text;
	} shells[] = {
		{ "bash", completion_bash },
		{ "zsh", completion_zsh },
		{ "fish", completion_fish },
	};

	if (invocation->operand_count == 1)
		for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
			if (strcmp(invocation->operands[0], shells[i].name) == 0) {
				write_text(session->out, shells[i].text);
				return;
			}
	command_show_usage(session, invocation->command);
}

const struct command completion_command = {
	.name = "completion",
	.group = GROUP_PROGRAMS,
	.summary = "print the completion script of a shell",
	.synopsis = "bash|zsh|fish",
	.help = "Print the script with which the shell completes the words of fsquota.\n"
		"Packages install it; with the binary alone, write it where the shell looks.",
	.example = "completion bash >/usr/local/share/bash-completion/completions/fsquota\n"
		   "completion zsh >/usr/local/share/zsh/site-functions/_fsquota",
	.options = (option_tables){ help_option, NULL },
	.flags = COMMAND_QUICK,
	.run = command_completion,
};
