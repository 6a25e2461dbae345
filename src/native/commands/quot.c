/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "common/owners.h"
#include "native/cli/options.h"
#include "quota/fsquota.h"

struct quot_options {
	struct quota_options quota;
	bool sizes;
};

/* The space of an owner; or with -c, of files of a size, in the last row also of larger ones. */
struct quot_row {
	enum fsq_type type; /* NO_TYPE with -c */
	uint64_t id;
	const char *name;
	uint64_t used_bytes, files;
	uint64_t unread_bytes[3]; /* that were not read for 30, 60 and 90 days */
	uint64_t file_bytes, sum_bytes;
	const char *filesystem, *mountpoint;
};

/* clang-format off */
#define MEMBER(name) .offset = offsetof(struct quot_row, name)
#define NUMBER(column, key, type, name, help) \
	{ column, key, type, MEMBER(name), help, .optional = true }
/* clang-format on */

#define NO_TYPE ((enum fsq_type)FSQ_TYPES)

static const struct field fields[] = {
	{ "TYPE", "type", FIELD_WORD, MEMBER(type), "user, group or project",
	  .words = account_types, .optional = true },
	NUMBER("ID", "id", FIELD_COUNT, id, "ID of the user, group or project"),
	{ "NAME", "name", FIELD_TEXT, MEMBER(name), "its name" },
	NUMBER("USED", "used_bytes", FIELD_BYTES, used_bytes, "space that its files take"),
	NUMBER("SIZE", "file_bytes", FIELD_BYTES, file_bytes, "of files of this size"),
	NUMBER("FILES", "files", FIELD_COUNT, files, "how many files"),
	NUMBER("SUM", "sum_bytes", FIELD_BYTES, sum_bytes, "the space of all up to this size"),
	NUMBER("UNREAD30", "unread_30_days_bytes", FIELD_BYTES, unread_bytes[0],
	       "space that was not read for 30 days"),
	NUMBER("UNREAD60", "unread_60_days_bytes", FIELD_BYTES, unread_bytes[1], "for 60 days"),
	NUMBER("UNREAD90", "unread_90_days_bytes", FIELD_BYTES, unread_bytes[2], "for 90 days"),
	{ "FILESYSTEM", "filesystem", FIELD_TEXT, MEMBER(filesystem), "device of the filesystem" },
	{ "MOUNTPOINT", "mountpoint", FIELD_TEXT, MEMBER(mountpoint), "where it is mounted" },
	{ 0 },
};

static const struct row_fields owner_rows = { fields, sizeof(struct quot_row),
					      .usual = "USED,ID,NAME,MOUNTPOINT" };
static const struct row_fields all_owner_rows = {
	fields, sizeof(struct quot_row),
	.usual = "USED,FILES,ID,NAME,UNREAD30,UNREAD60,UNREAD90,MOUNTPOINT"
};
static const struct row_fields size_rows = { fields, sizeof(struct quot_row),
					     .usual = "SIZE,FILES,SUM,MOUNTPOINT" };

struct quot {
	struct session *session;
	const struct path_entry *path;
	const struct quot_options *options;
	enum fsq_type type;
};

static struct quot_row new_row(const struct quot *quot)
{
	return (struct quot_row){
		.type = NO_TYPE,
		.id = FIELD_NOT_KNOWN,
		.used_bytes = FIELD_NOT_KNOWN,
		.files = FIELD_NOT_KNOWN,
		.unread_bytes = { FIELD_NOT_KNOWN, FIELD_NOT_KNOWN, FIELD_NOT_KNOWN },
		.file_bytes = FIELD_NOT_KNOWN,
		.sum_bytes = FIELD_NOT_KNOWN,
		.filesystem = quot->path->info->device,
		.mountpoint = quot->path->directory,
	};
}

static void show_owners(const struct quot *quot, const struct owners *owners)
{
	for (size_t i = 0; i < owners->count; i++) {
		const struct owner *owner = &owners->list[i];
		struct quot_row row = new_row(quot);

		row.type = quot->type;
		row.id = owner->id;
		if (!quot->options->quota.numeric)
			row.name = names_of_id(quot->session, quot->type, owner->id);
		row.used_bytes = owner->kib * 1024;
		if (quot->options->quota.form[FSQ_INODES])
			row.files = owner->files;
		for (int j = 0; quot->options->quota.verbose && j < 3; j++)
			row.unread_bytes[j] = owner->unread_kib[j] * 1024;
		tables_row(quot->session, &row);
	}
}

static void show_sizes(const struct quot *quot, const struct owners *owners)
{
	struct quot_row row = new_row(quot);
	uint64_t sum_kib = 0;

	for (uint64_t kib = 0; kib <= OWNERS_LARGE_KIB; kib++) {
		row.file_bytes = kib * 1024;
		row.files = owners->size_files[kib];
		sum_kib += kib < OWNERS_LARGE_KIB ? kib * row.files : owners->large_kib;
		row.sum_bytes = sum_kib * 1024;
		if (row.files || kib == OWNERS_LARGE_KIB)
			tables_row(quot->session, &row);
	}
}

static void command_quot(struct session *session, const struct invocation *invocation)
{
	const struct quot_options *options = invocation->options;
	struct quot quot = {
		.session = session,
		.path = &session->paths[session->current_path],
		.options = options,
		.type = options_type(&options->quota),
	};
	struct owners owners;
	struct fsq_error err;

	if (options_type_count(&options->quota) > 1) {
		command_show_usage(session, invocation->command);
		return;
	}
	if (options->sizes)
		session->table.type = &size_rows;
	else if (options->quota.form[FSQ_INODES] || options->quota.verbose)
		session->table.type = &all_owner_rows;
	if (owners_count(&owners, quot.path->fs, quot.type, options->sizes, session_is_stopped,
			 session, &err))
		session_fail(session, &err);
	else if (options->sizes)
		show_sizes(&quot, &owners);
	else
		show_owners(&quot, &owners);
	session_report_stop(session, quot.path->directory);
	if (owners.no_memory)
		session_errno(session, 0, ENOMEM, NULL, "some are not counted");
	owners_clear(&owners);
}

#define FIELD(member) offsetof(struct quot_options, member)

static const struct command_option quot_options[] = {
	{ 'b', NULL, "ignored", .field = FIELD(quota.ignored) },
	{ 'i', NULL, "also how many files", .field = FIELD(quota.form[FSQ_INODES]) },
	{ 'r', NULL, "ignored", .field = FIELD(quota.ignored) },
	{ 'c', NULL, "how many files there are of each size in KiB,\nand the sum up to it",
	  .field = FIELD(sizes) },
	{ 'v', NULL, "also KiB that were not read for 30, 60 and 90 days",
	  .field = FIELD(quota.verbose) },
	{ 0 },
};

const struct command quot_command = {
	.name = "quot",
	.group = GROUP_RECORDS,
	.summary = "summarize filesystem ownership",
	.synopsis = "[-bir] [-g|-p|-u] [-acv] [-f file]",
	.help = "What each project (-p, default), user (-u) or group (-g) owns on an XFS, counted\n"
		"inode by inode. Quota need not be on.",
	.example = "quot /srv\n"
		   "quot -i -u /srv",
	.options = (option_tables){ quot_options, type_options, all_option, numeric_option,
				    output_file_option, NULL },
	.rows = &owner_rows,
	.options_size = sizeof(struct quot_options),
	.flags = COMMAND_FILESYSTEMS | COMMAND_PATHS | COMMAND_XFS,
	.run = command_quot,
};
