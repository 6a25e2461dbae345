/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "command.h"
#include "options.h"
#include "quota/inode_project.h"
#include "quota/tree_walk.h"

/* The walk reaches the one file there is, and opens no special one. */
static int visit(const struct fsq_walk_entry *entry, struct fsq_walk_finding *finding, void *arg)
{
	struct session *session = arg;
	struct fsq_inode_project project;
	int rc = entry->errnum;

	(void)finding;
	if (entry->has_project)
		rc = -fsq_walk_project_get(entry, &project);
	if (entry->kind == FSQ_WALK_SPECIAL && (!entry->has_project || rc == ENOTTY))
		session_error(session, 0, FSQ_E_NOT_SUPPORTED, 0, entry->path,
			      "%s: the kernel tells project IDs of files and directories only",
			      entry->path);
	else if (rc)
		session_errno(session, 0, rc, entry->path, "%s: cannot read the project ID",
			      entry->path);
	else
		session->render->id_row(session->out, entry->path, project.id);
	return 0;
}

static void command_id(struct session *session, const struct invocation *invocation)
{
	struct fsq_error err;

	if (!options_some_operand(session, invocation, "path"))
		return;
	render_begin(session->render, session->out, "id");
	for (int i = 0; i < invocation->operand_count; i++) {
		struct fsq_walk walk = {
			.root = invocation->operands[i],
			.root_fd = -1,
			.reach = FSQ_WALK_PROJECTS,
			.alone = true,
			.visit = visit,
			.arg = session,
		};

		if (fsq_tree_walk(&walk, &err))
			session_errno(session, 0, err.errnum, err.path, "%s", err.path);
	}
	render_end(session->render, session->out);
}

const struct command id_command = {
	.name = "id",
	.summary = "print the project ID of files",
	.synopsis = "[--json] PATH...",
	.help = "Print the project ID that each PATH carries, one a line; 0 is none.",
	.options = (option_tables){ json_option, help_option, NULL },
	.operands = { { VALUE_PATH, "PATH", true } },
	.run = command_id,
};
