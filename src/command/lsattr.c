/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "command.h"
#include "options.h"
#include "quota/inode_project.h"
#include "quota/tree_walk.h"

struct lsattr_options {
	bool project, all, recursive, directories_themselves;
};

struct lsattr {
	struct session *session;
	const struct lsattr_options *options;
	const char *operand;
};

static void fail(struct lsattr *lsattr, const char *path, int errnum)
{
	session_errno(lsattr->session, 0, errnum, path, "%s: cannot read the flags", path);
}

static void show(struct lsattr *lsattr, const struct fsq_walk_entry *entry)
{
	struct session *session = lsattr->session;
	struct attributes_row row = { .path = entry->depth ? entry->path : lsattr->operand };
	struct fsq_inode_project project;
	int rc = fsq_inode_flags_get(entry->fd, &row.flags);

	if (rc == 0 && (lsattr->options->project || session->json)) {
		rc = fsq_inode_project_get(entry->fd, &project);
		row.project = project.id;
		row.inherit = project.inherit;
	}
	if (rc)
		fail(lsattr, row.path, -rc);
	else
		session->render->attributes_row(session->out, &row, lsattr->options->project);
}

static int visit(const struct fsq_walk_entry *entry, struct fsq_walk_finding *finding, void *arg)
{
	struct lsattr *lsattr = arg;
	struct session *session = lsattr->session;
	const struct lsattr_options *options = lsattr->options;
	const char *slash = strrchr(entry->path, '/');

	(void)finding;
	if (entry->depth > 0 && slash && slash[1] == '.' && !options->all)
		return FSQ_WALK_PRUNE;
	switch (entry->kind) {
	case FSQ_WALK_FILE:
		show(lsattr, entry);
		break;
	case FSQ_WALK_DIRECTORY:
		if (entry->depth > 0 || options->directories_themselves)
			show(lsattr, entry);
		if (entry->depth > 0 && options->recursive)
			render_attributes_enter(session->render, session->out, entry->path);
		break;
	case FSQ_WALK_LEAVE:
		if (entry->depth > 0 && options->recursive)
			render_attributes_leave(session->render, session->out);
		break;
	case FSQ_WALK_SPECIAL:
		session_error(session, 0, FSQ_E_NOT_SUPPORTED, 0, entry->path,
			      "%s: the kernel tells flags of files and directories only",
			      entry->path);
		break;
	case FSQ_WALK_NO_STAT:
	case FSQ_WALK_NO_OPEN:
		fail(lsattr, entry->path, entry->errnum);
		break;
	}
	return 0;
}

static void command_lsattr(struct session *session, const struct invocation *invocation)
{
	const struct lsattr_options *options = invocation->options;
	struct lsattr lsattr = { .session = session, .options = options };
	struct fsq_walk walk = {
		.root_fd = -1,
		.reach = FSQ_WALK_OPEN,
		.alone = true,
		.visit = visit,
		.arg = &lsattr,
	};
	struct fsq_error err;

	if (!options_some_operand(session, invocation, "path"))
		return;
	render_begin(session->render, session->out, "lsattr");
	walk.max_depth = options->recursive		   ? FSQ_WALK_INFINITE
			 : options->directories_themselves ? 0
							   : 1;
	for (int i = 0; i < invocation->operand_count; i++) {
		walk.root = lsattr.operand = invocation->operands[i];
		if (fsq_tree_walk(&walk, &err))
			session_errno(session, 0, err.errnum, err.path, "%s", err.path);
	}
	render_end(session->render, session->out);
}

#define FIELD(member) offsetof(struct lsattr_options, member)

static const struct command_option lsattr_options[] = {
	{ 'p', NULL, "with the project ID in front", .field = FIELD(project) },
	{ 'd', NULL, "directories themselves instead of what is in them",
	  .field = FIELD(directories_themselves) },
	{ 'a', NULL, "also files whose names begin with a dot", .field = FIELD(all) },
	{ 'R', NULL, "directories and all that is below them; mounts are not entered",
	  .field = FIELD(recursive) },
	{ 0, "json", "JSON with the project ID, see fsquota-json(5)",
	  .session_field = offsetof(struct session, json) },
	{ 0 },
};

const struct command lsattr_command = {
	.name = "lsattr",
	.summary = "list project IDs and flags of files, as lsattr(1) does",
	.synopsis = "[-padR] [--json] PATH...",
	.help = "List the flags of each PATH, or of what is in it if it is a directory.",
	.options = (option_tables){ lsattr_options, help_option, NULL },
	.operands = { { VALUE_PATH, "PATH", true } },
	.options_size = sizeof(struct lsattr_options),
	.run = command_lsattr,
};
