/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"
#include "options.h"
#include "quota/fsquota.h"

struct supported_options {
	bool quiet;
};

/* Where a quota can be put. */
struct support_row {
	const char *path;
	const char *filesystem, *mountpoint; /* or NULL: not to be found out */
	bool accounting, enforced;
};

#define MEMBER(name) .offset = offsetof(struct support_row, name)

static const struct field fields[] = {
	{ "PATH", "path", FIELD_PATH, MEMBER(path), "the directory" },
	{ "FILESYSTEM", "filesystem", FIELD_TEXT, MEMBER(filesystem), "device of the filesystem" },
	{ "MOUNTPOINT", "mountpoint", FIELD_TEXT, MEMBER(mountpoint),
	  "where the filesystem is mounted" },
	{ "ACCOUNTING", "accounting", FIELD_BOOL, MEMBER(accounting),
	  "is the use of projects counted?" },
	{ "ENFORCED", "enforced", FIELD_BOOL, MEMBER(enforced),
	  "are limits of projects enforced?" },
	{ 0 },
};

static void write_line(struct writer *w, const void *arg)
{
	const struct support_row *row = arg;

	write_escaped(w, row->path);
	write_text(w, ": project quota on ");
	write_escaped(w, row->filesystem ? row->filesystem : "its filesystem");
	if (row->mountpoint) {
		write_text(w, ", mounted on ");
		write_escaped(w, row->mountpoint);
	}
	write_text(w, row->enforced ? "\n" : "; limits are not enforced\n");
}

static const struct row_fields rows = { fields, sizeof(struct support_row),
					"PATH,FILESYSTEM,MOUNTPOINT,ENFORCED", write_line };

static void command_supported(struct session *session, const struct invocation *invocation)
{
	const struct supported_options *options = invocation->options;
	struct fsq_support support;
	struct support_row row = { .accounting = true };
	struct table table;
	struct fsq_error err;

	if (!options_directory(session, invocation, &row.path))
		return;
	if (fsq_supported(row.path, &support, &err)) {
		if (options->quiet)
			session->status = session_exit_code(err.kind);
		else
			session_fail(session, &err);
		return;
	}
	row.filesystem = support.device;
	row.mountpoint = support.mountpoint;
	row.enforced = support.enforced;
	if (!options->quiet) {
		table = tables_begin(session, "supported");
		table.single = true;
		tables_row(session, &table, &row);
		tables_end(session, &table);
	}
	fsq_support_clear(&support);
}

#define FIELD(member) offsetof(struct supported_options, member)

static const struct command_option quiet_option[] = {
	{ 'q', "quiet", "say nothing else", .field = FIELD(quiet) },
	{ 0 },
};

const struct command supported_command = {
	.name = "supported",
	.summary = "tell whether a quota can be put on a directory",
	.synopsis = "DIR [OPTION]...",
	.help = "Can a quota be put on DIR, here and by this caller? The exit status says so:\n"
		"0 yes, 3 not on this filesystem, 4 not by this caller.",
	.options = (option_tables){ quiet_option, table_options, help_option, NULL },
	.rows = &rows,
	.answers = ANSWER_SINGLE,
	.operands = { { VALUE_DIRECTORY, "DIR", false } },
	.options_size = sizeof(struct supported_options),
	.flags = COMMAND_QUICK,
	.run = command_supported,
};
