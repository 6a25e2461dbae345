/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "native_command.h"
#include "output/json_rows.h"
#include "output/native_text.h"
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
		session_complain(session, 1, FSQ_E_NOT_SUPPORTED,
				 "%s: the kernel tells project IDs of files and directories only",
				 entry->path);
	else if (rc)
		session_complain(session, 1, rc, "%s: cannot read the project ID", entry->path);
	else if (session->json)
		json_id_row(session->out, entry->path, project.id);
	else
		text_id_row(session->out, project.id);
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
	for (int i = optind; i < argc; i++) {
		struct fsq_walk walk = {
			.root = argv[i],
			.root_fd = -1,
			.reach = FSQ_WALK_PROJECTS,
			.alone = true,
			.visit = visit,
			.arg = session,
		};

		if (fsq_tree_walk(&walk, &err))
			session_complain(session, 1, err.errnum, "%s", err.path);
	}
	session->render->end(session->out);
}
