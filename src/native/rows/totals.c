/* SPDX-License-Identifier: Apache-2.0 */
#include "totals.h"

#include "native/cli/budgets.h"
#include "native/cli/paths.h"
#include "quota/base/path.h"
#include "quota/directory/budget.h"

#define MEMBER(name) .offset = offsetof(struct total_row, name)

static const struct field total_fields[] = {
	{ "SIZE", "size_bytes", FIELD_BYTES, MEMBER(size_bytes), "size of the filesystem" },
	{ "USED", "used_bytes", FIELD_BYTES, MEMBER(used_bytes),
	  "space in use on it, or by the projects of the directory" },
	{ "LIMITS", "hard_bytes", FIELD_BYTES, MEMBER(hard_bytes), "sum of the hard limits" },
	{ "BUDGET", "budget_bytes", FIELD_BYTES, MEMBER(budget_bytes),
	  "what they may add up to, see fsquota.conf(5)", .optional = true },
	{ "EXCESS", "excess_bytes", FIELD_BYTES, MEMBER(excess_bytes),
	  "how far they are above the size, or above the budget of the directory" },
	{ "UNLIMITED", "unlimited_projects", FIELD_COUNT, MEMBER(unlimited),
	  "projects without a hard limit of space" },
	{ NULL, "filesystem", FIELD_TEXT, MEMBER(filesystem) },
	{ "MOUNTPOINT", "mountpoint", FIELD_TEXT, MEMBER(mountpoint),
	  "where the filesystem is mounted" },
	{ "PATH", "path", FIELD_PATH, MEMBER(path), "the directory that has the budget",
	  .optional = true },
	{ 0 },
};

#define TOTALS total_fields, sizeof(struct total_row)

const struct row_fields total_rows = { TOTALS,
				       .usual = "SIZE,USED,LIMITS,EXCESS,UNLIMITED,MOUNTPOINT" };
static const struct row_fields budget_rows = {
	TOTALS, .usual = "SIZE,USED,LIMITS,BUDGET,EXCESS,UNLIMITED,MOUNTPOINT,PATH"
};

static bool of_filesystem(struct projects *projects, size_t filesystem, struct total_row *row)
{
	struct session *session = projects->session;
	const struct path_entry *path = &session->paths[filesystem];
	const struct project_sum *sum = &projects->sums[filesystem];
	struct fsq_space space[FSQ_FORMS];

	if (!paths_read_space(session, path, path->info->directory, space))
		return false;
	*row = (struct total_row){
		.dev = path->info->dev,
		.filesystem = path->info->device,
		.mountpoint = path->info->directory,
		.size_bytes = space[FSQ_BLOCKS].total,
		.used_bytes = space[FSQ_BLOCKS].total - space[FSQ_BLOCKS].free,
		.hard_bytes = sum->hard_bytes,
		.unlimited = sum->unlimited,
	};
	row->budget_bytes = budgets_of_filesystem(session, row->dev, row->size_bytes);
	if (row->hard_bytes > row->size_bytes)
		row->excess_bytes = row->hard_bytes - row->size_bytes;
	return true;
}

/* A missing directory has no projects. */
static bool of_directory(struct projects *projects, const struct fsq_budget *budget,
			 struct total_row *row)
{
	struct session *session = projects->session;
	struct fsq_budget_use use;
	struct fsq_error err;
	dev_t dev;
	int index;

	if (budget->percent || !(dev = budgets_dev(session, budget)))
		return false;
	index = paths_find_dev(session, dev);
	if (index < 0 || (size_t)index >= projects->filesystem || !projects->sums[index].known)
		return false;
	if (fsq_budget_get(budget, session->projects_file, &use, &err))
		return session_fail(session, &err);
	*row = (struct total_row){
		.dev = dev,
		.size_bytes = FIELD_NOT_KNOWN,
		.used_bytes = use.used_bytes,
		.hard_bytes = use.hard_bytes,
		.budget_bytes = use.budget_bytes,
		.unlimited = use.unlimited,
		.path = budget->directory,
		.filesystem = session->paths[index].info->device,
		.mountpoint = session->paths[index].info->directory,
	};
	if (row->hard_bytes > row->budget_bytes)
		row->excess_bytes = row->hard_bytes - row->budget_bytes;
	return true;
}

bool totals_is_exceeded(const struct total_row *row)
{
	return row->budget_bytes != FIELD_NOT_KNOWN && row->hard_bytes > row->budget_bytes;
}

void totals_each(struct projects *projects, void (*visit)(const struct total_row *row, void *arg),
		 void *arg)
{
	struct session *session = projects->session;
	struct total_row row;

	for (size_t i = 0; i < projects->filesystem; i++)
		if (projects->sums[i].known && of_filesystem(projects, i, &row))
			visit(&row, arg);
	for (size_t i = 0; i < session->budget_count; i++)
		if (of_directory(projects, &session->budgets[i], &row))
			visit(&row, arg);
}

struct shown {
	const struct projects *projects;
	bool only_exceeded, quiet, exceeded;
};

/* A filesystem is wanted if all of it is; a directory also if it is in a scope. */
static bool is_wanted_total(const struct scopes *scopes, const struct total_row *row)
{
	bool wanted = scopes->count == 0;

	for (size_t i = 0; i < scopes->count && !wanted; i++) {
		const struct scope *scope = &scopes->list[i];

		wanted = scope->dev == row->dev &&
			 (scope->whole ||
			  (row->path && scope->directory &&
			   fsq_path_below(scope->directory, row->path, strlen(row->path))));
	}
	return wanted;
}

static void show_total(const struct total_row *row, void *arg)
{
	struct shown *shown = arg;

	if (shown->only_exceeded &&
	    !(totals_is_exceeded(row) && is_wanted_total(&shown->projects->scopes, row)))
		return;
	shown->exceeded |= totals_is_exceeded(row);
	if (!shown->quiet)
		tables_row(shown->projects->session, row);
}

bool totals_show(struct projects *projects, bool only_exceeded, bool quiet)
{
	struct session *session = projects->session;
	struct shown shown = { .projects = projects,
			       .only_exceeded = only_exceeded,
			       .quiet = quiet };
	const bool after_rows = session->table.begun;

	tables_begin(session, "total");
	session->table.type = session->budget_count ? &budget_rows : &total_rows;
	session->table.follows = true;
	session->table.after_rows = after_rows;
	totals_each(projects, show_total, &shown);
	if (!quiet)
		tables_end(session);
	return shown.exceeded;
}
