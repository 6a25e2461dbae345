/* SPDX-License-Identifier: Apache-2.0 */
#include "state.h"

#include "names.h"
#include "paths.h"
#include "output/renderer.h"

static void show_type(struct session *session, struct fsq_filesystem *fs, enum fsq_type type,
		      const char *directory, bool verbose)
{
	struct fsq_state state;
	struct state_row row;
	int rc = fsq_quota_state(fs, type, &state);

	if (rc) {
		/* With -v it is output, not an error. */
		if (verbose)
			render_state_off(session->render, session->out, (enum row_type)type,
					 fsq_filesystem_get_info(fs)->device);
		else
			session_errno(session, ERROR_SILENT | session_flag_of(type), -rc, NULL,
				      "no %s quota", names_of_type(type));
		return;
	}
	row = (struct state_row){
		.type = (enum row_type)type,
		.device = fsq_filesystem_get_info(fs)->device,
		.directory = directory,
		.accounting = state.accounting[type],
		.enforced = state.enforced[type],
		.has_inode = state.has_inode,
		.inode = state.inode,
		.blocks = state.blocks,
		.extents = state.extents,
		.has_realtime_warnings = generation_shows_realtime_warnings(session->generation),
	};
	for (int form = 0; form < FSQ_FORMS; form++) {
		row.grace_seconds[form] = ROW_NO_GRACE;
		if (state.grace_seconds[form])
			row.grace_seconds[form] = state.grace_seconds[form];
		row.max_warnings[form] = state.max_warnings[form];
	}
	session->render->state_row(session->out, &row);
}

void state_show(struct session *session, const bool types[FSQ_TYPES], const struct path_entry *path,
		bool verbose)
{
	int mount = paths_find_dev(session, path->info->dev);
	bool all = !types[FSQ_USER] && !types[FSQ_GROUP] && !types[FSQ_PROJECT];

	for (int type = 0; type < FSQ_TYPES; type++)
		if (all || types[type])
			show_type(session, path->fs, (enum fsq_type)type,
				  session->paths[mount].directory, verbose);
}

static void command_state(struct session *session, const struct invocation *invocation)
{
	const struct quota_options *options = invocation->options;

	if (invocation->operand_count > 0) {
		command_show_usage(session, invocation->command);
		return;
	}
	if ((options->all && session->pass > 0) || !session_output_begin(session, options->file))
		return;
	if (options->all) {
		for (size_t i = 0; i < session->path_count; i++)
			if (!session->paths[i].is_project)
				state_show(session, options->type, &session->paths[i],
					   options->verbose);
	} else if (session->current_path >= 0) {
		state_show(session, options->type, &session->paths[session->current_path],
			   options->verbose);
	}
	session_output_end(session);
}

#define FIELD(member) offsetof(struct quota_options, member)

static const struct command_option verbose_option[] = {
	{ 'v', NULL, "also say where there is none", .field = FIELD(verbose) },
	{ 0 },
};

const struct command state_command = {
	.name = "state",
	.summary = "get overall quota state information",
	.synopsis = "[-gpu] [-a] [-v] [-f file]",
	.help = "Whether quota of users (-u), groups (-g) and projects (-p; default: all\n"
		"three) is accounted and enforced, and how long the grace times are.",
	.options = (option_tables){ users_option, other_types_options, all_option, verbose_option,
				    output_file_option, NULL },
	.options_size = sizeof(struct quota_options),
	.flags = COMMAND_XFS_QUOTA | COMMAND_FOREIGN | COMMAND_EXPERT,
	.run = command_state,
};
