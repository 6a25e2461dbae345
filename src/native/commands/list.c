/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "native/cli/options.h"
#include "native/cli/paths.h"
#include "native/rows/projects.h"
#include "native/rows/totals.h"
#include "quota/base/path.h"
#include "shared/sort.h"
#include "shared/texts.h"

struct list_options {
	struct quota_options types;
	bool total, tree, quick;
};

/* --- as a tree --- */

struct branch {
	const struct project *project;
	const char *path;      /* or NULL */
	struct branch *parent; /* that it is in, or NULL */
	size_t depth;
	uint64_t bytes; /* in use by it and by those in it, on its filesystem */
};

/* "/" sorts before all other characters, so that a directory is followed by its contents. */
static int compare_project_paths(const void *one, const void *other)
{
	const char *a = ((const struct branch *)one)->path;
	const char *b = ((const struct branch *)other)->path;

	if (!a || !b)
		return (a == NULL) - (b == NULL);
	while (*a && *a == *b)
		a++, b++;
	return (*a == '/' ? 1 : (unsigned char)*a) - (*b == '/' ? 1 : (unsigned char)*b);
}

/* @return   the path relative to the directory @above, indented; NULL without memory */
static const char *indent(struct texts *texts, const char *path, const char *above, size_t depth)
{
	const char *name = path + strlen(above);
	char *shown;

	name += *name == '/';
	shown = texts_room(texts, 2 * depth + strlen(name) + 1);
	if (shown) {
		memset(shown, ' ', 2 * depth);
		strcpy(shown + 2 * depth, name);
	}
	return shown;
}

/* Sort them by their paths, those without one last, and find what each is in. */
static void link_branches(const struct projects *projects, struct branch *all)
{
	struct branch *last = NULL;

	for (size_t i = 0; i < projects->count; i++) {
		const struct project *project = &projects->all[i];

		all[i] = (struct branch){ .project = project };
		if (project->known_count)
			all[i].path = projects->known[project->known].directory;
	}
	array_sort(all, projects->count, sizeof(*all), compare_project_paths);
	for (size_t i = 0; i < projects->count && all[i].path; i++) {
		const struct branch *one = &all[i];

		while (last && !fsq_path_below(last->path, one->path, strlen(one->path)))
			last = last->parent;
		all[i].parent = last;
		all[i].depth = last ? last->depth + 1 : 0;
		for (last = &all[i]; last; last = last->parent)
			if (last->project->filesystem == one->project->filesystem)
				last->bytes += one->project->usage.used_bytes;
		last = &all[i];
	}
}

static void show_tree(struct projects *projects, bool total)
{
	struct session *session = projects->session;
	struct branch *all = malloc((projects->count + 1) * sizeof(*all));
	struct texts texts = { 0 };

	if (all)
		link_branches(projects, all);
	else
		session_no_memory(session);
	for (size_t i = 0; all && i < projects->count; i++) {
		const struct branch *one = &all[i];
		struct project_row row = projects_row(projects, one->project);

		if (one->parent && session->style.format == TABLE_TEXT)
			row.path = indent(&texts, one->path, one->parent->path, one->depth);
		if (total && one->path)
			row.tree_bytes = one->bytes;
		tables_row(session, &row);
		projects_is_in_force(projects, one->project, &row);
	}
	texts_free(&texts);
	free(all);
}

/* --- all --- */

static void show_listed_project(struct projects *projects, const struct project *project)
{
	struct project_row row = projects_row(projects, project);

	tables_row(projects->session, &row);
	projects_is_in_force(projects, project, &row);
}

static void show_found(struct projects *projects, const struct project *project, void *arg)
{
	*(bool *)arg |= project->usage.id != 0;
	show_listed_project(projects, project);
}

/* What belongs to no project comes first on each filesystem; behind a tree. @return  whether there are totals */
static bool show_with_none(struct projects *projects, bool tree)
{
	struct session *session = projects->session;
	bool any = false;
	size_t at = 0;

	for (size_t i = 0; i < projects->filesystem; i++)
		any |= projects->sums[i].known;
	session->table.type = tree ? &total_tree_rows : &total_list_rows;
	session->table.left_open = any;
	if (tree)
		show_tree(projects, true);
	for (size_t i = 0; i < projects->filesystem; i++) {
		const struct project none = { .usage = projects->sums[i].none, .filesystem = i };

		if (projects->sums[i].known)
			show_listed_project(projects, &none);
		for (; !tree && at < projects->count && projects->all[at].filesystem == i; at++)
			show_listed_project(projects, &projects->all[at]);
	}
	return any;
}

/* Of filesystems that are shown whole. */
static void tell_of_others(struct projects *projects, const struct quota_options *types)
{
	struct session *session = projects->session;

	for (size_t i = 0; i < session->path_count; i++)
		if (scopes_want(&projects->scopes, session->paths[i].info->dev, 0, NULL))
			options_tell_of_others(session, types, session->paths[i].fs, "list");
}

static void command_list(struct session *session, const struct invocation *invocation)
{
	const struct list_options *options = invocation->options;
	struct projects projects = {
		.session = session,
		.type = options_type(&options->types),
		.no_names = !table_shows(&session->style, "NAME"),
		.want_sums = options->total,
		/* Programs take each row for a project, and get it with --total. */
		.want_none = !options->total && session->style.format == TABLE_TEXT &&
			     !session->style.no_headings && table_shows(&session->style, "NAME"),
		.want_available = true,
		.by_statfs = true,
		.tell_of_statfs = true,
		.want_in_force = !options->quick,
	};
	struct until until = { 0 };
	bool any = false, found = options->total || options->tree;

	if (!options_check_type(session, &options->types))
		return;
	if (projects.type != FSQ_PROJECT && (options->tree || options->total)) {
		session_usage_error(session, "--tree and --total go with projects");
		return;
	}
	if (projects.type != FSQ_PROJECT)
		table_use(&session->table, &session->style, &user_list_rows);
	else if (session->style.format == TABLE_TEXT && session->style.column_count == 0)
		session->table.type = &shown_list_rows;
	if (options->tree && (session->style.sort_count || session->style.reverse)) {
		session_usage_error(session, "--tree has an order of its own");
		return;
	}
	if (!options->tree &&
	    (session->style.top ||
	     (!options->total && session->style.format == TABLE_TEXT && isatty(session->out->fd))))
		tables_sort_fullest(session);
	projects.until = until_read_shown(session, &until);
	for (int i = 0; i < invocation->operand_count; i++)
		projects_add_path(&projects, invocation->operands[i], false);
	if (!options->total && !options->tree)
		projects.visit = show_found, projects.arg = &found;
	if (projects_collect_scopes(&projects, invocation->operand_count == 0)) {
		if (options->total)
			any = show_with_none(&projects, options->tree);
		else if (options->tree)
			show_tree(&projects, false);
		tables_end(session);
		if (projects.type == FSQ_PROJECT)
			projects_tell_of_empty(&projects, !found);
		if (session->style.format == TABLE_TEXT && session_has_person(session))
			tell_of_others(&projects, &options->types);
		if (projects.gone && session->style.format == TABLE_TEXT &&
		    session_has_person(session))
			session_warn(session, NULL,
				     "directories that are gone: %zu; fsquota prune --dry-run "
				     "shows them",
				     projects.gone);
		if (any)
			totals_show(&projects, false, false);
	}
	projects_free(&projects);
	until_free(&until);
}

static const struct command_option total_option[] = {
	{ 0, "total", "also what is in no project, and the sums",
	  .field = offsetof(struct list_options, total) },
	{ 0, "quick", "do not look at the directories",
	  .field = offsetof(struct list_options, quick) },
	{ 0, "tree", "by directory, those in another one below it",
	  .field = offsetof(struct list_options, tree) },
	{ 0 },
};

const struct command list_command = {
	.name = "list",
	.group = GROUP_LOOK,
	.summary = "list projects with their directories, use and limits",
	.synopsis = "[OPTION]... [DIR|PATH]...",
	.help = "List the projects of all filesystems that have quota, of the one whose mount\n"
		"point or device PATH is, or those whose directories are at or below DIR. Or the\n"
		"users (-u) or groups (-g) of the filesystems.",
	.example = "list\n"
		   "list --over 90 --sort percent -o PATH,USED,HARD /srv",
	.options = (option_tables){ type_options, over_option, total_option, first_options,
				    table_options, registry_options, help_option, NULL },
	.operands = { { VALUE_PATH, "PATH", true } },
	.options_size = sizeof(struct list_options),
	.rows = &list_rows,
	.totals = &total_rows,
	.flags = COMMAND_CONFIG | COMMAND_READS | COMMAND_BUDGETS,
	.run = command_list,
};
