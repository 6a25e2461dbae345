/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"
#include "options.h"
#include "quota/fsquota.h"

struct id_row {
	const char *path;
	uint32_t id;
};

static const struct field fields[] = {
	{ "PATH", "path", FIELD_PATH, .offset = offsetof(struct id_row, path),
	  "the file or directory" },
	{ "ID", "id", FIELD_ID, .offset = offsetof(struct id_row, id),
	  "its project ID; 0 is none" },
	{ 0 },
};

static void write_line(struct writer *w, const void *row)
{
	write_number(w, ((const struct id_row *)row)->id);
	write_char(w, '\n');
}

static const struct row_fields rows = { fields, sizeof(struct id_row), "ID,PATH", write_line };

static void command_id(struct session *session, const struct invocation *invocation)
{
	struct table table;

	if (!options_some_operand(session, invocation, "path"))
		return;
	table = tables_begin(session, "id");
	for (int i = 0; i < invocation->operand_count; i++) {
		struct id_row row = { .path = invocation->operands[i] };
		struct fsq_error err;
		bool inherit;

		if (fsq_file_get_project(row.path, &row.id, &inherit, &err))
			session_fail(session, &err);
		else
			tables_row(session, &table, &row);
	}
	tables_end(session, &table);
}

const struct command id_command = {
	.name = "id",
	.summary = "print the project ID of files",
	.synopsis = "[OPTION]... PATH...",
	.help = "Print the project ID that each PATH carries, one a line; 0 is none.",
	.options = (option_tables){ table_options, help_option, NULL },
	.operands = { { VALUE_PATH, "PATH", true } },
	.rows = &rows,
	.flags = COMMAND_QUICK,
	.run = command_id,
};
