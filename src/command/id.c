/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>
#include <string.h>

#include "native_command.h"
#include "output/json_rows.h"
#include "output/native_text.h"
#include "quota/inode_project.h"
#include "quota/tree_walk.h"

/* The walk opens the one file there is to open, and no special one. */
static int visit(const struct fsq_walk_entry *entry, void *arg)
{
	struct session *session = arg;
	struct fsq_inode_project project;
	int rc = entry->errnum;

	switch (entry->kind) {
	case FSQ_WALK_FILE:
	case FSQ_WALK_DIRECTORY:
		rc = -fsq_inode_project_get(entry->fd, &project);
		if (rc == 0 && session->json)
			json_id_row(session->out, entry->path, project.id);
		else if (rc == 0)
			text_id_row(session->out, project.id);
		break;
	case FSQ_WALK_SPECIAL:
		session_complain(session, 1, FSQ_E_NOT_SUPPORTED,
				 "%s: the kernel tells project IDs of files and directories only",
				 entry->path);
		return 0;
	default:
		break;
	}
	if (rc)
		session_complain(session, 1, rc, "%s: cannot read the project ID", entry->path);
	return 0;
}

NATIVE_FUNCTION(id)
{
	static const struct option words[] = { NATIVE_WORDS, { NULL, 0, NULL, 0 } };
	struct fsq_error err;
	int option;

	while ((option = native_option(session, command, argc, argv, "h", words)) != -1)
		if (option == 0)
			return;
	if (optind == argc) {
		session_complain(session, 1, FSQ_E_USAGE, "no path given; usage: %s",
				 command->usage);
		return;
	}
	session->render->begin(session->out, command->name);
	for (int i = optind; i < argc; i++)
		if (fsq_tree_walk(argv[i], 0, visit, session, &err))
			session_complain(session, 1, err.errnum, "%s", err.path);
	session->render->end(session->out);
}
