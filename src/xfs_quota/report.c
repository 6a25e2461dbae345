/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <errno.h>

struct report {
	struct state *state;
	struct style style;
	struct id_range range;
	bool terse;
	/* of the current table: */
	const struct path *path;
	enum fsq_type type;
	bool begun;
};

static void print_report_header(struct report *report)
{
	static const char *const ids[] = { "User ID    ", "Group ID   ", "Project ID " };
	static const struct {
		const char *title, *columns;
		int gap; /* on both sides of the title */
	} headings[][FSQ_FORMS] = {
		{ { " Blocks ", "      Used       Soft       Hard    Warn/Grace     ", 20 },
		  { " Inodes ", "      Used       Soft       Hard    Warn/ Grace     ", 20 },
		  { " Realtime Blocks ", "      Used       Soft       Hard    Warn/Grace     ",
		    15 } },
		/* with -h */
		{ { " Blocks ", "  Used   Soft   Hard Warn/Grace   ", 13 },
		  { " Inodes ", "  Used   Soft   Hard Warn/Grace  ", 13 },
		  { " Realtime Blocks ", "  Used   Soft   Hard Warn/Grace   ", 9 } },
	};
	static const char dashes[] = "--------------------------------------------------";
	const bool human = report->style.human;
	struct writer *out = report->state->out;

	write_format(out, "%s quota on %s (%s)\n%10s", xq_type_titles[report->type],
		     report->path->directory, report->path->info->device, "");
	for (int form = 0; form < FSQ_FORMS; form++)
		if (report->style.form[form])
			write_format(out, "%*s%s%*s", headings[human][form].gap, "",
				     headings[human][form].title, headings[human][form].gap, "");
	write_format(out, "\n%s", ids[report->type]);
	for (int form = 0; form < FSQ_FORMS; form++)
		if (report->style.form[form])
			write_text(out, headings[human][form].columns);
	write_text(out, "\n---------- ");
	for (int form = 0; form < FSQ_FORMS; form++)
		if (report->style.form[form])
			write_format(out, "%.*s ", human ? 33 : 50, dashes);
	write_char(out, '\n');
}

static void print_report_row(const struct fsq_dquot *dquot, void *arg)
{
	struct report *report = arg;
	const struct style *style = &report->style;
	struct writer *out = report->state->out;
	const char *name = NULL;

	/* The header goes before the first record, whether that is printed or not. */
	if (!report->begun && style->header)
		print_report_header(report);
	report->begun = true;
	if (report->terse && xq_is_unused(style, dquot))
		return;
	if (!style->numeric)
		name = xq_name_of(report->state, report->type, dquot->id);
	if (name) {
		write_left(out, name, 10);
	} else {
		write_char(out, '#');
		/* With -n, xfs_quota makes this column one wider. Scripts rely on it. */
		write_number_left(out, dquot->id, style->numeric ? 10 : 9);
	}
	for (int form = 0; form < FSQ_FORMS; form++)
		if (style->form[form])
			xq_write_amounts(out, (enum fsq_form)form, style->human, &dquot->form[form],
					 style->human ? 2 : 5);
	write_char(out, '\n');
}

static void print_report_table(struct report *report, enum fsq_type type, const struct path *path)
{
	static const char *const words[FSQ_TYPES] = { "user", "group", "proj" };
	struct state *state = report->state;
	int rc;

	if (path->is_project || (path->foreign && !state->foreign_allowed))
		return;
	report->path = path;
	report->type = type;
	report->begun = false;
	/* This fails on a read-only mount, where nothing has to be written. */
	rc = fsq_quota_sync(path->fs, type);
	if (rc && rc != -ENOENT && rc != -ENOSYS)
		xq_errno(state, XQ_BARE | XQ_STATUS_0, -rc, "XFS_QSYNC %s quota", words[type]);
	xq_each_record(state, path->fs, type, &report->range, print_report_row, report);
	if (report->begun || !report->style.header)
		write_char(state->out, '\n');
}

static void run_report(struct state *state, const struct call *call)
{
	const bool all_types = call->type_count == 0;
	struct report report = {
		.state = state,
		.style = call->style,
		.range = { xq_number(call->options['L']), xq_number(call->options['U']), true },
		.terse = call->options['t'],
	};

	if (call->options['l'] || call->options['L'] || call->options['U'])
		report.style.numeric = !call->options['l'];
	/* With operands, print all types of each; without, all filesystems of each type. */
	for (int i = 0; i < call->operand_count; i++) {
		int index = xq_find_path(state, call->operands[i]);

		for (int type = 0; type < FSQ_TYPES && index >= 0; type++)
			if (all_types || call->types[type])
				print_report_table(&report, (enum fsq_type)type,
						   &state->paths[index]);
	}
	for (int type = 0; type < FSQ_TYPES && call->operand_count == 0; type++)
		for (int i = 0; i < (int)state->path_count && (all_types || call->types[type]); i++)
			if (call->options['a'] || state->current == i)
				print_report_table(&report, (enum fsq_type)type, &state->paths[i]);
}

const struct command xq_report = {
	.name = "report",
	.alias = "repquota",
	.letters = "birugpahnNtL:U:ldf:",
	.refused = 'd',
	.max = -1,
	.flags = COMMAND_ONE_SHOT | COMMAND_FOREIGN | COMMAND_EXPERT | COMMAND_OUTPUT,
	.synopsis = "[-bir] [-gpu] [-ahntlLNU] [-f file]",
	.summary = "report filesystem quota information",
	.help = "Every user (-u), group (-g) and project (-p; default: all), with use and limits.\n"
		"\n" HELP_FORMS "  -u       of users\n"
		"  -g       of groups\n"
		"  -p       of projects\n"
		"  -a       all filesystems\n"
		"  -h       sizes with a letter (K, M, G, ...)\n"
		"  -n       IDs instead of names\n"
		"  -N       no header\n"
		"  -t       only where something is used\n"
		"  -L ID    lowest ID; also means -n\n"
		"  -U ID    highest ID; also means -n\n"
		"  -l       names even so\n" HELP_FILE,
	.run = run_report,
};
