/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <grp.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "records.h"

/* The kernel's; NGROUPS_MAX is the C library's, which may be 32. */
#define GROUPS_MAX 65536

/* One ID on every filesystem. */
static void show_id(struct session *session, const struct quota_options *options, uint32_t id)
{
	enum fsq_type type = options_type(options);
	int64_t now = 0;
	int rc = -ENOENT;

	for (size_t i = 0; i < session->path_count; i++) {
		const struct path_entry *path = &session->paths[i];
		struct fsq_dquot dquot;
		struct record_row row;
		int failed = fsq_quota_get(path->fs, type, id, &dquot);

		if (failed == -EIO)
			session_errno(session, 0, EIO, path->directory, "no quota of %s %u on %s",
				      account_types[type], id, path->directory);
		if (rc)
			rc = failed;
		if (failed)
			continue;
		row = records_row(session, path, type, &dquot, options->numeric, &now);
		tables_row(session, session->table, &row);
	}
	if (rc && rc != -EIO)
		session_errno(session, session_flag_of(type), -rc, NULL, "no quota of %s %u",
			      account_types[type], id);
}

/* The caller's own: there is none for projects. */
static void show_own(struct session *session, const struct quota_options *options)
{
	gid_t groups[GROUPS_MAX];
	int count;

	switch (options_type(options)) {
	case FSQ_USER:
		show_id(session, options, getuid());
		break;
	case FSQ_GROUP:
		count = getgroups(GROUPS_MAX, groups);
		for (int i = 0; i < count; i++)
			show_id(session, options, groups[i]);
		break;
	default:
		session_usage_error(session, "name a project, or -u or -g for your own quota; "
					     "fsquota usage shows the project of a directory");
		break;
	}
}

static void command_quota(struct session *session, const struct invocation *invocation)
{
	const struct quota_options *options = invocation->options;
	uint32_t id;

	if (options_type_count(options) > 1) {
		command_show_usage(session, invocation->command);
		return;
	}
	records_choose(session->table, options->form, options->numeric, "");
	if (invocation->operand_count == 0)
		show_own(session, options);
	for (int i = 0; i < invocation->operand_count; i++)
		if (names_to_id_or_complain(session, options_type(options), invocation->operands[i],
					    &id))
			show_id(session, options, id);
}

#define FIELD(member) offsetof(struct quota_options, member)

static const struct command_option verbose_option[] = {
	{ 'v', NULL, "ignored: what uses nothing is always shown", .field = FIELD(verbose) },
	{ 0 },
};

const struct command quota_command = {
	.name = "quota",
	.alias = "l",
	.summary = "show usage and limits",
	.synopsis = "[-bir] [-g|-p|-u] [-hnNv] [-f file] [id|name]...",
	.help = "What projects (-p, default), users (-u) or groups (-g) use, and their limits, on\n"
		"every filesystem there is. Without a name: the caller's own, with -u or -g.",
	.example = "quota -b 42",
	.options = (option_tables){ default_blocks_option, other_forms_options, users_option,
				    other_types_options, human_option, numeric_option,
				    no_header_option, verbose_option, output_file_option, NULL },
	.operands = { { VALUE_NAME, "ID", true } },
	.rows = &realtime_record_rows,
	.options_size = sizeof(struct quota_options),
	.flags = COMMAND_FILESYSTEMS | COMMAND_ONCE | COMMAND_QUICK,
	.run = command_quota,
};
