/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "listing.h"
#include "options.h"
#include "paths.h"
#include "projects.h"
#include "quota/fsquota.h"

struct list_options {
	struct project_style style;
	bool total;
};

/* What belongs to no project, as a row in front of the others. */
static void show_none(struct projects *projects, size_t filesystem, struct project_output *output)
{
	struct session *session = projects->session;
	const struct fsq_filesystem_info *info = session->paths[filesystem].info;
	const char *no_directories[1] = { NULL };
	struct project_row row = listing_row(session, NULL, &projects->sums[filesystem].none);

	row.filesystem = info->device;
	row.mountpoint = info->directory;
	row.directories = no_directories;
	listing_add(session, output, &row);
}

static void show_total(struct projects *projects, size_t filesystem, struct project_output *output)
{
	struct session *session = projects->session;
	const struct path_entry *path = &session->paths[filesystem];
	const struct project_sum *sum = &projects->sums[filesystem];
	struct project_total total = {
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
	total.size_bytes = space[FSQ_BLOCKS].total;
	total.used_bytes = space[FSQ_BLOCKS].total - space[FSQ_BLOCKS].free;
	if (project_output_total(output, &total))
		session_errno(session, 0, ENOMEM, NULL, "cannot print all");
}

static void show_projects(struct projects *projects, bool total, struct project_output *output)
{
	const char **directories = calloc(projects->known_count + 1, sizeof(*directories));
	size_t at = 0;

	if (!directories)
		session_errno(projects->session, 0, ENOMEM, NULL, "cannot list all");
	for (size_t i = 0; directories && i < projects->filesystem; i++) {
		if (total && projects->sums[i].known)
			show_none(projects, i, output);
		for (; at < projects->count && projects->all[at].filesystem == i; at++) {
			struct project_row row =
				projects_row(projects, &projects->all[at], directories);

			listing_add(projects->session, output, &row);
		}
	}
	free(directories);
}

static void show(struct projects *projects, const struct list_options *options)
{
	struct project_style style = options->style;
	struct project_output *output;

	/* What is in no project has no other place. */
	if (options->total)
		style.usual = "ID,NAME,USED,SOFT,HARD,USE%,IUSED,IHARD,MOUNTPOINT,PATH";
	output = listing_begin(projects->session, &style, "list", false);
	if (!output)
		return;
	show_projects(projects, options->total, output);
	for (size_t i = 0; options->total && i < projects->filesystem; i++)
		if (projects->sums[i].known)
			show_total(projects, i, output);
	listing_end(projects->session, output);
}

static void command_list(struct session *session, const struct invocation *invocation)
{
	const struct list_options *options = invocation->options;
	struct projects projects = { .session = session, .want_sums = options->total };

	for (int i = 0; i < invocation->operand_count; i++)
		scopes_add_path(&projects.scopes, session, invocation->operands[i], false);
	if (invocation->operand_count == 0)
		paths_add_all_with_quota(session, false);
	if (projects.scopes.count > 0 || (invocation->operand_count == 0 && session->path_count)) {
		projects_collect(&projects);
		show(&projects, options);
	}
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
	.options = (option_tables){ sort_option, over_option, total_option, listing_options,
				    registry_options, json_option, help_option, NULL },
	.operands = { { VALUE_PATH, "PATH", true } },
	.options_size = sizeof(struct list_options),
	.defaults = &(const struct list_options){ .style.usual = "ID,NAME,USED,SOFT,HARD,USE%,"
								 "IUSED,IHARD,PATH" },
	.flags = COMMAND_CONFIG,
	.run = command_list,
};
