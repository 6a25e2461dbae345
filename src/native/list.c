/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "listing.h"
#include "options.h"
#include "paths.h"
#include "projects.h"
#include "quota/fsquota.h"
#include "totals.h"

struct list_options {
	bool total;
};

static void show_projects(struct projects *projects, bool total, struct table *table)
{
	struct session *session = projects->session;
	size_t at = 0;

	for (size_t i = 0; i < projects->filesystem; i++) {
		/* What belongs to no project, as a row in front of the others. */
		if (total && projects->sums[i].known) {
			const struct project none = { .usage = projects->sums[i].none,
						      .filesystem = i };
			struct project_row row = projects_row(projects, &none);

			tables_row(session, table, &row);
		}
		for (; at < projects->count && projects->all[at].filesystem == i; at++) {
			struct project_row row = projects_row(projects, &projects->all[at]);

			tables_row(session, table, &row);
		}
	}
}

static void show(struct projects *projects, bool with_totals)
{
	struct session *session = projects->session;
	struct table table = tables_begin(session, "list");
	bool any = false;

	for (size_t i = 0; with_totals && i < projects->filesystem; i++)
		any |= projects->sums[i].known;
	if (with_totals)
		table.type = &total_list_rows;
	table.left_open = any;
	show_projects(projects, with_totals, &table);
	tables_end(session, &table);
	if (any)
		totals_show(projects, "list", false, false);
}

static void command_list(struct session *session, const struct invocation *invocation)
{
	const struct list_options *options = invocation->options;
	struct projects projects = { .session = session, .want_sums = options->total };

	for (int i = 0; i < invocation->operand_count; i++)
		scopes_add_path(&projects.scopes, session, invocation->operands[i], false);
	if (projects_collect_scopes(&projects, invocation->operand_count == 0))
		show(&projects, options->total);
	projects_free(&projects);
}

static const struct command_option total_option[] = {
	{ 0, "total", "also what is in no project, and the sums",
	  .field = offsetof(struct list_options, total) },
	{ 0 },
};

const struct command list_command = {
	.name = "list",
	.summary = "list projects with their directories, use and limits",
	.synopsis = "[OPTION]... [DIR|PATH]...",
	.help = "List the projects whose directories are at or below DIR, or all of a filesystem:\n"
		"PATH is its mount point or device. Without any: of all that have quota.",
	.options = (option_tables){ over_option, total_option, table_options, registry_options,
				    help_option, NULL },
	.operands = { { VALUE_PATH, "PATH", true } },
	.options_size = sizeof(struct list_options),
	.rows = &list_rows,
	.totals = &total_rows,
	.flags = COMMAND_CONFIG | COMMAND_BUDGETS,
	.run = command_list,
};
