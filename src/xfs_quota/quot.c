/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "shared/sort.h"

/* Files from this size on are counted together. */
#define LARGE_KIB 499
#define DAY 86400

/* What an ID owns, and how much of it was not read for 30, 60 and 90 days. */
struct owner {
	uint32_t id;
	uint64_t files;
	uint64_t kib;
	uint64_t unread_kib[3];
};

struct quot {
	struct state *state;
	enum fsq_type type;
	bool sizes; /* -c */
	bool no_memory;
	int64_t now;
	struct owner *owners; /* a hash table by ID; one without files is free */
	size_t owner_count, owner_capacity;
	uint64_t size_files[LARGE_KIB + 1];
	uint64_t large_kib;
};

static struct owner *slot(struct owner *owners, size_t capacity, uint32_t id)
{
	size_t at = (id * 2654435761U) & (capacity - 1);

	while (owners[at].files && owners[at].id != id)
		at = (at + 1) & (capacity - 1);
	return &owners[at];
}

static struct owner *find_owner(struct quot *quot, uint32_t id)
{
	if (2 * quot->owner_count >= quot->owner_capacity) {
		size_t capacity = quot->owner_capacity ? 2 * quot->owner_capacity : 256;
		struct owner *larger = calloc(capacity, sizeof(*larger));

		if (!larger)
			return NULL;
		for (size_t i = 0; i < quot->owner_capacity; i++)
			if (quot->owners[i].files)
				*slot(larger, capacity, quot->owners[i].id) = quot->owners[i];
		free(quot->owners);
		quot->owners = larger;
		quot->owner_capacity = capacity;
	}
	return slot(quot->owners, quot->owner_capacity, id);
}

static enum fsq_visit count(const struct fsq_inode *inode, void *arg)
{
	struct quot *quot = arg;
	uint64_t kib = (inode->bytes + 1023) / 1024;
	struct owner *owner;

	if (quot->sizes) {
		if (S_ISREG(inode->mode) || S_ISDIR(inode->mode)) {
			quot->size_files[kib < LARGE_KIB ? kib : LARGE_KIB]++;
			quot->large_kib += kib < LARGE_KIB ? 0 : kib;
		}
		return FSQ_VISIT_CONTINUE;
	}
	owner = find_owner(quot, inode->owner[quot->type]);
	if (!owner) {
		quot->no_memory = true;
		return FSQ_VISIT_CONTINUE;
	}
	quot->owner_count += owner->files == 0;
	owner->id = inode->owner[quot->type];
	owner->files++;
	owner->kib += kib;
	for (int i = 0; i < 3; i++)
		if (quot->now - inode->read > (i + 1) * 30 * DAY)
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

static void print_owners(struct quot *quot, const struct call *call)
{
	struct writer *out = quot->state->out;

	array_sort(quot->owners, quot->owner_capacity, sizeof(*quot->owners), by_size);
	for (size_t i = 0; i < quot->owner_capacity && quot->owners[i].kib; i++) {
		const struct owner *owner = &quot->owners[i];
		const char *name = NULL;

		if (!call->options['n'])
			name = xq_name_of(quot->state, quot->type, owner->id);
		xq_print(out, "%8llu    ", (unsigned long long)owner->kib);
		if (call->options['i'])
			xq_print(out, "%8llu    ", (unsigned long long)owner->files);
		if (name)
			xq_print(out, "%-8.8s", name);
		else
			xq_print(out, "#%-7d", (int)owner->id);
		for (int days = 0; days < 3 && call->options['v']; days++)
			xq_print(out, "    %8llu", (unsigned long long)owner->unread_kib[days]);
		write_char(out, '\n');
	}
}

/* A size, the files that have it, and the sum up to it; at last those of all larger ones. */
static void print_sizes(struct quot *quot)
{
	uint64_t sum = 0;

	for (uint64_t kib = 0; kib <= LARGE_KIB; kib++) {
		uint64_t files = quot->size_files[kib];

		sum += kib < LARGE_KIB ? kib * files : quot->large_kib;
		if (files || kib == LARGE_KIB)
			xq_print(quot->state->out, "%llu\t%llu\t%llu\n", (unsigned long long)kib,
				 (unsigned long long)files, (unsigned long long)sum);
	}
}

static void show_path(struct state *state, const struct call *call, const struct path *path)
{
	struct quot quot = {
		.state = state,
		.type = call->type,
		.sizes = call->options['c'],
		.now = time(NULL),
	};
	struct fsq_error err;
	int rc;

	if (path->is_project)
		return;
	xq_print(state->out, "%s (%s)%s%s:\n", path->info->device, path->directory,
		 quot.sizes ? "" : " ", quot.sizes ? "" : xq_type_title(quot.type));
	rc = fsq_filesystem_each_inode(path->fs, count, &quot, &err);
	if (rc == FSQ_E_PERMISSION)
		xq_errno(state, XQ_SILENT, err.errnum, "cannot read the inodes");
	if (rc && rc != FSQ_E_PERMISSION)
		xq_errno(state, XQ_BARE | XQ_STATUS_0, err.errnum, "%s", path->directory);
	else if (quot.sizes)
		print_sizes(&quot);
	else if (quot.owners)
		print_owners(&quot, call);
	if (quot.no_memory)
		xq_errno(state, 0, ENOMEM, "some are not counted");
	free(quot.owners);
}

static void run_quot(struct state *state, const struct call *call)
{
	bool all = call->options['a'];

	if (call->type_count > 1) {
		xq_show_usage(state, call);
		return;
	}
	/* With -a the first pass shows all filesystems. */
	if ((all && state->pass > 0) || !xq_output_begin(state, call->options['f']))
		return;
	for (int i = 0; i < call->operand_count; i++) {
		int index = xq_find_path(state, call->operands[i]);

		if (index >= 0)
			show_path(state, call, &state->paths[index]);
	}
	for (int i = 0; i < (int)state->path_count && call->operand_count == 0; i++)
		if (all || i == state->current)
			show_path(state, call, &state->paths[i]);
	xq_output_end(state);
}

const struct command xq_quot = {
	.name = "quot",
	.letters = "bircvhugpanf:",
	.refused = 'h',
	.max = -1,
	.flags = COMMAND_EXPERT,
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
