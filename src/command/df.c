/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options.h"
#include "paths.h"
#include "output/renderer.h"
#include "quota/fsquota.h"

struct df {
	struct session *session;
	struct row_style style;
	enum fsq_form form; /* the one that is shown */
	bool no_header;
	bool header; /* still to be printed */
	bool told;   /* that project quota cannot be read was reported */
};

static void show(struct df *df, const struct path_entry *path, uint64_t total, uint64_t used,
		 uint64_t available)
{
	struct space_row row = { path->info->device, path->directory, total, used, available };

	if (df->header)
		render_space_begin(df->session->render, df->session->out, &df->style);
	df->header = false;
	df->session->render->space_row(df->session->out, &df->style, &row);
}

/* Does the directory carry the project's ID and hand it on? If not, report an error. */
static bool check_project(struct session *session, const struct path_entry *path)
{
	uint32_t id = 0;
	bool inherit = false;
	int fd = open(path->directory, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int rc;

	if (fd < 0) {
		session_errno(session, 0, errno, path->directory, "cannot open %s",
			      path->directory);
		return false;
	}
	rc = fsq_fd_get_project(fd, &id, &inherit);
	close(fd);
	if (rc)
		session_errno(session, ERROR_BARE, -rc, path->directory, "FS_IOC_FSGETXATTR");
	else if (!inherit)
		session_error(session, 0, FSQ_E_CONFLICT, 0, path->directory,
			      "project quota flag not set on %s", path->directory);
	else if (id != path->project)
		session_error(session, 0, FSQ_E_CONFLICT, 0, path->directory,
			      "project ID %u (%s) doesn't match ID %u (%s)", path->project,
			      session->projects_file, id, path->directory);
	else
		return true;
	return false;
}

static void show_path(struct df *df, const struct path_entry *path)
{
	struct fsq_space space[FSQ_FORMS];
	struct fsq_dquot dquot;
	struct fsq_state state;
	const struct fsq_amounts *amounts = &dquot.form[df->form];
	uint64_t unit = df->form == FSQ_INODES ? 1 : FSQ_BASIC_BLOCK;
	uint64_t total, available;
	int rc;

	if (path->is_project) {
		if (fsq_quota_state(path->fs, FSQ_PROJECT, &state) ||
		    !state.accounting[FSQ_PROJECT])
			return;
		if (!check_project(df->session, path))
			return;
	}
	rc = fsq_filesystem_space(path->fs, path->directory, space);
	if (rc) {
		session_errno(df->session, 0, -rc, path->directory, "cannot open %s",
			      path->directory);
		return;
	}
	total = space[df->form].total / unit;
	available = space[df->form].free / unit;
	if (!path->is_project) {
		show(df, path, total, total - available, available);
		return;
	}
	rc = fsq_quota_get(path->fs, FSQ_PROJECT, path->project, &dquot);
	if (rc) {
		if (!df->told)
			session_errno(df->session, ERROR_SILENT, -rc, path->directory,
				      "project directories are left out");
		df->told = true;
		return;
	}
	if (amounts->soft) {
		total = amounts->soft;
		available = amounts->soft > amounts->used ? amounts->soft - amounts->used : 0;
	}
	show(df, path, total, amounts->used, available);
}

/* The first entry of any kind on the path's filesystem, in a table of its own. */
static void show_word(struct df *df, const char *word)
{
	int index = paths_find(df->session, word);

	df->header = !df->no_header;
	if (index >= 0)
		show_path(df, &df->session->paths[index]);
}

static void command_df(struct session *session, const struct invocation *invocation)
{
	const struct quota_options *options = invocation->options;
	struct df df = { .session = session, .no_header = options->no_header };

	/* All filesystems are shown at once. */
	if (session->pass > 0)
		return;
	df.style = options_style(options);
	df.form = df.style.form[ROW_BLOCKS]   ? FSQ_BLOCKS
		  : df.style.form[ROW_INODES] ? FSQ_INODES
					      : FSQ_REALTIME;
	if (!session_output_begin(session, options->file))
		return;
	paths_load_projects(session);
	df.header = !df.no_header;
	for (int i = 0; i < invocation->operand_count; i++)
		show_word(&df, invocation->operands[i]);
	if (invocation->operand_count == 0)
		for (size_t i = 0; i < session->path_count; i++)
			show_path(&df, &session->paths[i]);
	session_output_end(session);
}

const struct command df_command = {
	.name = "df",
	.alias = "free",
	.summary = "show free and used counts for blocks and inodes",
	.synopsis = "[-bir] [-hN] [-f file]",
	.help = "Size and free space of the filesystems, and of each project directory in\n"
		"the projects file, measured against its soft limit where it has one.",
	.options = (option_tables){ default_blocks_option, other_forms_options, human_option,
				    no_header_option, output_file_option, NULL },
	.options_size = sizeof(struct quota_options),
	.flags = COMMAND_XFS_QUOTA | COMMAND_FOREIGN | COMMAND_PATHS | COMMAND_WITHOUT_QUOTA,
	.run = command_df,
};
