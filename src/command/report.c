/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "dquots.h"
#include "names.h"
#include "options.h"
#include "output/renderer.h"
#include "paths.h"

struct report {
	struct session *session;
	struct selection selection;
	struct dquot_range range;
	bool all_filesystems, no_header, terse, names;
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
		report->session->render->report_begin(
			report->session->out, &report->selection.style, (enum row_type)report->type,
			report->path->directory, report->path->fs->device);
	report->begun = true;
}

static void show(const struct fsq_dquot *dquot, void *arg)
{
	struct report *report = arg;
	const struct row_style *style = &report->selection.style;
	struct usage_row row = {
		.device = report->path->fs->device,
		.directory = report->path->directory,
		.owner = { (enum row_type)report->type, dquot->id, NULL },
	};

	options_usage_row(dquot, &report->now, row.form);
	begin(report);
	if (report->terse && options_is_unused(style, row.form))
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
		report->session->render->report_end(report->session->out);
}

static void show_path(struct report *report, enum fsq_type type, const struct path_entry *path)
{
	static const char *const words[FSQ_TYPES] = { "user", "group", "proj" };
	int rc;

	if (path->is_project || (path->foreign && !report->session->foreign_allowed))
		return;
	report->path = path;
	report->type = type;
	rc = fsq_kernel_sync(&path->fs->target, report->type);
	/* Of no use on a read-only mount, and no failure to report. */
	if (rc && rc != -ENOENT && rc != -ENOSYS && !report->session->native)
		session_complain_bare(report->session, 0, -rc, "XFS_QSYNC %s quota",
				      words[report->type]);
	show_table(report);
}

static bool wants(const struct report *report, int type)
{
	return options_type_count(&report->selection) == 0 || report->selection.type[type];
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

/* At the native door each filesystem is visited by itself, and asked for what it has. */
static void select_what_is_on(struct session *session, struct report *report)
{
	const struct path_entry *path = &session->paths[session->current_path];
	struct fsq_state state;

	report->all_filesystems = false;
	if (options_type_count(&report->selection) ||
	    fsq_kernel_state(&path->fs->target, FSQ_PROJECT, &state))
		return;
	for (int type = 0; type < FSQ_TYPES; type++)
		report->selection.type[type] = state.accounting[type];
}

COMMAND_FUNCTION(report)
{
	struct report report = { .session = session, .range = { .zero_is_known = true } };
	bool names = false, numeric_bounds = false;
	const char *file = NULL;
	int option;

	options_begin();
	while ((option = getopt(argc, argv, command->options)) != -1) {
		switch (option) {
		case 'a':
			report.all_filesystems = true;
			break;
		case 'f':
			file = optarg;
			break;
		case 'l':
			names = true;
			break;
		case 'L':
			if (!options_number(session, optarg, &report.range.lower))
				return COMMAND_NEXT;
			numeric_bounds = true;
			break;
		case 'U':
			if (!options_number(session, optarg, &report.range.upper))
				return COMMAND_NEXT;
			numeric_bounds = true;
			break;
		case 'N':
			report.no_header = true;
			break;
		case 't':
			report.terse = true;
			break;
		default:
			if (!options_select(&report.selection, option))
				return command_usage(session, command);
		}
	}
	if (names || numeric_bounds)
		report.selection.style.numeric = !names;
	options_default_form(&report.selection);
	if (session->native)
		select_what_is_on(session, &report);
	if (!session_output_begin(session, file))
		return COMMAND_NEXT;
	if (optind < argc)
		show_operands(&report, argc - optind, argv + optind);
	else
		show_table_paths(&report);
	session_output_end(session);
	return COMMAND_NEXT;
}
