/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "command.h"
#include "options.h"
#include "quota/fsquota.h"

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

static void show(struct lsattr *lsattr, const struct fsq_attributes *attributes)
{
	struct session *session = lsattr->session;
	const struct attributes_row row = {
		.path = attributes->depth ? attributes->path : lsattr->operand,
		.flags = attributes->flags,
		.project = attributes->project_id,
		.inherit = attributes->inherit,
	};
	int errnum = attributes->errnum;

	if (errnum == 0 && (lsattr->options->project || session->json))
		errnum = attributes->project_errnum;
	if (errnum)
		fail(lsattr, row.path, errnum);
	else
		session->render->attributes_row(session->out, &row, lsattr->options->project);
}

static enum fsq_visit visit(const struct fsq_attributes *attributes, void *arg)
{
	struct lsattr *lsattr = arg;
	struct session *session = lsattr->session;
	const struct lsattr_options *options = lsattr->options;
	const char *path = attributes->path, *slash = strrchr(path, '/');
	bool is_below = attributes->depth > 0;

	if (session_is_stopped(session))
		return FSQ_VISIT_STOP;
	if (is_below && slash && slash[1] == '.' && !options->all)
		return FSQ_VISIT_PRUNE;
	switch (attributes->kind) {
	case FSQ_FILE_REGULAR:
		show(lsattr, attributes);
		break;
	case FSQ_FILE_DIRECTORY:
		if (is_below || options->directories_themselves)
			show(lsattr, attributes);
		if (is_below && options->recursive)
			render_attributes_enter(session->render, session->out, path);
		break;
	case FSQ_FILE_LEAVE:
		if (is_below && options->recursive)
			render_attributes_leave(session->render, session->out);
		break;
	case FSQ_FILE_SPECIAL:
		session_error(session, 0, FSQ_E_NOT_SUPPORTED, 0, path,
			      "%s: the kernel tells flags of files and directories only", path);
		break;
	case FSQ_FILE_UNKNOWN:
		fail(lsattr, path, attributes->errnum);
		break;
	case FSQ_FILE_MOUNT:
		session_warn(session, lsattr->operand, "the mount %s is not entered", path);
		break;
	}
	return FSQ_VISIT_CONTINUE;
}

static void command_lsattr(struct session *session, const struct invocation *invocation)
{
	const struct lsattr_options *options = invocation->options;
	struct lsattr lsattr = { .session = session, .options = options };
	int max_depth = options->recursive		  ? FSQ_DEPTH_INFINITE
			: options->directories_themselves ? 0
							  : 1;
	struct fsq_error err;

	if (!options_some_operand(session, invocation, "path"))
		return;
	render_begin(session->render, session->out, "lsattr");
	for (int i = 0; i < invocation->operand_count; i++) {
		lsattr.operand = invocation->operands[i];
		if (fsq_attributes_each(lsattr.operand, max_depth, visit, &lsattr, &err))
			session_fail(session, &err);
		session_tell_stop(session, lsattr.operand);
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
