/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <errno.h>

static void print_owners(struct state *state, const struct call *call, const struct owners *owners)
{
	for (size_t i = 0; i < owners->count; i++) {
		const struct owner *owner = &owners->list[i];
		const char *name = NULL;

		if (!call->options['n'])
			name = xq_name_of(state, call->type, owner->id);
		write_format(state->out, "%8llu    ", (unsigned long long)owner->kib);
		if (call->options['i'])
			write_format(state->out, "%8llu    ", (unsigned long long)owner->files);
		if (name)
			write_format(state->out, "%-8.8s", name);
		else
			write_format(state->out, "#%-7d", (int)owner->id);
		for (int days = 0; days < 3 && call->options['v']; days++)
			write_format(state->out, "    %8llu",
				     (unsigned long long)owner->unread_kib[days]);
		write_char(state->out, '\n');
	}
}

/* A size, the files that have it, and the sum up to it; at last those of all larger ones. */
static void print_sizes(struct state *state, const struct owners *owners)
{
	uint64_t sum = 0;

	for (uint64_t kib = 0; kib <= OWNERS_LARGE_KIB; kib++) {
		uint64_t files = owners->size_files[kib];

		sum += kib < OWNERS_LARGE_KIB ? kib * files : owners->large_kib;
		if (files || kib == OWNERS_LARGE_KIB)
			write_format(state->out, "%llu\t%llu\t%llu\n", (unsigned long long)kib,
				     (unsigned long long)files, (unsigned long long)sum);
	}
}

static void show_path(struct state *state, const struct call *call, const struct path *path)
{
	bool sizes = call->options['c'];
	struct owners owners;
	struct fsq_error err;
	int rc;

	if (path->is_project)
		return;
	write_format(state->out, "%s (%s)%s%s:\n", path->info->device, path->directory,
		     sizes ? "" : " ", sizes ? "" : xq_type_titles[call->type]);
	rc = owners_count(&owners, path->fs, call->type, sizes, NULL, NULL, &err);
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
	owners_clear(&owners);
}

static void run_quot(struct state *state, const struct call *call)
{
	for (int i = 0; i < call->operand_count; i++) {
		int index = xq_find_path(state, call->operands[i]);

		if (index >= 0)
			show_path(state, call, &state->paths[index]);
	}
	for (int i = 0; i < (int)state->path_count && call->operand_count == 0; i++)
		if (call->options['a'] || i == state->current)
			show_path(state, call, &state->paths[i]);
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
