/* SPDX-License-Identifier: Apache-2.0 */
#include "dump_line.h"
#include "options.h"
#include "records.h"

struct dump_options {
	struct quota_options quota;
	const char *lower, *upper;
};

struct dump_row {
	struct record_row record;
	struct fsq_dquot dquot; /* as text has it, in the kernel's units */
	bool first;		/* of the filesystem */
};

/* clang-format off */
#define MEMBER(name) .offset = offsetof(struct dump_row, record.name)
#define LIMIT(column, name, type, help) { column, #name, type, MEMBER(name), help }
/* clang-format on */

static const struct field fields[] = {
	{ "TYPE", "type", FIELD_WORD, MEMBER(type), "user, group or project",
	  .words = account_types },
	{ "ID", "id", FIELD_ID, MEMBER(id), "ID of the user, group or project" },
	{ "NAME", "name", FIELD_TEXT, MEMBER(name), "its name" },
	LIMIT("SOFT", soft_bytes, FIELD_BYTES_LIMIT, "soft limit of space"),
	LIMIT("HARD", hard_bytes, FIELD_BYTES_LIMIT, "hard limit of space"),
	LIMIT("ISOFT", soft_inodes, FIELD_COUNT_LIMIT, "soft limit of inodes"),
	LIMIT("IHARD", hard_inodes, FIELD_COUNT_LIMIT, "hard limit of inodes"),
	LIMIT("RSOFT", soft_realtime_bytes, FIELD_BYTES_LIMIT, "soft limit of realtime space"),
	LIMIT("RHARD", hard_realtime_bytes, FIELD_BYTES_LIMIT, "hard limit of realtime space"),
	{ "FILESYSTEM", "filesystem", FIELD_TEXT, MEMBER(filesystem), "device of the filesystem" },
	{ "MOUNTPOINT", "mountpoint", FIELD_TEXT, MEMBER(mountpoint), "where it is mounted" },
	{ 0 },
};

/* restore and xfs_quota's restore read it; that one passes over the line with the type. */
static void write_line(struct writer *w, const void *arg)
{
	const struct dump_row *row = arg;
	const struct fsq_amounts *form = row->dquot.form;
	bool realtime = form[FSQ_REALTIME].soft || form[FSQ_REALTIME].hard;

	if (row->first) {
		write_text(w, DUMP_TYPE);
		write_text(w, account_types[row->record.type]);
		write_char(w, '\n');
	}
	write_text(w, DUMP_DEVICE);
	write_text(w, row->record.filesystem);
	write_char(w, '\n');
	write_number_left(w, row->record.id, 10);
	for (int i = 0; i < (realtime ? FSQ_FORMS : FSQ_REALTIME); i++) {
		write_char(w, ' ');
		write_number_right(w, form[i].soft, 7);
		write_char(w, ' ');
		write_number_right(w, form[i].hard, 7);
	}
	write_char(w, '\n');
}

static const struct row_fields rows = { fields, sizeof(struct dump_row),
					"TYPE,ID,NAME,SOFT,HARD,ISOFT,IHARD,MOUNTPOINT",
					write_line };

struct dump {
	struct session *session;
	const struct dump_options *options;
	int64_t now;
	bool first;
};

static void show(const struct fsq_dquot *dquot, void *arg)
{
	struct dump *dump = arg;
	struct session *session = dump->session;
	struct dump_row row = { .dquot = *dquot, .first = dump->first };
	bool any = false;

	for (int form = 0; form < FSQ_FORMS; form++)
		any |= dquot->form[form].soft || dquot->form[form].hard;
	if (!any)
		return;
	row.record =
		records_row(session, &session->paths[session->current_path],
			    options_type(&dump->options->quota), dquot,
			    session->style.format == TABLE_TEXT && session->style.column_count == 0,
			    &dump->now);
	tables_row(session, session->table, &row);
	dump->first = false;
}

static void command_dump(struct session *session, const struct invocation *invocation)
{
	const struct dump_options *options = invocation->options;
	struct dump dump = { .session = session, .options = options, .first = true };
	struct record_range range = { 0 };

	if (!options_number(session, options->lower, &range.lower) ||
	    !options_number(session, options->upper, &range.upper))
		return;
	if (invocation->operand_count > 0 || options_type_count(&options->quota) > 1) {
		command_show_usage(session, invocation->command);
		return;
	}
	records_each(session, session->paths[session->current_path].fs,
		     options_type(&options->quota), &range, show, &dump);
}

#define FIELD(member) offsetof(struct dump_options, member)

static const struct command_option range_options[] = {
	{ 'L', NULL, "lowest ID", .kind = VALUE_ID, .argument = "ID", .field = FIELD(lower) },
	{ 'U', NULL, "highest ID", .kind = VALUE_ID, .argument = "ID", .field = FIELD(upper) },
	{ 0 },
};

const struct command dump_command = {
	.name = "dump",
	.summary = "dump quota information for backup utilities",
	.synopsis = "[-g|-p|-u] [-LU] [-f file]",
	.help = "Print the limits of every project (-p, default), user (-u) or group (-g) that\n"
		"has any, in a form that restore reads.",
	.options = (option_tables){ users_option, other_types_options, range_options,
				    output_file_option, NULL },
	.rows = &rows,
	.options_size = sizeof(struct dump_options),
	.flags = COMMAND_FILESYSTEMS,
	.run = command_dump,
};
