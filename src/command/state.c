/* SPDX-License-Identifier: Apache-2.0 */
#include "state.h"

#include <getopt.h>

#include "command.h"
#include "names.h"
#include "output/renderer.h"
#include "paths.h"

static void show_type(struct session *session, const struct fsq_filesystem *fs, enum fsq_type type,
		      const char *directory, bool verbose)
{
	struct fsq_state state;
	struct state_row row;
	int rc = fsq_kernel_state(&fs->target, type, &state);

	if (rc) {
		/* Whoever asks for more words gets them on stdout. */
		if (verbose)
			session->render->state_off(session->out, (enum row_type)type, fs->device);
		else
			session_note(session, -rc, "no %s quota", names_of_type(type));
		return;
	}
	row = (struct state_row){
		.type = (enum row_type)type,
		.device = fs->device,
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

void state_show(struct session *session, const struct selection *selection,
		const struct path_entry *path, bool verbose)
{
	int mount = paths_find_dev(session, path->fs->dev);
	bool all = options_type_count(selection) == 0;

	for (int type = 0; type < FSQ_TYPES; type++)
		if (all || selection->type[type])
			show_type(session, path->fs, (enum fsq_type)type,
				  session->paths[mount].directory, verbose);
}

COMMAND_FUNCTION(state)
{
	struct selection selection = { 0 };
	bool all = false, verbose = false;
	const char *file = NULL;
	int option;

	options_begin();
	while ((option = getopt(argc, argv, command->options)) != -1) {
		switch (option) {
		case 'a':
			all = true;
			break;
		case 'f':
			file = optarg;
			break;
		case 'v':
			verbose = true;
			break;
		default:
			if (!options_select(&selection, option))
				return command_usage(session, command);
		}
	}
	if (optind != argc)
		return command_usage(session, command);
	if (all && session->pass > 0)
		return COMMAND_NEXT;
	if (!session_output_begin(session, file))
		return COMMAND_NEXT;
	if (all) {
		for (size_t i = 0; i < session->path_count; i++)
			if (!session->paths[i].is_project)
				state_show(session, &selection, &session->paths[i], verbose);
	} else if (session->current_path >= 0) {
		state_show(session, &selection, &session->paths[session->current_path], verbose);
	}
	session_output_end(session);
	return COMMAND_NEXT;
}
