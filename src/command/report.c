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

static void show_path(struct report *report, const struct path_entry *path)
{
	static const char *const words[FSQ_TYPES] = { "user", "group", "proj" };
	int rc;

	if (path->is_project || (path->foreign && !report->session->foreign_allowed))
		return;
	report->path = path;
	rc = fsq_kernel_sync(&path->fs->target, report->type);
	if (rc && rc != -ENOENT && rc != -ENOSYS)
		session_complain_bare(report->session, 0, -rc, "XFS_QSYNC %s quota",
				      words[report->type]);
	show_table(report);
}

static void show_type(struct report *report, int argc, char **argv)
{
	struct session *session = report->session;

	for (int i = 0; i < argc; i++) {
		int index = paths_find(session, argv[i]);

		if (index >= 0)
			show_path(report, &session->paths[index]);
	}
	if (argc > 0)
		return;
	if (report->all_filesystems) {
		for (size_t i = 0; i < session->path_count; i++)
			show_path(report, &session->paths[i]);
	} else if (session->current_path >= 0) {
		show_path(report, &session->paths[session->current_path]);
	}
}

COMMAND_FUNCTION(report)
{
	struct report report = { .session = session, .range = { .zero_is_known = true } };
	bool names = false, numeric_bounds = false, all_types;
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
			report.range.lower = (uint32_t)atoi(optarg);
			numeric_bounds = true;
			break;
		case 'U':
			report.range.upper = (uint32_t)atoi(optarg);
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
	if (numeric_bounds && !names)
		report.selection.style.numeric = true;
	options_default_form(&report.selection);
	all_types = options_type_count(&report.selection) == 0;
	if (!session_output_begin(session, file))
		return COMMAND_NEXT;
	for (int type = 0; type < FSQ_TYPES; type++)
		if (all_types || report.selection.type[type]) {
			report.type = (enum fsq_type)type;
			show_type(&report, argc - optind, argv + optind);
		}
	session_output_end(session);
	return COMMAND_NEXT;
}
