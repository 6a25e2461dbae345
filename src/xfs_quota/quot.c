/* SPDX-License-Identifier: Apache-2.0 */
/* quot: count inode by inode what each user, group or project owns. */
#include "command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "shared/sort.h"

/* Files from this size on are counted together. */
#define LARGE_KIB 499

struct owner {
	uint32_t id;
	uint64_t kib, files;
	uint64_t unread_kib[3]; /* that were not read for 30, 60 and 90 days */
};

struct owners {
	enum fsq_type type;
	bool sizes; /* count files by size, not by owner */
	int64_t now;
	/* While it is counted, a hash table by ID, where a slot without files is free; then by size, the largest first. */
	struct owner *list;
	size_t count, capacity;
	uint64_t size_files[LARGE_KIB + 1]; /* number of files by KiB; the last: all larger files */
	uint64_t large_kib;		    /* of those larger files */
	bool no_memory;			    /* some owners are not counted */
};

#define DAY 86400

static struct owner *slot(struct owner *list, size_t capacity, uint32_t id)
{
	size_t at = (id * 2654435761U) & (capacity - 1);

	while (list[at].files && list[at].id != id)
		at = (at + 1) & (capacity - 1);
	return &list[at];
}

static struct owner *find_owner_count(struct owners *owners, uint32_t id)
{
	if (2 * owners->count >= owners->capacity) {
		size_t capacity = owners->capacity ? 2 * owners->capacity : 256;
		struct owner *larger = calloc(capacity, sizeof(*larger));

		if (!larger)
			return NULL;
		for (size_t i = 0; i < owners->capacity; i++)
			if (owners->list[i].files)
				*slot(larger, capacity, owners->list[i].id) = owners->list[i];
		free(owners->list);
		owners->list = larger;
		owners->capacity = capacity;
	}
	return slot(owners->list, owners->capacity, id);
}

static enum fsq_visit count_inode(const struct fsq_inode *inode, void *arg)
{
	struct owners *owners = arg;
	uint64_t kib = (inode->bytes + 1023) / 1024;
	struct owner *owner;

	if (owners->sizes) {
		if (S_ISREG(inode->mode) || S_ISDIR(inode->mode)) {
			owners->size_files[kib < LARGE_KIB ? kib : LARGE_KIB]++;
			owners->large_kib += kib < LARGE_KIB ? 0 : kib;
		}
		return FSQ_VISIT_CONTINUE;
	}
	owner = find_owner_count(owners, inode->owner[owners->type]);
	if (!owner) {
		owners->no_memory = true;
		return FSQ_VISIT_CONTINUE;
	}
	owners->count += owner->files == 0;
	owner->id = inode->owner[owners->type];
	owner->files++;
	owner->kib += kib;
	for (int i = 0; i < 3; i++)
		if (owners->now - inode->read > (i + 1) * 30 * DAY)
			owner->unread_kib[i] += kib;
	return FSQ_VISIT_CONTINUE;
}

static int by_size(const void *one, const void *other)
{
	const struct owner *a = one, *b = other;

	if (a->kib != b->kib)
		return a->kib > b->kib ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static void print_owners(struct state *state, const struct call *call, const struct owners *owners)
{
	for (size_t i = 0; i < owners->count; i++) {
		const struct owner *owner = &owners->list[i];
		const char *name = NULL;

		if (!call->options['n'])
			name = xq_name_of(state, call->type, owner->id);
		write_format(state->out, "%8" PRIu64 "    ", owner->kib);
		if (call->options['i'])
			write_format(state->out, "%8" PRIu64 "    ", owner->files);
		if (name)
			write_format(state->out, "%-8.8s", name);
		else
			write_format(state->out, "#%-7d", (int)owner->id);
		for (int days = 0; days < 3 && call->options['v']; days++)
			write_format(state->out, "    %8" PRIu64, owner->unread_kib[days]);
		write_char(state->out, '\n');
	}
}

/* Print for each size in KiB the number of files and the sum of KiB so far; in the last line, all larger files. */
static void print_sizes(struct state *state, const struct owners *owners)
{
	uint64_t sum = 0;

	for (uint64_t kib = 0; kib <= LARGE_KIB; kib++) {
		uint64_t files = owners->size_files[kib];

		sum += kib < LARGE_KIB ? kib * files : owners->large_kib;
		if (files || kib == LARGE_KIB)
			write_format(state->out, "%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", kib,
				     files, sum);
	}
}

static void show_quot_path(struct state *state, const struct call *call, const struct path *path)
{
	bool sizes = call->options['c'];
	struct owners owners = { .type = call->type, .sizes = sizes, .now = time(NULL) };
	struct fsq_error err;
	int rc;

	if (path->is_project)
		return;
	write_format(state->out, "%s (%s)%s%s:\n", path->info->device, path->directory,
		     sizes ? "" : " ", sizes ? "" : xq_type_titles[call->type]);
	rc = fsq_filesystem_each_inode(path->fs, count_inode, &owners, &err);
	if (owners.list)
		array_sort(owners.list, owners.capacity, sizeof(*owners.list), by_size);
	for (owners.count = 0; owners.count < owners.capacity && owners.list[owners.count].kib;)
		owners.count++;
	if (rc == FSQ_E_PERMISSION)
		xq_errno(state, XQ_SILENT, err.errnum, "cannot read the inodes");
	if (rc && rc != FSQ_E_PERMISSION)
		xq_errno(state, XQ_BARE | XQ_STATUS_0, err.errnum, "%s", path->directory);
	else if (sizes)
		print_sizes(state, &owners);
	else
		print_owners(state, call, &owners);
	if (owners.no_memory)
		xq_errno(state, 0, ENOMEM, "some are not counted");
	free(owners.list);
}

static void run_quot(struct state *state, const struct call *call)
{
	for (int i = 0; i < call->operand_count; i++) {
		int index = xq_find_path(state, call->operands[i]);

		if (index >= 0)
			show_quot_path(state, call, &state->paths[index]);
	}
	for (int i = 0; i < (int)state->path_count && call->operand_count == 0; i++)
		if (call->options['a'] || i == state->current)
			show_quot_path(state, call, &state->paths[i]);
}

const struct command xq_quot = {
	.name = "quot",
	.letters = "bircvhugpanf:",
	.refused = 'h',
	.max = -1,
	.flags = COMMAND_EXPERT | COMMAND_OUTPUT | COMMAND_ONE_TYPE,
	.synopsis = "[-bir] [-g|-p|-u] [-acv] [-f file]",
	.summary = "summarize filesystem ownership",
	.help = "What each user (-u, default), group (-g) or project (-p) owns on an XFS, in\n"
		"KiB, counted inode by inode. Quota need not be on.\n"
		"\n"
		"  -b       ignored\n"
		"  -i       also how many files\n"
		"  -r       ignored\n"
		"  -c       how many files there are of each size in KiB,\n"
		"           and the sum up to it\n"
		"  -v       also KiB that were not read for 30, 60 and 90 days\n" HELP_TYPES
		"  -a       all filesystems\n"
		"  -n       IDs instead of names\n" HELP_FILE,
	.run = run_quot,
};
