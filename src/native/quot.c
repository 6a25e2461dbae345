/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "names.h"
#include "options.h"
#include "paths.h"
#include "tables.h"
#include "quota/fsquota.h"
#include "shared/sort.h"

/* Files from this size on are counted together. */
#define LARGE_KIB 499
#define DAY 86400

struct quot_options {
	struct quota_options quota;
	bool sizes, ignored;
};

/* What somebody owns; or with -c, files of a size, or of it and above for the last row. */
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
	  .words = names_of_types, .optional = true },
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

/* What somebody owns, counted. */
struct owner {
	uint32_t id;
	uint64_t kib, files;
	uint64_t unread_kib[3];
};

struct quot {
	struct session *session;
	const struct path_entry *path;
	enum fsq_type type;
	bool sizes, files, unread, numeric, no_memory;
	int64_t now;
	struct owner *owners; /* a hash table by ID; one without files is free */
	size_t owner_count, owner_capacity;
	uint64_t size_files[LARGE_KIB + 1];
	uint64_t large_kib;
};

static struct owner *slot(struct owner *owners, size_t room, uint32_t id)
{
	size_t at = (id * 2654435761U) & (room - 1);

	while (owners[at].files && owners[at].id != id)
		at = (at + 1) & (room - 1);
	return &owners[at];
}

static struct owner *find_owner(struct quot *quot, uint32_t id)
{
	if (2 * quot->owner_count >= quot->owner_capacity) {
		size_t room = quot->owner_capacity ? 2 * quot->owner_capacity : 256;
		struct owner *larger = calloc(room, sizeof(*larger));

		if (!larger)
			return NULL;
		for (size_t i = 0; i < quot->owner_capacity; i++)
			if (quot->owners[i].files)
				*slot(larger, room, quot->owners[i].id) = quot->owners[i];
		free(quot->owners);
		quot->owners = larger;
		quot->owner_capacity = room;
	}
	return slot(quot->owners, quot->owner_capacity, id);
}

static void count_owner(struct quot *quot, const struct fsq_inode *inode, uint64_t kib)
{
	struct owner *row = find_owner(quot, inode->owner[quot->type]);

	if (!row) {
		quot->no_memory = true;
		return;
	}
	quot->owner_count += row->files == 0;
	row->id = inode->owner[quot->type];
	row->files++;
	row->kib += kib;
	for (int i = 0; i < 3; i++)
		if (quot->now - inode->read > (i + 1) * 30 * DAY)
			row->unread_kib[i] += kib;
}

static enum fsq_visit count(const struct fsq_inode *inode, void *arg)
{
	struct quot *quot = arg;
	uint64_t kib = (inode->bytes + 1023) / 1024;

	if (!quot->sizes) {
		count_owner(quot, inode, kib);
	} else if (S_ISREG(inode->mode) || S_ISDIR(inode->mode)) {
		quot->size_files[kib < LARGE_KIB ? kib : LARGE_KIB]++;
		quot->large_kib += kib < LARGE_KIB ? 0 : kib;
	}
	return session_is_stopped(quot->session) ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

static int by_size(const void *one, const void *other)
{
	const struct owner *a = one, *b = other;

	if (a->kib != b->kib)
		return a->kib > b->kib ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

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

static void show_owners(struct quot *quot)
{
	array_sort(quot->owners, quot->owner_capacity, sizeof(*quot->owners), by_size);
	for (size_t i = 0; i < quot->owner_capacity && quot->owners[i].kib; i++) {
		const struct owner *owner = &quot->owners[i];
		struct quot_row row = new_row(quot);

		row.type = quot->type;
		row.id = owner->id;
		if (!quot->numeric)
			row.name = names_of_id(quot->session, quot->type, owner->id);
		row.used_bytes = owner->kib * 1024;
		if (quot->files)
			row.files = owner->files;
		for (int j = 0; quot->unread && j < 3; j++)
			row.unread_bytes[j] = owner->unread_kib[j] * 1024;
		tables_row(quot->session, quot->session->table, &row);
	}
}

static void show_sizes(struct quot *quot)
{
	struct quot_row row = new_row(quot);
	uint64_t sum_kib = 0;

	for (uint64_t kib = 0; kib <= LARGE_KIB; kib++) {
		row.file_bytes = kib * 1024;
		row.files = quot->size_files[kib];
		sum_kib += kib < LARGE_KIB ? kib * row.files : quot->large_kib;
		row.sum_bytes = sum_kib * 1024;
		if (row.files || kib == LARGE_KIB)
			tables_row(quot->session, quot->session->table, &row);
	}
}

static void show_path(struct quot *quot, const struct path_entry *path)
{
	struct session *session = quot->session;
	struct fsq_error err;

	quot->path = path;
	memset(quot->size_files, 0, sizeof(quot->size_files));
	quot->large_kib = 0;
	quot->owners = NULL;
	quot->owner_count = quot->owner_capacity = 0;
	if (fsq_filesystem_each_inode(path->fs, count, quot, &err))
		session_fail(session, &err);
	else if (quot->sizes)
		show_sizes(quot);
	else if (quot->owners)
		show_owners(quot);
	session_tell_stop(session, path->directory);
	if (quot->no_memory)
		session_errno(session, 0, ENOMEM, NULL, "some are not counted");
	free(quot->owners);
}

static void command_quot(struct session *session, const struct invocation *invocation)
{
	const struct quot_options *options = invocation->options;
	struct quot quot = {
		.session = session,
		.now = time(NULL),
		.type = options_type(&options->quota),
		.sizes = options->sizes,
		.files = options->quota.form[FSQ_INODES],
		.unread = options->quota.verbose,
		.numeric = options->quota.numeric,
	};

	if (options_type_count(&options->quota) > 1) {
		command_show_usage(session, invocation->command);
		return;
	}
	session->table->type = quot.sizes		   ? &size_rows
			       : quot.files || quot.unread ? &all_owner_rows
							   : &owner_rows;
	show_path(&quot, &session->paths[session->current_path]);
}

#define FIELD(member) offsetof(struct quot_options, member)

static const struct command_option quot_options[] = {
	{ 'b', NULL, "ignored", .field = FIELD(ignored) },
	{ 'i', NULL, "also how many files", .field = FIELD(quota.form[FSQ_INODES]) },
	{ 'r', NULL, "ignored", .field = FIELD(ignored) },
	{ 'c', NULL, "how many files there are of each size in KiB,\nand the sum up to it",
	  .field = FIELD(sizes) },
	{ 'v', NULL, "also KiB that were not read for 30, 60 and 90 days",
	  .field = FIELD(quota.verbose) },
	{ 0 },
};

const struct command quot_command = {
	.name = "quot",
	.summary = "summarize filesystem ownership",
	.synopsis = "[-bir] [-g|-p|-u] [-acv] [-f file]",
	.help = "What each project (-p, default), user (-u) or group (-g) owns on an XFS, counted\n"
		"inode by inode. Quota need not be on.",
	.options = (option_tables){ quot_options, users_option, other_types_options, all_option,
				    numeric_option, output_file_option, NULL },
	.rows = &owner_rows,
	.options_size = sizeof(struct quot_options),
	.flags = COMMAND_FILESYSTEMS | COMMAND_PATHS | COMMAND_XFS,
	.run = command_quot,
};
