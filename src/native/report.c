/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "options.h"
#include "records.h"

struct report_options {
	struct quota_options quota;
	const char *lower, *upper;
	bool terse, names;
};

struct report {
	struct session *session;
	const struct report_options *options;
	struct record_range range;
	bool numeric;
	int64_t now;
	const struct path_entry *path;
	enum fsq_type type;
};

/* Is something used of what is shown? */
static bool is_used(const struct report *report, const struct fsq_dquot *dquot)
{
	const bool *form = report->options->quota.form;

	for (int i = 0; i < FSQ_FORMS; i++)
		if ((form[i] || (i == FSQ_BLOCKS && !options_has_form(&report->options->quota))) &&
		    dquot->form[i].used)
			return true;
	return false;
}

static void show(const struct fsq_dquot *dquot, void *arg)
{
	struct report *report = arg;
	struct record_row row;

	if (report->options->terse && !is_used(report, dquot))
		return;
	row = records_row(report->session, report->path, report->type, dquot, report->numeric,
			  &report->now);
	tables_row(report->session, report->session->table, &row);
}

/* The types that were chosen, or all that are counted. */
static void command_report(struct session *session, const struct invocation *invocation)
{
	const struct report_options *options = invocation->options;
	bool all = options_type_count(&options->quota) == 0;
	struct report report = {
		.session = session,
		.options = options,
		.path = &session->paths[session->current_path],
		.numeric = options->quota.numeric ||
			   ((options->lower || options->upper) && !options->names),
	};
	struct fsq_state state;

	if (!options_number(session, options->lower, &report.range.lower) ||
	    !options_number(session, options->upper, &report.range.upper))
		return;
	records_choose(session->table, options->quota.form, report.numeric, "TYPE,");
	if (all && fsq_quota_state(report.path->fs, FSQ_PROJECT, &state))
		state = (struct fsq_state){ .accounting = { true, true, true } };
	for (int type = 0; type < FSQ_TYPES; type++) {
		report.type = (enum fsq_type)type;
		if (all ? state.accounting[type] : options->quota.type[type])
			records_each(session, report.path->fs, report.type, &report.range, show,
				     &report);
	}
}

#define FIELD(member) offsetof(struct report_options, member)

static const struct command_option report_options[] = {
	{ 't', NULL, "only where something is used", .field = FIELD(terse) },
	{ 'L', NULL, "lowest ID; also means -n", .kind = VALUE_ID, .argument = "ID",
	  .field = FIELD(lower) },
	{ 'U', NULL, "highest ID; also means -n", .kind = VALUE_ID, .argument = "ID",
	  .field = FIELD(upper) },
	{ 'l', NULL, "names even so", .field = FIELD(names) },
	{ 0 },
};

const struct command report_command = {
	.name = "report",
	.alias = "repquota",
	.summary = "report filesystem quota information",
	.synopsis = "[-bir] [-gpu] [-ahntlLNU] [-f file]",
	.help = "Every user (-u), group (-g) and project (-p; default: all that are counted),\n"
		"with use and limits.",
	.options = (option_tables){ default_blocks_option, other_forms_options, users_option,
				    other_types_options, all_option, human_option, numeric_option,
				    no_header_option, report_options, output_file_option, NULL },
	.rows = &realtime_record_rows,
	.options_size = sizeof(struct report_options),
	.flags = COMMAND_FILESYSTEMS | COMMAND_PATHS,
	.run = command_report,
};
