/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dquots.h"
#include "names.h"
#include "options.h"
#include "paths.h"
#include "output/renderer.h"

struct report_options {
	struct quota_options quota;
	const char *lower, *upper;
	bool terse, names;
};

struct report {
	struct session *session;
	bool types[FSQ_TYPES]; /* none: all */
	struct row_style style;
	struct dquot_range range;
	bool all_filesystems, no_header, terse;
	int64_t now;
	/* of the table being printed: */
	const struct path_entry *path;
	enum fsq_type type;
	bool begun;
};

/* The header goes before the first record, be it shown or not. */
static void begin(struct report *report)
{
	if (!report->begun && !report->no_header)
		render_report_begin(report->session->render, report->session->out, &report->style,
				    (enum row_type)report->type, report->path->directory,
				    report->path->info->device);
	report->begun = true;
}

static void show(const struct fsq_dquot *dquot, void *arg)
{
	struct report *report = arg;
	const struct row_style *style = &report->style;
	struct usage_row row; /* its forms are filled once, not twice */

	row.device = report->path->info->device;
	row.directory = report->path->directory;
	row.owner = (struct owner_row){ (enum row_type)report->type, dquot->id, NULL };
	dquot_to_row(report->session, dquot, &report->now, row.form);
	begin(report);
	if (report->terse && row_is_unused(style, row.form))
		return;
	if (!style->numeric)
		row.owner.name = names_of_id(report->session, report->type, dquot->id);
	report->session->render->report_row(report->session->out, style, &row);
}

static void show_table(struct report *report)
{
	report->range.type = report->type;
	report->begun = false;
	dquots_each(report->session, report->path->fs, &report->range, show, report);
	if (report->begun || report->no_header)
		render_report_end(report->session->render, report->session->out);
}

static void show_path(struct report *report, enum fsq_type type, const struct path_entry *path)
{
	static const char *const words[FSQ_TYPES] = { "user", "group", "proj" };
	int rc;

	if (path->is_project || (path->foreign && !report->session->foreign_allowed))
		return;
	report->path = path;
	report->type = type;
	rc = fsq_quota_sync(path->fs, report->type);
	/* Of no use on a read-only mount, and no failure to report. */
	if (rc && rc != -ENOENT && rc != -ENOSYS && !report->session->native)
		session_errno(report->session, ERROR_BARE | ERROR_STATUS_0, -rc, NULL,
			      "XFS_QSYNC %s quota", words[report->type]);
	show_table(report);
}

static bool has_no_type(const struct report *report)
{
	return !report->types[FSQ_USER] && !report->types[FSQ_GROUP] && !report->types[FSQ_PROJECT];
}

static bool wants(const struct report *report, int type)
{
	return has_no_type(report) || report->types[type];
}

/* One path with all types after the other; but of all filesystems one type after the other. */
static void show_operands(struct report *report, int argc, char **argv)
{
	const struct session *session = report->session;

	for (int i = 0; i < argc; i++) {
		int index = paths_find(session, argv[i]);

		for (int type = 0; type < FSQ_TYPES && index >= 0; type++)
			if (wants(report, type))
				show_path(report, (enum fsq_type)type, &session->paths[index]);
	}
}

static void show_table_paths(struct report *report)
{
	const struct session *session = report->session;

	for (int type = 0; type < FSQ_TYPES; type++) {
		if (!wants(report, type))
			continue;
		for (size_t i = 0; i < session->path_count; i++)
			if (report->all_filesystems || session->current_path == (int)i)
				show_path(report, (enum fsq_type)type, &session->paths[i]);
	}
}

/* The native door calls this for each filesystem: show the types that are on there. */
static void select_what_is_on(struct session *session, struct report *report)
{
	const struct path_entry *path = &session->paths[session->current_path];
	struct fsq_state state;

	report->all_filesystems = false;
	if (!has_no_type(report) || fsq_quota_state(path->fs, FSQ_PROJECT, &state))
		return;
	for (int type = 0; type < FSQ_TYPES; type++)
		report->types[type] = state.accounting[type];
}

static void command_report(struct session *session, const struct invocation *invocation)
{
	const struct report_options *options = invocation->options;
	struct report report = {
		.session = session,
		.style = options_style(&options->quota),
		.range = { .zero_is_known = true },
		.all_filesystems = options->quota.all,
		.no_header = options->quota.no_header,
		.terse = options->terse,
	};

	memcpy(report.types, options->quota.type, sizeof(report.types));
	if (!options_number(session, options->lower, &report.range.lower) ||
	    !options_number(session, options->upper, &report.range.upper))
		return;
	if (options->names || options->lower || options->upper)
		report.style.numeric = !options->names;
	if (session->native)
		select_what_is_on(session, &report);
	if (!session_output_begin(session, options->quota.file))
		return;
	if (invocation->operand_count > 0)
		show_operands(&report, invocation->operand_count, invocation->operands);
	else
		show_table_paths(&report);
	session_output_end(session);
}

#define FIELD(member) offsetof(struct report_options, member)

static const struct command_option report_options[] = {
	{ 't', NULL, "only where something is used", .field = FIELD(terse) },
	{ 'L', NULL, "lowest ID; also means -n", .kind = VALUE_ID, .argument = "ID",
	  .field = FIELD(lower) },
	{ 'U', NULL, "highest ID; also means -n", .kind = VALUE_ID, .argument = "ID",
	  .field = FIELD(upper) },
	{ 'l', NULL, "names even so", .field = FIELD(names) },
	{ .letter = 'd' },
	{ 0 },
};

const struct command report_command = {
	.name = "report",
	.alias = "repquota",
	.summary = "report filesystem quota information",
	.synopsis = "[-bir] [-gpu] [-ahntlLNU] [-f file]",
	.help = "Every user (-u), group (-g) and project (-p; default: all), with use and limits.",
	.options = (option_tables){ default_blocks_option, other_forms_options, users_option,
				    other_types_options, all_option, human_option, numeric_option,
				    no_header_option, report_options, output_file_option, NULL },
	.options_size = sizeof(struct report_options),
	.flags = COMMAND_XFS_QUOTA | COMMAND_ONE_SHOT | COMMAND_FOREIGN | COMMAND_EXPERT |
		 COMMAND_PATHS,
	.run = command_report,
};
