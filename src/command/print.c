/* SPDX-License-Identifier: Apache-2.0 */
/* print and path: the table of paths. */
#include <stdlib.h>

#include "command.h"
#include "names.h"
#include "paths.h"
#include "output/renderer.h"
#include "output/xfs_quota_text.h"

static void show(struct session *session, size_t index, bool numbered)
{
	const struct path_entry *path = &session->paths[index];
	struct path_row row = {
		.index = (unsigned int)index,
		.current = session->current_path == (int)index,
		.foreign = path->foreign,
		.directory = path->directory,
		.device = path->info->device,
		.is_project = path->is_project,
	};
	struct fsq_state state;

	if (path->is_project) {
		row.project =
			(struct owner_row){ ROW_PROJECT, path->project,
					    names_of_id(session, FSQ_PROJECT, path->project) };
	} else if (fsq_quota_state(path->fs, FSQ_USER, &state) == 0) {
		for (int type = 0; type < FSQ_TYPES; type++) {
			row.accounting[type] = state.accounting[type];
			row.enforced[type] = state.enforced[type];
		}
	}
	session->render->paths_row(session->out, numbered, session->foreign_allowed, &row);
}

/* How many entries may be seen: without -f the XFS ones, which come first. */
static size_t visible(const struct session *session)
{
	size_t count = 0;

	while (count < session->path_count &&
	       (session->foreign_allowed || !session->paths[count].foreign))
		count++;
	return count;
}

static void show_table(struct session *session, bool numbered)
{
	size_t count = visible(session);

	render_paths_begin(session->render, session->out, numbered, session->foreign_allowed);
	for (size_t i = 0; i < count; i++)
		show(session, i, numbered);
}

static void command_print(struct session *session, const struct invocation *invocation)
{
	(void)invocation;
	paths_load_projects(session);
	if (session->path_count > 0)
		show_table(session, false);
}

static void command_path(struct session *session, const struct invocation *invocation)
{
	int max, index;

	paths_load_projects(session);
	if (session->path_count == 0) {
		text_paths_none(session->out);
		return;
	}
	if (invocation->operand_count > 0) {
		index = atoi(invocation->operands[0]);
		max = (int)visible(session) - 1;
		if ((index < 0 || index > max) && session->native) {
			session_usage_error(session, "there is no path %s: 0 to %d are there",
					    invocation->operands[0], max);
			return;
		}
		if (index < 0 || index > max) {
			text_paths_range(session->out, index, max);
			return;
		}
		session->current_path = index;
	}
	show_table(session, true);
}

const struct command print_command = {
	.name = "print",
	.alias = "p",
	.summary = "list known mount points and projects",
	.flags = COMMAND_XFS_QUOTA | COMMAND_ONE_SHOT | COMMAND_FOREIGN | COMMAND_TABLE |
		 COMMAND_WITHOUT_QUOTA | COMMAND_NO_WORDS,
	.run = command_print,
};

const struct command path_command = {
	.name = "path",
	.alias = "paths",
	.summary = "set current path, or show the list of paths",
	.synopsis = "[N]",
	.max_words = 1,
	.flags = COMMAND_XFS_QUOTA | COMMAND_ONE_SHOT | COMMAND_FOREIGN | COMMAND_EXPERT |
		 COMMAND_TABLE,
	.run = command_path,
};
