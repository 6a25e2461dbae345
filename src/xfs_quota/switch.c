/* SPDX-License-Identifier: Apache-2.0 */
/* state shows whether quota of a filesystem is on; enable, disable, off and remove change that. */
#include "command.h"

#include <errno.h>
#include <string.h>

static void print_form(struct state *state, const struct fsq_state *quota, enum fsq_form form)
{
	static const char *const titles[] = { "Blocks", "Inodes", "Realtime Blocks" };
	int64_t seconds = quota->grace_seconds[form];
	char cell[XQ_CELL];

	xq_cell_grace(cell, seconds ? seconds : XQ_NO_GRACE, true, false);
	write_format(state->out, "%s grace time: %s\n", titles[form], cell);
	/* 6.1 does not show the warnings of realtime blocks. */
	if (form != FSQ_REALTIME || state->generation >= XFS_QUOTA_7_2)
		write_format(state->out, "%s max warnings: %u\n", titles[form],
			     quota->max_warnings[form]);
}

static void print_state(struct state *state, enum fsq_type type, const struct path *path,
			const char *directory, bool verbose)
{
	const char *device = path->info->device;
	struct writer *out = state->out;
	struct fsq_state quota;
	int rc = fsq_quota_state(path->fs, type, &quota);

	if (rc && verbose)
		write_format(out, "%s quota are not enabled on %s\n", xq_type_titles[type], device);
	else if (rc)
		xq_errno(state, XQ_SILENT, -rc, "no %s quota", account_types[type]);
	if (rc)
		return;
	write_format(out, "%s quota state on %s (%s)\n  Accounting: %s\n  Enforcement: %s\n",
		     xq_type_titles[type], directory, device, quota.accounting[type] ? "ON" : "OFF",
		     quota.enforced[type] ? "ON" : "OFF");
	if (quota.has_inode)
		write_format(out, "  Inode: #%llu (%llu blocks, %u extents)\n",
			     (unsigned long long)quota.inode, (unsigned long long)quota.blocks,
			     quota.extents);
	else
		write_format(out, "  Inode: N/A\n");
	for (int form = 0; form < FSQ_FORMS; form++)
		print_form(state, &quota, (enum fsq_form)form);
}

/* Show the state of the selected types, or of all if none is. @verbose  also say where there is no quota */
static void show_switch_state(struct state *state, const bool types[FSQ_TYPES],
			      const struct path *path, bool verbose)
{
	int mount = xq_find_dev(state, path->info->dev);
	bool all = !types[FSQ_USER] && !types[FSQ_GROUP] && !types[FSQ_PROJECT];

	for (int type = 0; type < FSQ_TYPES; type++)
		if (all || types[type])
			print_state(state, (enum fsq_type)type, path, state->paths[mount].directory,
				    verbose);
}

static void run_state(struct state *state, const struct call *call)
{
	bool verbose = call->options['v'], all = call->options['a'];

	for (size_t i = 0; i < state->path_count && all; i++)
		if (!state->paths[i].is_project)
			show_switch_state(state, call->types, &state->paths[i], verbose);
	if (!all && state->current >= 0)
		show_switch_state(state, call->types, &state->paths[state->current], verbose);
}

const struct command xq_state = {
	.name = "state",
	.letters = "ugpavf:",
	.max = -1,
	.flags = COMMAND_FOREIGN | COMMAND_EXPERT | COMMAND_OUTPUT | COMMAND_NO_OPERANDS,
	.synopsis = "[-gpu] [-a] [-v] [-f file]",
	.summary = "get overall quota state information",
	.help = "Whether quota of users (-u), groups (-g) and projects (-p; default: all\n"
		"three) is accounted and enforced, and how long the grace times are.\n"
		"\n"
		"  -u       of users\n"
		"  -g       of groups\n"
		"  -p       of projects\n"
		"  -a       all filesystems\n"
		"  -v       also say where there is none\n" HELP_FILE,
	.run = run_state,
};

/* @return   the words for an expected failure, or NULL */
static const char *explain_switch(enum fsq_switch what, int errnum)
{
	if (what == FSQ_ENABLE && errnum == EEXIST)
		return "Quota enforcement already enabled.";
	if (what == FSQ_ENABLE && (errnum == EINVAL || errnum == ENOSYS))
		return "Can't enable enforcement when quota off.";
	if (what == FSQ_DISABLE && errnum == EEXIST)
		return "Quota enforcement already disabled.";
	if (what == FSQ_DISABLE && (errnum == EINVAL || errnum == ENOSYS))
		return "Can't disable enforcement when quota off.";
	if (what == FSQ_OFF && (errnum == EEXIST || errnum == ENOSYS))
		return "Quota already off.";
	return NULL;
}

/* @return   false when it failed; that was reported, and never changes the exit status */
static bool switch_types(struct state *state, struct fsq_filesystem *fs, enum fsq_switch what,
			 const bool types[FSQ_TYPES])
{
	static const char *const calls[] = {
		[FSQ_ENABLE] = "XFS_QUOTAON",
		[FSQ_DISABLE] = "XFS_QUOTAOFF",
		[FSQ_OFF] = "XFS_QUOTAOFF",
		[FSQ_REMOVE] = "XFS_QUOTARM",
	};
	int rc = fsq_quota_switch(fs, what, types);
	const char *words = explain_switch(what, -rc);

	if (words)
		xq_error(state, XQ_BARE | XQ_STATUS_0, rc == -EEXIST ? FSQ_OK : FSQ_E_NOT_SUPPORTED,
			 0, "%s", words);
	else if (rc)
		xq_errno(state, XQ_BARE | XQ_STATUS_0, -rc, "%s", calls[what]);
	return rc == 0;
}

static void run_switch(struct state *state, const struct call *call)
{
	const enum fsq_switch what = call->command == &xq_enable    ? FSQ_ENABLE
				     : call->command == &xq_disable ? FSQ_DISABLE
				     : call->command == &xq_off	    ? FSQ_OFF
								    : FSQ_REMOVE;
	bool types[FSQ_TYPES], done = true;
	const struct path *path = &state->paths[state->current];

	memcpy(types, call->types, sizeof(types));
	types[FSQ_USER] |= call->type_count == 0;
	if (what != FSQ_REMOVE)
		done = switch_types(state, path->fs, what, types);
	/* Remove one type at a time; stop at the first failure. */
	for (int type = 0; type < FSQ_TYPES && what == FSQ_REMOVE && done; type++) {
		bool one[FSQ_TYPES] = { 0 };

		one[type] = true;
		if (types[type])
			done = switch_types(state, path->fs, what, one);
	}
	if (done && call->options['v'])
		show_switch_state(state, types, path, true);
}

/* What the four commands have in common. */
#define SWITCH                                                                      \
	.letters = "ugpv", .max = -1, .synopsis = "[-gpu] [-v]", .run = run_switch, \
	.flags = COMMAND_EXPERT | COMMAND_CURRENT | COMMAND_NO_OPERANDS
#define HELP_SWITCH "\n" HELP_NARROW_TYPES "  -v  show the state afterwards\n"

const struct command xq_enable = {
	.name = "enable",
	.summary = "enable quota enforcement",
	.help = "Enforce limits of users (-u, default), groups (-g) or projects (-p) on the\n"
		"current XFS or ext4, where use is accounted already: that is chosen when it\n"
		"is mounted.\n" HELP_SWITCH,
	SWITCH,
};

const struct command xq_disable = {
	.name = "disable",
	.summary = "disable quota enforcement",
	.help = "Stop enforcing limits of users (-u, default), groups (-g) or projects (-p) on\n"
		"the current XFS or ext4. Use is still accounted; enable takes it "
		"back.\n" HELP_SWITCH,
	SWITCH,
};

const struct command xq_off = {
	.name = "off",
	.summary = "permanently switch quota off for a path",
	.help = "Switch quota of users (-u, default), groups (-g) or projects (-p) off on the\n"
		"current XFS, until it is mounted anew. Since Linux 5.16 only the enforcement\n"
		"goes off and use is still accounted, as with disable.\n" HELP_SWITCH,
	SWITCH,
};

const struct command xq_remove = {
	.name = "remove",
	.summary = "remove quota extents from a filesystem",
	.help = "Free the space that the records of users (-u, default), groups (-g) or\n"
		"projects (-p) take on the current XFS. Their quota must be off.\n" HELP_SWITCH,
	SWITCH,
};
