/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "names.h"
#include "options.h"
#include "paths.h"
#include "output/renderer.h"
#include "quota/fsquota.h"
#include "shared/sort.h"

/* Files from this size on are counted together. */
#define LARGE_KIB 499
#define DAY 86400

struct quot_options {
	struct quota_options quota;
	bool sizes, ignored;
};

struct quot {
	struct session *session;
	const struct path_entry *path;
	enum fsq_type type;
	bool sizes, files, unread, numeric, no_memory;
	int64_t now;
	struct ownership_row *owners; /* a hash table by ID; a row without files is free */
	size_t owner_count, owner_capacity;
	uint64_t size_files[LARGE_KIB + 1];
	uint64_t large_kib;
};

static struct ownership_row *slot(struct ownership_row *owners, size_t room, uint32_t id)
{
	size_t at = (id * 2654435761U) & (room - 1);

	while (owners[at].files && owners[at].owner.id != id)
		at = (at + 1) & (room - 1);
	return &owners[at];
}

static struct ownership_row *find_owner(struct quot *quot, uint32_t id)
{
	if (2 * quot->owner_count >= quot->owner_capacity) {
		size_t room = quot->owner_capacity ? 2 * quot->owner_capacity : 256;
		struct ownership_row *larger = calloc(room, sizeof(*larger));

		if (!larger)
			return NULL;
		for (size_t i = 0; i < quot->owner_capacity; i++)
			if (quot->owners[i].files)
				*slot(larger, room, quot->owners[i].owner.id) = quot->owners[i];
		free(quot->owners);
		quot->owners = larger;
		quot->owner_capacity = room;
	}
	return slot(quot->owners, quot->owner_capacity, id);
}

static void count_owner(struct quot *quot, const struct fsq_inode *inode, uint64_t kib)
{
	struct ownership_row *row = find_owner(quot, inode->owner[quot->type]);

	if (!row) {
		quot->no_memory = true;
		return;
	}
	quot->owner_count += row->files == 0;
	row->owner.id = inode->owner[quot->type];
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
	const struct ownership_row *a = one, *b = other;

	if (a->kib != b->kib)
		return a->kib > b->kib ? -1 : 1;
	return a->owner.id < b->owner.id ? -1 : a->owner.id > b->owner.id;
}

static void show_owners(struct quot *quot)
{
	array_sort(quot->owners, quot->owner_capacity, sizeof(*quot->owners), by_size);
	for (size_t i = 0; i < quot->owner_capacity && quot->owners[i].kib; i++) {
		struct ownership_row *row = &quot->owners[i];

		row->device = quot->path->info->device;
		row->directory = quot->path->directory;
		row->owner.type = (enum row_type)quot->type;
		if (!quot->numeric)
			row->owner.name = names_of_id(quot->session, quot->type, row->owner.id);
		quot->session->render->ownership_row(quot->session->out, row, quot->files,
						     quot->unread);
	}
}

static void show_sizes(struct quot *quot)
{
	struct file_size_row row = { .device = quot->path->info->device,
				     .directory = quot->path->directory };

	for (row.kib = 0; row.kib < LARGE_KIB; row.kib++) {
		row.files = quot->size_files[row.kib];
		row.sum_kib += row.kib * row.files;
		if (row.files)
			quot->session->render->file_size_row(quot->session->out, &row);
	}
	row.files = quot->size_files[LARGE_KIB];
	row.sum_kib += quot->large_kib;
	quot->session->render->file_size_row(quot->session->out, &row);
}

static void show_path(struct quot *quot, const struct path_entry *path)
{
	struct session *session = quot->session;
	struct fsq_error err;

	if (path->is_project)
		return;
	quot->path = path;
	if (quot->sizes)
		render_file_size_begin(session->render, session->out, path->directory,
				       path->info->device);
	else
		render_ownership_begin(session->render, session->out, (enum row_type)quot->type,
				       path->directory, path->info->device);
	memset(quot->size_files, 0, sizeof(quot->size_files));
	quot->large_kib = 0;
	quot->owners = NULL;
	quot->owner_count = quot->owner_capacity = 0;
	switch (fsq_filesystem_each_inode(path->fs, count, quot, &err)) {
	case FSQ_E_PERMISSION:
		session_errno(session, ERROR_SILENT, err.errnum, NULL, "cannot read the inodes");
		/* fall through */
	case 0:
		if (quot->sizes)
			show_sizes(quot);
		else if (quot->owners)
			show_owners(quot);
		break;
	default:
		if (session->native)
			session_fail(session, &err);
		else
			session_errno(session, ERROR_BARE | ERROR_STATUS_0, err.errnum,
				      path->directory, "%s", path->directory);
		break;
	}
	session_tell_stop(session, path->directory);
	if (quot->no_memory)
		session_errno(session, 0, ENOMEM, NULL, "some are not counted");
	free(quot->owners);
}

static void command_quot(struct session *session, const struct invocation *invocation)
{
	const struct quot_options *options = invocation->options;
	bool all = options->quota.all, any = invocation->operand_count > 0;
	struct quot quot = {
		.session = session,
		.now = time(NULL),
		.type = options_type(&options->quota),
		.sizes = options->sizes,
		.files = options->quota.style.form[ROW_INODES],
		.unread = options->quota.verbose,
		.numeric = options->quota.style.numeric,
	};

	if (options_type_count(&options->quota) > 1) {
		command_show_usage(session, invocation->command);
		return;
	}
	if ((all && session->pass > 0) || !session_output_begin(session, options->quota.file))
		return;
	for (int i = 0; i < invocation->operand_count; i++) {
		int index = paths_find(session, invocation->operands[i]);

		if (index >= 0)
			show_path(&quot, &session->paths[index]);
	}
	for (size_t i = 0; all && !any && i < session->path_count; i++)
		show_path(&quot, &session->paths[i]);
	if (!all && !any && session->current_path >= 0)
		show_path(&quot, &session->paths[session->current_path]);
	session_output_end(session);
}

#define FIELD(member) offsetof(struct quot_options, member)

static const struct command_option quot_options[] = {
	{ 'b', NULL, "ignored", .field = FIELD(ignored) },
	{ 'i', NULL, "also how many files", .field = FIELD(quota.style.form[ROW_INODES]) },
	{ 'r', NULL, "ignored", .field = FIELD(ignored) },
	{ 'c', NULL, "how many files there are of each size in KiB,\nand the sum up to it",
	  .field = FIELD(sizes) },
	{ 'v', NULL, "also KiB that were not read for 30, 60 and 90 days",
	  .field = FIELD(quota.verbose) },
	{ .letter = 'h' },
	{ 0 },
};

const struct command quot_command = {
	.name = "quot",
	.summary = "summarize filesystem ownership",
	.synopsis = "[-bir] [-g|-p|-u] [-acv] [-f file]",
	.help = "What each user (-u, default), group (-g) or project (-p) owns on an XFS, in\n"
		"KiB, counted inode by inode. Quota need not be on.",
	.options = (option_tables){ quot_options, default_users_option, other_types_options,
				    all_option, numeric_option, output_file_option, NULL },
	.options_size = sizeof(struct quot_options),
	.flags = COMMAND_XFS_QUOTA | COMMAND_EXPERT | COMMAND_PATHS,
	.run = command_quot,
};
