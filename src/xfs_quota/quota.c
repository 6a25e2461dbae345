/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <errno.h>
#include <grp.h>
#include <string.h>
#include <unistd.h>

/* The NGROUPS_MAX of the kernel. The C library's may be only 32. */
#define GROUPS_MAX 65536

static void print_quota_header(struct state *state, const struct call *call, uint32_t id,
			       const char *name)
{
	static const char *const plain[] = {
		"     Blocks      Quota      Limit  Warn/Time      ",
		"      Files      Quota      Limit  Warn/Time      ",
		"   Realtime      Quota      Limit  Warn/Time      ",
	};
	static const char *const human[] = {
		" Blocks  Quota  Limit Warn/Time    ",
		"  Files  Quota  Limit Warn/Time    ",
		"Realtime Quota  Limit Warn/Time    ",
	};
	struct writer *out = state->out;

	write_format(out, "Disk quotas for %s ", xq_type_titles[call->type]);
	if (name)
		write_text(out, name);
	else
		write_format(out, "#%u", id);
	write_format(out, " (%u)\n%-*s", id, call->style.human ? 12 : 19, "Filesystem");
	for (int form = 0; form < FSQ_FORMS; form++)
		if (call->style.form[form])
			write_text(out, (call->style.human ? human : plain)[form]);
	write_text(out, "Mounted on\n");
}

static void print_quota_row(struct state *state, const struct call *call, const struct path *path,
			    const struct fsq_dquot *dquot)
{
	struct writer *out = state->out;
	bool human = call->style.human;

	write_left(out, path->info->device, human ? 12 : 19);
	for (int form = 0; form < FSQ_FORMS; form++)
		if (call->style.form[form]) {
			xq_write_amounts(out, (enum fsq_form)form, human, &dquot->form[form],
					 human ? 2 : 3);
			write_char(out, ' ');
		}
	write_text(out, path->directory);
	write_char(out, '\n');
}

static bool is_record_shown(const struct state *state, const struct call *call,
			    const struct fsq_dquot *dquot)
{
	if (call->options['v'] || !xq_is_unused(&call->style, dquot))
		return true;
	/* 6.1 does not show an ID that has limits and uses nothing. */
	return state->generation >= XFS_QUOTA_7_2 && xq_has_limits(&call->style, dquot);
}

/* Show one ID on every filesystem of the table. */
static void show_quota_of_id(struct state *state, const struct call *call, uint32_t id,
			     const char *name)
{
	const char *type = account_types[call->type];
	bool header = call->style.header;
	int rc = -ENOENT;

	for (size_t i = 0; i < state->path_count; i++) {
		const struct path *path = &state->paths[i];
		struct fsq_dquot dquot;
		int failed;

		if (path->is_project)
			continue;
		failed = fsq_quota_get(path->fs, call->type, id, &dquot);
		if (failed == -EIO)
			xq_errno(state, XQ_SILENT, EIO, "no quota of %s %u on %s", type, id,
				 path->directory);
		if (rc)
			rc = failed;
		if (failed || !is_record_shown(state, call, &dquot))
			continue;
		if (header)
			print_quota_header(state, call, id, name);
		header = false;
		print_quota_row(state, call, path, &dquot);
	}
	if (rc && rc != -EIO)
		xq_errno(state, XQ_SILENT, -rc, "no quota of %s %u", type, id);
}

static void show_named(struct state *state, const struct call *call, uint32_t id)
{
	show_quota_of_id(state, call, id,
			 call->style.numeric ? NULL : xq_name_of(state, call->type, id));
}

/* Show the quotas of the caller's user or groups. A process belongs to no project. */
static void show_own_quota(struct state *state, const struct call *call)
{
	gid_t groups[GROUPS_MAX];
	int count;

	if (call->type == FSQ_PROJECT) {
		xq_usage_error(state, "must specify a project name/ID");
	} else if (call->type == FSQ_USER) {
		show_named(state, call, getuid());
	} else {
		count = getgroups(GROUPS_MAX, groups);
		for (int i = 0; i < count; i++)
			show_named(state, call, groups[i]);
	}
}

static void show_word(struct state *state, const struct call *call, const char *word)
{
	bool is_number = word[strspn(word, "0123456789")] == '\0';
	uint32_t id;

	/* "+5" is a number elsewhere, but a name here. */
	if ((!is_number && word[0] == '+') || !xq_find_id(state, call->type, word, &id)) {
		if (!xq_names_are_lost(state))
			xq_error(state, 0, FSQ_E_NOT_FOUND, 0, "cannot find %s %s",
				 account_types[call->type], word);
	} else if (is_number) {
		show_named(state, call, id);
	} else {
		show_quota_of_id(state, call, id, word);
	}
}

static void run_quota(struct state *state, const struct call *call)
{
	if (call->operand_count == 0)
		show_own_quota(state, call);
	for (int i = 0; i < call->operand_count; i++)
		show_word(state, call, call->operands[i]);
}

const struct command xq_quota = {
	.name = "quota",
	.alias = "l",
	.letters = "birugphnNvf:",
	.max = -1,
	.flags = COMMAND_FOREIGN | COMMAND_OUTPUT | COMMAND_SHOWS_ALL | COMMAND_ONE_TYPE,
	.synopsis = "[-bir] [-g|-p|-u] [-hnNv] [-f file] [id|name]...",
	.summary = "show usage and limits",
	.help = "What users (-u, default), groups (-g) or projects (-p) use, and their limits,\n"
		"on every filesystem there is. Without a name: the caller's own.\n"
		"\n" HELP_FORMS HELP_TYPES "  -h       sizes with a letter (K, M, G, ...)\n"
		"  -n       IDs instead of names\n"
		"  -N       no header\n"
		"  -v       also where nothing is used\n" HELP_FILE "\n"
		"Example: quota -p -N -n -v -b 42\n",
	.run = run_quota,
};
