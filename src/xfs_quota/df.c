/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <unistd.h>

#include "quota/mounts/lookup.h"
#include "quota/usage/project_tree.h"

struct df {
	struct state *state;
	struct style style;
	enum fsq_form form; /* the one that is shown */
	bool header;	    /* the header is not printed yet */
	bool complained;    /* reported that project quota cannot be read */
};

static void print_df_row(struct df *df, const struct path *path, uint64_t total, uint64_t used,
			 uint64_t available)
{
	struct writer *out = df->state->out;
	bool human = df->style.human;
	bool blocks = df->style.form[FSQ_BLOCKS] || df->style.form[FSQ_REALTIME];
	double percent = total ? 100.0 * (double)used / (double)total + 0.5 : 0;

	if (df->header && human)
		write_format(out, "%-12s%s Pathname\n", "Filesystem",
			     blocks ? "   Size   Used  Avail Use%" : " Inodes   Used   Free Use%");
	else if (df->header)
		write_format(out, "%-20s%s Pathname\n", "Filesystem",
			     blocks ? " 1K-blocks       Used  Available  Use%"
				    : "    Inodes      IUsed      IFree IUse%");
	df->header = false;
	write_left(out, path->info->device, human ? 12 : 19);
	xq_write_columns(out, df->form, human, total, used, available);
	write_format(out, "%s%3llu%% %s\n", human ? " " : "  ", (unsigned long long)percent,
		     path->directory);
}

/* @return   whether the directory has the project's ID and the inheritance flag; else an error was reported */
static bool check_df_project(struct state *state, const struct path *path)
{
	int fd = fsq_lookup(state->mounts, path->directory, FSQ_LOOKUP_READ, NULL);
	bool inherit = false;
	uint32_t id = 0;
	int rc;

	if (fd < 0) {
		xq_errno(state, 0, -fd, "cannot open %s", path->directory);
		return false;
	}
	rc = fsq_fd_get_project(fd, &id, &inherit);
	close(fd);
	if (rc)
		xq_errno(state, XQ_BARE, -rc, "FS_IOC_FSGETXATTR");
	else if (!inherit)
		xq_error(state, 0, FSQ_E_CONFLICT, 0, "project quota flag not set on %s",
			 path->directory);
	else if (id != path->project)
		xq_error(state, 0, FSQ_E_CONFLICT, 0, "project ID %u (%s) doesn't match ID %u (%s)",
			 path->project, state->projects_file, id, path->directory);
	else
		return true;
	return false;
}

/* Show a project directory: what its project uses, and its soft limit as the size. */
static void show_df_project(struct df *df, const struct path *path, uint64_t total,
			    uint64_t available)
{
	struct fsq_dquot dquot;
	const struct fsq_amounts *amounts = &dquot.form[df->form];
	int rc = fsq_quota_get(path->fs, FSQ_PROJECT, path->project, &dquot);

	if (rc) {
		if (!df->complained)
			xq_errno(df->state, XQ_SILENT, -rc, "project directories are left out");
		df->complained = true;
		return;
	}
	if (amounts->soft) {
		total = amounts->soft;
		available = amounts->soft > amounts->used ? amounts->soft - amounts->used : 0;
	}
	print_df_row(df, path, total, amounts->used, available);
}

static void show_df_path(struct df *df, const struct path *path)
{
	struct fsq_space space[FSQ_FORMS];
	struct fsq_state quota;
	uint64_t unit = df->form == FSQ_INODES ? 1 : FSQ_BASIC_BLOCK;
	uint64_t total, available;
	int rc;

	if (path->is_project &&
	    (fsq_quota_state(path->fs, FSQ_PROJECT, &quota) || !quota.accounting[FSQ_PROJECT] ||
	     !check_df_project(df->state, path)))
		return;
	rc = fsq_filesystem_space(path->fs, path->is_project ? df->state->mounts : NULL,
				  path->directory, space);
	if (rc) {
		xq_errno(df->state, 0, -rc, "cannot open %s", path->directory);
		return;
	}
	total = space[df->form].total / unit;
	available = space[df->form].free / unit;
	if (path->is_project)
		show_df_project(df, path, total, available);
	else
		print_df_row(df, path, total, total - available, available);
}

static void run_df(struct state *state, const struct call *call)
{
	struct df df = { .state = state, .style = call->style };

	df.form = df.style.form[FSQ_BLOCKS]   ? FSQ_BLOCKS
		  : df.style.form[FSQ_INODES] ? FSQ_INODES
					      : FSQ_REALTIME;
	df.header = df.style.header;
	xq_load_projects(state);
	for (size_t i = 0; i < state->path_count && call->operand_count == 0; i++)
		show_df_path(&df, &state->paths[i]);
	/* For each operand, show the first entry of its filesystem as a table of its own. */
	for (int i = 0; i < call->operand_count; i++) {
		int index = xq_find_path(state, call->operands[i]);

		df.header = df.style.header;
		if (index >= 0)
			show_df_path(&df, &state->paths[index]);
	}
}

const struct command xq_df = {
	.name = "df",
	.alias = "free",
	.letters = "birhNf:",
	.max = -1,
	.flags = COMMAND_FOREIGN | COMMAND_OUTPUT | COMMAND_SHOWS_ALL,
	.synopsis = "[-bir] [-hN] [-f file]",
	.summary = "show free and used counts for blocks and inodes",
	.help = "Size and free space of the filesystems, and of each project directory in\n"
		"the projects file, measured against its soft limit where it has one.\n"
		"\n" HELP_FORMS "  -h       sizes with a letter (K, M, G, ...)\n"
		"  -N       no header\n" HELP_FILE,
	.run = run_df,
};
