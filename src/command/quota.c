/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dquots.h"
#include "names.h"
#include "options.h"
#include "output/renderer.h"

/* The kernel's; NGROUPS_MAX is the C library's, which may be 32. */
#define GROUPS_MAX 65536

struct query {
	struct row_style style;
	enum fsq_type type;
	bool verbose; /* also where nothing is used */
	bool no_header;
};

static bool is_shown(const struct session *session, const struct query *query,
		     const struct amounts_row row[])
{
	const struct row_style *style = &query->style;

	if (query->verbose || !row_is_unused(style, row))
		return true;
	return generation_shows_unused_limits(session->generation) && row_has_limits(style, row);
}

/* One ID on every filesystem of the table. */
static void show_id(struct session *session, const struct query *query, uint32_t id,
		    const char *name)
{
	const struct row_style *style = &query->style;
	bool header = !query->no_header;
	int64_t now = 0;
	int rc = -ENOENT;

	for (size_t i = 0; i < session->path_count; i++) {
		const struct path_entry *path = &session->paths[i];
		struct usage_row row = {
			.device = path->info->device,
			.directory = path->directory,
			.owner = { (enum row_type)query->type, id, name },
		};
		struct fsq_dquot dquot;
		int failed;

		if (path->is_project)
			continue;
		failed = fsq_quota_get(path->fs, query->type, id, &dquot);
		if (failed == -EIO)
			session_errno(session, ERROR_SILENT, EIO, path->directory,
				      "no quota of %s %u on %s", names_of_type(query->type), id,
				      path->directory);
		if (rc)
			rc = failed;
		if (failed)
			continue;
		dquot_to_row(session, &dquot, &now, row.form);
		if (!is_shown(session, query, row.form))
			continue;
		if (header)
			render_quota_begin(session->render, session->out, style, &row.owner);
		header = false;
		session->render->quota_row(session->out, style, &row);
	}
	if (rc && rc != -EIO)
		session_errno(session, ERROR_SILENT | session_flag_of(query->type), -rc, NULL,
			      "no quota of %s %u", names_of_type(query->type), id);
}

/* The caller's own: there is none for projects. */
static void show_own(struct session *session, const struct query *query)
{
	bool numeric = query->style.numeric;
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
		session_usage_error(session, "must specify a project name/ID");
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
		if (!names_are_lost(session))
			session_error(session, 0, FSQ_E_NOT_FOUND, 0, NULL, "cannot find %s %s",
				      names_of_type(query->type), word);
		return;
	}
	if (number)
		name = query->style.numeric ? NULL : names_of_id(session, query->type, id);
	show_id(session, query, id, name);
}

static void command_quota(struct session *session, const struct invocation *invocation)
{
	const struct quota_options *options = invocation->options;
	struct query query = {
		.style = options_style(options),
		.type = options_type(options),
		/* The native door also shows an ID that uses nothing. */
		.verbose = options->verbose || session->native,
		.no_header = options->no_header,
	};

	if (options_type_count(options) > 1) {
		command_show_usage(session, invocation->command);
		return;
	}
	/* All filesystems are shown at once. */
	if (session->pass > 0 || !session_output_begin(session, options->file))
		return;
	if (invocation->operand_count == 0)
		show_own(session, &query);
	for (int i = 0; i < invocation->operand_count; i++)
		show_word(session, &query, invocation->operands[i]);
	session_output_end(session);
}

#define FIELD(member) offsetof(struct quota_options, member)

static const struct command_option verbose_option[] = {
	{ 'v', NULL, "also where nothing is used", .field = FIELD(verbose) },
	{ 0 },
};

const struct command quota_command = {
	.name = "quota",
	.alias = "l",
	.summary = "show usage and limits",
	.synopsis = "[-bir] [-g|-p|-u] [-hnNv] [-f file] [id|name]...",
	.help = "What users (-u, default), groups (-g) or projects (-p) use, and their limits,\n"
		"on every filesystem there is. Without a name: the caller's own.",
	.example = "quota -p -N -n -v -b 42",
	.options =
		(option_tables){ default_blocks_option, other_forms_options, default_users_option,
				 other_types_options, human_option, numeric_option,
				 no_header_option, verbose_option, output_file_option, NULL },
	.operands = { { VALUE_NAME, "ID", true } },
	.options_size = sizeof(struct quota_options),
	.flags = COMMAND_XFS_QUOTA | COMMAND_FOREIGN | COMMAND_QUICK,
	.run = command_quota,
};
