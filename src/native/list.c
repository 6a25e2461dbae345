/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "listing.h"
#include "options.h"
#include "paths.h"
#include "projects.h"
#include "quota/fsquota.h"

struct list_options {
	bool total;
};

/* What all projects of a filesystem add up to. */
struct total_row {
	uint64_t size_bytes, used_bytes; /* of the filesystem */
	uint64_t hard_bytes;		 /* the sum of the hard limits */
	uint64_t excess_bytes;		 /* how far that is above the size */
	uint64_t unlimited;		 /* projects without a hard limit of space */
	const char *filesystem, *mountpoint;
};

#define MEMBER(name) .offset = offsetof(struct total_row, name)

static const struct field total_fields[] = {
	{ "SIZE", "size_bytes", FIELD_BYTES, MEMBER(size_bytes), "size of the filesystem" },
	{ "USED", "used_bytes", FIELD_BYTES, MEMBER(used_bytes), "space in use on it" },
	{ "LIMITS", "hard_bytes", FIELD_BYTES, MEMBER(hard_bytes), "sum of the hard limits" },
	{ "EXCESS", "excess_bytes", FIELD_BYTES, MEMBER(excess_bytes),
	  "how far that is above the size" },
	{ "UNLIMITED", "unlimited_projects", FIELD_COUNT, MEMBER(unlimited),
	  "projects without a hard limit of space" },
	{ NULL, "filesystem", FIELD_TEXT, MEMBER(filesystem) },
	{ "MOUNTPOINT", "mountpoint", FIELD_TEXT, MEMBER(mountpoint),
	  "where the filesystem is mounted" },
	{ 0 },
};

static const struct row_fields total_rows = {
	total_fields, sizeof(struct total_row),
	.usual = "SIZE,USED,LIMITS,EXCESS,UNLIMITED,MOUNTPOINT"
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

static void show_total(struct projects *projects, size_t filesystem, struct table *table)
{
	struct session *session = projects->session;
	const struct path_entry *path = &session->paths[filesystem];
	const struct project_sum *sum = &projects->sums[filesystem];
	struct total_row row = {
		.filesystem = path->info->device,
		.mountpoint = path->info->directory,
		.hard_bytes = sum->hard_bytes,
		.unlimited = sum->unlimited,
	};
	struct fsq_space space[FSQ_FORMS];
	int rc = fsq_filesystem_space(path->fs, path->info->directory, space);

	if (rc) {
		session_errno(session, 0, -rc, path->directory, "cannot read its size");
		return;
	}
	row.size_bytes = space[FSQ_BLOCKS].total;
	row.used_bytes = space[FSQ_BLOCKS].total - space[FSQ_BLOCKS].free;
	if (row.hard_bytes > row.size_bytes)
		row.excess_bytes = row.hard_bytes - row.size_bytes;
	tables_row(session, table, &row);
}

static void show(struct projects *projects, bool with_totals)
{
	struct session *session = projects->session;
	struct table table = tables_begin(session, "list");
	struct table totals = table;
	bool any = false;

	for (size_t i = 0; with_totals && i < projects->filesystem; i++)
		any |= projects->sums[i].known;
	if (with_totals)
		table.type = &total_list_rows;
	table.left_open = any;
	show_projects(projects, with_totals, &table);
	tables_end(session, &table);
	if (!any)
		return;
	totals.type = &total_rows;
	totals.key = "total";
	totals.follows = true;
	for (size_t i = 0; i < projects->filesystem; i++)
		if (projects->sums[i].known)
			show_total(projects, i, &totals);
	tables_end(session, &totals);
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
	.flags = COMMAND_CONFIG,
	.run = command_list,
};
