/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "names.h"
#include "options.h"
#include "output/renderer.h"

/* The kernel's; NGROUPS_MAX is the C library's, which may be 32. */
#define GROUPS_MAX 65536

struct query {
	struct selection selection;
	enum fsq_type type;
	bool verbose; /* also where nothing is used */
	bool no_header;
};

static bool is_shown(const struct session *session, const struct query *query,
		     const struct amounts_row row[])
{
	const struct row_style *style = &query->selection.style;

	if (query->verbose || !options_is_unused(style, row))
		return true;
	return generation_shows_unused_limits(session->generation) &&
	       options_has_limits(style, row);
}

/* One ID on every filesystem of the table. */
static void show_id(struct session *session, const struct query *query, uint32_t id,
		    const char *name)
{
	const struct row_style *style = &query->selection.style;
	bool header = !query->no_header;
	int64_t now = 0;
	int rc = -ENOENT;

	for (size_t i = 0; i < session->path_count; i++) {
		const struct path_entry *path = &session->paths[i];
		struct usage_row row = {
			.device = path->fs->device,
			.directory = path->directory,
			.owner = { (enum row_type)query->type, id, name },
		};
		struct fsq_dquot dquot;
		int failed;

		if (path->is_project)
			continue;
		failed = fsq_kernel_get(&path->fs->target, query->type, id, &dquot);
		if (failed == -EIO)
			session_note(session, EIO, "no quota of %s %u on %s",
				     names_of_type(query->type), id, path->directory);
		if (rc)
			rc = failed;
		if (failed)
			continue;
		options_usage_row(&dquot, &now, row.form);
		if (!is_shown(session, query, row.form))
			continue;
		if (header)
			session->render->quota_begin(session->out, style, &row.owner);
		header = false;
		session->render->quota_row(session->out, style, &row);
	}
	if (rc && rc != -EIO)
		session_note(session, -rc, "no quota of %s %u", names_of_type(query->type), id);
}

/* The caller's own: there is none for projects. */
static void show_own(struct session *session, const struct query *query)
{
	bool numeric = query->selection.style.numeric;
	gid_t groups[GROUPS_MAX];
	int count;

	switch (query->type) {
	case FSQ_USER:
		show_id(session, query, getuid(),
			numeric ? NULL : names_of_id(session, FSQ_USER, getuid()));
		break;
	case FSQ_GROUP:
		count = getgroups(GROUPS_MAX, groups);
		for (int i = 0; i < count; i++)
			show_id(session, query, groups[i],
				numeric ? NULL : names_of_id(session, FSQ_GROUP, groups[i]));
		break;
	default:
		session_complain(session, 1, FSQ_E_USAGE, "must specify a project name/ID");
		break;
	}
}

static bool is_number(const char *word)
{
	return word[strspn(word, "0123456789")] == '\0';
}

static void show_word(struct session *session, const struct query *query, const char *word)
{
	bool number = is_number(word);
	const char *name = word;
	uint32_t id;

	/* "+5", which is a number elsewhere, has always been a name here. */
	if ((!number && word[0] == '+') || !names_to_id(session, query->type, word, &id)) {
		session_complain(session, 1, FSQ_E_NOT_FOUND, "cannot find %s %s",
				 names_of_type(query->type), word);
		return;
	}
	if (number)
		name = query->selection.style.numeric ? NULL
						      : names_of_id(session, query->type, id);
	show_id(session, query, id, name);
}

COMMAND_FUNCTION(quota)
{
	struct query query = { 0 };
	const char *file = NULL;
	int option;

	options_begin();
	while ((option = getopt(argc, argv, command->options)) != -1) {
		switch (option) {
		case 'f':
			file = optarg;
			break;
		case 'N':
			query.no_header = true;
			break;
		case 'v':
			query.verbose = true;
			break;
		default:
			if (!options_select(&query.selection, option))
				return command_usage(session, command);
		}
	}
	if (options_type_count(&query.selection) > 1)
		return command_usage(session, command);
	/* Who asks there for one ID wants an answer. */
	query.verbose |= session->native;
	/* All filesystems are shown at once. */
	if (session->pass > 0)
		return COMMAND_NEXT;
	query.type = options_type(&query.selection);
	options_default_form(&query.selection);
	if (!session_output_begin(session, file))
		return COMMAND_NEXT;
	if (optind == argc)
		show_own(session, &query);
	for (int i = optind; i < argc; i++)
		show_word(session, &query, argv[i]);
	session_output_end(session);
	return COMMAND_NEXT;
}
