/* SPDX-License-Identifier: Apache-2.0 */
#include "tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool take_format(struct session *session, const struct command_option *option, void *to,
			const char *value)
{
	static const struct {
		const char *name;
		enum table_format format;
	} formats[] = {
		{ "raw", TABLE_RAW },	{ "pairs", TABLE_PAIRS },      { "csv", TABLE_CSV },
		{ "json", TABLE_JSON }, { "jsonl", TABLE_JSON_LINES },
	};

	(void)to, (void)value;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcmp(formats[i].name, option->name) == 0 &&
		    session->style.format < TABLE_JSON)
			session->style.format = formats[i].format;
	session->json = session->style.format >= TABLE_JSON;
	return true;
}

static bool take_output(struct session *session, const struct command_option *option, void *to,
			const char *names)
{
	const char *wrong = table_choose(&session->style, session->rows,
					 option->kind == VALUE_NONE ? "all" : names);

	(void)to;
	if (!wrong)
		return true;
	session_usage_error(session, "there is no column \"%.*s\"; see --list-columns",
			    (int)strcspn(wrong, ","), wrong);
	return false;
}

/* Nothing else is done. */
static bool take_list_columns(struct session *session, const struct command_option *option,
			      void *to, const char *value)
{
	(void)option, (void)to, (void)value;
	table_list_columns(session->out, session->rows);
	return false;
}

static bool take_sort(struct session *session, const struct command_option *option, void *to,
		      const char *keys)
{
	const char *wrong = table_sort(&session->style, session->rows, keys);

	(void)option, (void)to;
	if (!wrong)
		return true;
	session_usage_error(session, "--sort: there is no column \"%.*s\"; see --list-columns",
			    (int)strcspn(wrong, ","), wrong);
	return false;
}

bool tables_parse_over(struct session *session, const char *text, double least, double *percent)
{
	char *end;

	*percent = strtod(text, &end);
	/* Neither a sign, nor hexadecimal digits, nor "nan". */
	if (strspn(text, "0123456789.") == (size_t)(end - text) && end != text &&
	    strcmp(end, *end == '%' ? "%" : "") == 0 && *percent >= least)
		return true;
	session_usage_error(session, "--over is a percentage such as 90, not \"%s\"", text);
	return false;
}

static bool take_over(struct session *session, const struct command_option *option, void *to,
		      const char *text)
{
	(void)option, (void)to;
	session->style.has_over = true;
	return tables_parse_over(session, text, 0, &session->style.over);
}

#define FIELD(member) offsetof(struct session, style.member)

/* clang-format off */
#define TABLE_OPTIONS(o, b, n, r, P)                                                              \
	{ o, "output", "these columns, +LIST: besides the usual", .kind = VALUE_COLUMNS,          \
	  .argument = "LIST", .take = take_output },                                              \
	{ 0, "output-all", "all columns", .take = take_output },                                  \
	{ 0, "list-columns", "which there are", .take = take_list_columns },                      \
	{ 0, "sort", "by columns, -COLUMN: largest first; -used,name", .kind = VALUE_COLUMNS,     \
	  .argument = "LIST", .take = take_sort },                                                \
	{ b, "bytes", "sizes in bytes", .session_field = FIELD(exact) },                          \
	{ n, "noheadings", "no line of headings", .session_field = FIELD(no_headings) },          \
	{ 0, "color", "mark what is full: auto, never, always", .kind = VALUE_CHOICE,             \
	  .argument = "WHEN", .choices = "auto never always",                                     \
	  .choices_text = "auto, never or always", .session_field = FIELD(color) },               \
	{ r, "raw", "columns separated by a blank, \\x20 for a blank in one",                     \
	  .take = take_format },                                                                  \
	{ P, "pairs", "NAME=\"VALUE\" pairs", .take = take_format },                              \
	{ 0, "csv", "comma-separated values, sizes in bytes", .take = take_format },              \
	{ 0, "json", "JSON, see fsquota-json(5)", .take = take_format },                          \
	{ 0, "jsonl", "JSON, an object a line", .take = take_format },                            \
	{ 0 }
/* clang-format on */

const struct command_option table_options[] = { TABLE_OPTIONS('o', 'b', 'n', 'r', 'P') };
const struct command_option long_table_options[] = { TABLE_OPTIONS(0, 0, 0, 0, 0) };

const struct command_option over_option[] = {
	{ 0, "over", "only what uses so much of its limit, or more", .kind = VALUE_NUMBER,
	  .argument = "PERCENT", .take = take_over },
	{ 0 },
};

struct table tables_begin(struct session *session, const char *key)
{
	struct table table = {
		.out = session->out,
		.type = session->rows,
		.style = &session->style,
		.key = key,
	};

	session->style.dry_run = session->dry_run;
	return table;
}

void tables_row(struct session *session, struct table *table, const void *row)
{
	if (table_row(table, row))
		session_errno(session, 0, ENOMEM, NULL, "cannot print all");
}

void tables_end(struct session *session, struct table *table)
{
	if (table_end(table))
		session_errno(session, 0, ENOMEM, NULL, "cannot print all");
}
