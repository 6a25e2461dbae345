/* SPDX-License-Identifier: Apache-2.0 */
/* print and path: the table of paths. */
#include "command.h"

#include <stdlib.h>

static void print_types(struct state *state, const struct path *path)
{
	static const char *const words[][2] = {
		{ "uqnoenforce", "uquota" },
		{ "gqnoenforce", "gquota" },
		{ "pqnoenforce", "pquota" },
	};
	const char *before = " (";
	struct fsq_state quota;

	if (fsq_quota_state(path->fs, FSQ_USER, &quota))
		return;
	for (int type = 0; type < FSQ_TYPES; type++)
		if (quota.accounting[type]) {
			xq_print(state->out, "%s%s", before, words[type][quota.enforced[type]]);
			before = ", ";
		}
	if (before[0] == ',')
		write_char(state->out, ')');
}

static void print_path(struct state *state, size_t index, bool numbered)
{
	const struct path *path = &state->paths[index];
	bool is_current = state->current == (int)index;
	const char *name = path->is_project ? xq_name_of(state, FSQ_PROJECT, path->project) : NULL;

	if (numbered)
		xq_print(state->out, is_current ? "[%03zu] " : " %03zu  ", index);
	if (state->foreign_allowed)
		write_text(state->out, path->foreign ? "(F) " : "    ");
	xq_print(state->out, "%-19s %s", path->directory, path->info->device);
	if (path->is_project)
		xq_print(state->out, " (project %u%s%s)", path->project, name ? ", " : "",
			 name ? name : "");
	else
		print_types(state, path);
	write_char(state->out, '\n');
}

/* How many entries may be seen: without -f those of XFS, which come first. */
static size_t count_visible(const struct state *state)
{
	return state->foreign_allowed ? state->path_count : state->xfs_path_count;
}

static void print_table(struct state *state, bool numbered)
{
	size_t count = count_visible(state);

	xq_print(state->out, "%s%sFilesystem          Pathname\n", numbered ? "      " : "",
		 state->foreign_allowed ? "    " : "");
	for (size_t i = 0; i < count; i++)
		print_path(state, i, numbered);
}

static void run_print(struct state *state, const struct call *call)
{
	(void)call;
	xq_load_projects(state);
	if (state->path_count > 0)
		print_table(state, false);
}

static void run_path(struct state *state, const struct call *call)
{
	int index, max;

	xq_load_projects(state);
	max = (int)count_visible(state) - 1;
	if (state->path_count == 0) {
		xq_print(state->out, "No paths are available\n");
		return;
	}
	if (call->operand_count > 0) {
		index = atoi(call->operands[0]);
		if (index < 0 || index > max) {
			xq_print(state->out, "value %d is out of range (0-%d)\n", index, max);
			return;
		}
		state->current = index;
	}
	print_table(state, true);
}

const struct command xq_print_paths = {
	.name = "print",
	.alias = "p",
	.flags = COMMAND_ONE_SHOT | COMMAND_FOREIGN,
	.summary = "list known mount points and projects",
	.run = run_print,
};

const struct command xq_path = {
	.name = "path",
	.alias = "paths",
	.max = 1,
	.flags = COMMAND_ONE_SHOT | COMMAND_FOREIGN | COMMAND_EXPERT,
	.synopsis = "[N]",
	.summary = "set current path, or show the list of paths",
	.run = run_path,
};
