/* SPDX-License-Identifier: Apache-2.0 */
#include "state.h"

#include "paths.h"
#include "options.h"

struct state_row {
	enum fsq_type type;
	bool accounting, enforced;
	int64_t grace_seconds[FSQ_FORMS];
	uint64_t inode; /* FIELD_NOT_KNOWN: none */
	const char *filesystem, *mountpoint;
};

#define MEMBER(name) .offset = offsetof(struct state_row, name)

static const struct field fields[] = {
	{ "TYPE", "type", FIELD_WORD, MEMBER(type), "user, group or project",
	  .words = account_types },
	{ "ACCOUNTING", "accounting", FIELD_BOOL, MEMBER(accounting), "is its use counted?" },
	{ "ENFORCED", "enforced", FIELD_BOOL, MEMBER(enforced), "are its limits enforced?" },
	{ "GRACE", "bytes_grace_seconds", FIELD_SECONDS, MEMBER(grace_seconds[FSQ_BLOCKS]),
	  "how long the soft limit of space may be exceeded" },
	{ "IGRACE", "inodes_grace_seconds", FIELD_SECONDS, MEMBER(grace_seconds[FSQ_INODES]),
	  "how long the soft limit of inodes may be exceeded" },
	{ "RGRACE", "realtime_grace_seconds", FIELD_SECONDS, MEMBER(grace_seconds[FSQ_REALTIME]),
	  "how long the soft limit of realtime space may be exceeded" },
	{ "INODE", "inode", FIELD_COUNT, MEMBER(inode), "inode of the quota file" },
	{ "FILESYSTEM", "filesystem", FIELD_TEXT, MEMBER(filesystem), "device of the filesystem" },
	{ "MOUNTPOINT", "mountpoint", FIELD_TEXT, MEMBER(mountpoint), "where it is mounted" },
	{ 0 },
};

const struct row_fields state_rows = { fields, sizeof(struct state_row),
				       .usual =
					       "TYPE,ACCOUNTING,ENFORCED,GRACE,IGRACE,MOUNTPOINT" };

void state_show(struct session *session, struct table *table, const bool types[FSQ_TYPES])
{
	const struct path_entry *path = &session->paths[session->current_path];
	bool all = !types[FSQ_USER] && !types[FSQ_GROUP] && !types[FSQ_PROJECT];

	for (int type = 0; type < FSQ_TYPES; type++) {
		struct state_row row = { .type = (enum fsq_type)type,
					 .filesystem = path->info->device,
					 .mountpoint = path->directory };
		struct fsq_state state;
		int rc;

		if (!all && !types[type])
			continue;
		rc = fsq_quota_state(path->fs, row.type, &state);
		if (rc) {
			session_errno(session, session_flag_of(row.type), -rc, NULL, "no %s quota",
				      account_types[row.type]);
			continue;
		}
		row.accounting = state.accounting[type];
		row.enforced = state.enforced[type];
		row.inode = state.has_inode ? state.inode : FIELD_NOT_KNOWN;
		for (int form = 0; form < FSQ_FORMS; form++)
			if (state.grace_seconds[form])
				row.grace_seconds[form] = state.grace_seconds[form];
			else
				row.grace_seconds[form] = FIELD_NO_SECONDS;
		tables_row(session, table, &row);
	}
}

static void command_state(struct session *session, const struct invocation *invocation)
{
	const struct quota_options *options = invocation->options;

	if (invocation->operand_count > 0)
		command_show_usage(session, invocation->command);
	else
		state_show(session, session->table, options->type);
}

#define FIELD(member) offsetof(struct quota_options, member)

static const struct command_option verbose_option[] = {
	{ 'v', NULL, "ignored: where there is none is always said", .field = FIELD(verbose) },
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
	.rows = &state_rows,
	.options_size = sizeof(struct quota_options),
	.flags = COMMAND_FILESYSTEMS,
	.run = command_state,
};
