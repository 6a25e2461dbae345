/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>
#include <string.h>

#include "native_command.h"
#include "output/json_rows.h"
#include "output/native_text.h"
#include "quota/inode_project.h"
#include "quota/tree_walk.h"

struct listing {
	struct session *session;
	bool project, all, recursive, directories_themselves;
	const char *operand;
	unsigned int failures;
};

static void fail(struct listing *listing, const char *path, int errnum)
{
	listing->failures++;
	session_complain(listing->session, 1, errnum, "%s: cannot read the flags", path);
}

static void show(struct listing *listing, const struct fsq_walk_entry *entry)
{
	struct attributes_row row = { .path = entry->depth ? entry->path : listing->operand };
	struct fsq_inode_project project;
	int rc = fsq_inode_flags_get(entry->fd, &row.flags);

	if (rc == 0 && (listing->project || listing->session->json)) {
		rc = fsq_inode_project_get(entry->fd, &project);
		row.project = project.id;
		row.inherit = project.inherit;
	}
	if (rc)
		fail(listing, row.path, -rc);
	else if (listing->session->json)
		json_attributes_row(listing->session->out, &row);
	else
		text_attributes_row(listing->session->out, &row, listing->project);
}

static int visit(const struct fsq_walk_entry *entry, struct fsq_walk_finding *finding, void *arg)
{
	struct listing *listing = arg;
	const char *slash = strrchr(entry->path, '/');

	(void)finding;
	if (entry->depth > 0 && slash && slash[1] == '.' && !listing->all)
		return FSQ_WALK_PRUNE;
	switch (entry->kind) {
	case FSQ_WALK_FILE:
		show(listing, entry);
		break;
	case FSQ_WALK_DIRECTORY:
		if (entry->depth > 0 || listing->directories_themselves)
			show(listing, entry);
		if (entry->depth > 0 && listing->recursive && !listing->session->json)
			text_attributes_enter(listing->session->out, entry->path);
		break;
	case FSQ_WALK_LEAVE:
		if (entry->depth > 0 && listing->recursive && !listing->session->json)
			text_attributes_leave(listing->session->out);
		break;
	case FSQ_WALK_SPECIAL:
		listing->failures++;
		session_complain(listing->session, 1, FSQ_E_NOT_SUPPORTED,
				 "%s: the kernel tells flags of files and directories only",
				 entry->path);
		break;
	case FSQ_WALK_NO_STAT:
	case FSQ_WALK_NO_OPEN:
		fail(listing, entry->path, entry->errnum);
		break;
	}
	return 0;
}

NATIVE_FUNCTION(lsattr)
{
	static const struct option words[] = { NATIVE_WORDS, { NULL, 0, NULL, 0 } };
	struct listing listing = { .session = session };
	struct fsq_walk walk = {
		.root_fd = -1,
		.reach = FSQ_WALK_OPEN,
		.alone = true,
		.visit = visit,
		.arg = &listing,
	};
	struct fsq_error err;
	int option;

	while ((option = native_option(session, command, argc, argv, "padRh", words)) != -1) {
		switch (option) {
		case 'p':
			listing.project = true;
			break;
		case 'a':
			listing.all = true;
			break;
		case 'd':
			listing.directories_themselves = true;
			break;
		case 'R':
			listing.recursive = true;
			break;
		default:
			return;
		}
	}
	if (optind == argc) {
		session_complain(session, 1, FSQ_E_USAGE, "no path given; usage: %s",
				 command->usage);
		return;
	}
	session->render->begin(session->out, command->name);
	walk.max_depth = listing.recursive		  ? FSQ_WALK_INFINITE
			 : listing.directories_themselves ? 0
							  : 1;
	for (int i = optind; i < argc; i++) {
		walk.root = listing.operand = argv[i];
		if (fsq_tree_walk(&walk, &err))
			session_complain(session, 1, err.errnum, "%s", err.path);
	}
	session->render->end(session->out);
}
