/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "native/cli/options.h"
#include "native/cli/paths.h"
#include "native/rows/records.h"
#include "quota/base/path.h"
#include "quota/fsquota.h"
#include "quota/mounts/lookup.h"
#include "quota/usage/project_tree.h"

struct space_row {
	uint64_t total_bytes, used_bytes, available_bytes;    /* FIELD_NOT_KNOWN with -i */
	uint64_t total_inodes, used_inodes, available_inodes; /* only with -i */
	double percent;
	const char *filesystem, *path;
};

/* clang-format off */
#define MEMBER(name) .offset = offsetof(struct space_row, name)
#define NUMBER(column, name, type, help) { column, #name, type, MEMBER(name), help, .optional = true }
/* clang-format on */

static const struct field space_fields[] = {
	NUMBER("SIZE", total_bytes, FIELD_BYTES, "size, or the limit of a project"),
	NUMBER("USED", used_bytes, FIELD_BYTES, "space in use"),
	NUMBER("AVAIL", available_bytes, FIELD_BYTES, "space that is left"),
	NUMBER("INODES", total_inodes, FIELD_COUNT, "inodes, or their limit"),
	NUMBER("IUSED", used_inodes, FIELD_COUNT, "inodes in use"),
	NUMBER("IFREE", available_inodes, FIELD_COUNT, "inodes that are left"),
	{ "USE%", NULL, FIELD_PERCENT, MEMBER(percent), "how much of it is in use" },
	{ "FILESYSTEM", "filesystem", FIELD_TEXT, MEMBER(filesystem), "device of the filesystem" },
	{ "PATH", "path", FIELD_PATH, MEMBER(path), "mount point, or directory of a project" },
	{ 0 },
};

static const struct row_fields space_rows = { space_fields, sizeof(struct space_row),
					      .usual = "FILESYSTEM,SIZE,USED,AVAIL,USE%,PATH" };
static const struct row_fields inode_rows = { space_fields, sizeof(struct space_row),
					      .usual = "FILESYSTEM,INODES,IUSED,IFREE,USE%,PATH" };

static void show_space_row(struct session *session, enum fsq_form form,
			   const struct path_entry *path, uint64_t total, uint64_t used,
			   uint64_t available)
{
	bool inodes = form == FSQ_INODES;
	const struct space_row row = {
		.total_bytes = inodes ? FIELD_NOT_KNOWN : total,
		.used_bytes = inodes ? FIELD_NOT_KNOWN : used,
		.available_bytes = inodes ? FIELD_NOT_KNOWN : available,
		.total_inodes = inodes ? total : FIELD_NOT_KNOWN,
		.used_inodes = inodes ? used : FIELD_NOT_KNOWN,
		.available_inodes = inodes ? available : FIELD_NOT_KNOWN,
		.percent = percent_of_limit(used, total),
		.filesystem = path->info->device,
		.path = path->directory,
	};

	tables_row(session, &row);
}

/* Does the directory carry the project's ID and hand it on? If not, report an error. */
static bool is_project_alone(struct session *session, const struct path_entry *path)
{
	uint32_t id = 0;
	bool inherit = false;
	const struct fsq_mount_points *points = session_mounts(session);
	int fd = points ? fsq_lookup(points, path->directory, FSQ_LOOKUP_READ | O_NOFOLLOW, NULL)
			: -ENOMEM;
	int rc;

	if (fd < 0)
		return session_errno(session, 0, -fd, path->directory, "cannot open %s",
				     path->directory);
	rc = fsq_fd_get_project(fd, &id, &inherit);
	close(fd);
	if (rc)
		session_errno(session, 0, -rc, path->directory, "cannot read the project ID of %s",
			      path->directory);
	else if (!inherit || id != path->project)
		session_error(
			session, ERROR_AT_PATH, FSQ_E_CONFLICT, 0, path->directory,
			"has not the ID of its project, %u: fsquota project -s %u gives it to it",
			path->project, path->project);
	else
		return true;
	return false;
}

/* A project directory is measured against the limit that stops first. @return  whether it was shown */
static bool show_project_space(struct session *session, enum fsq_form form,
			       const struct path_entry *path, uint64_t total, uint64_t available)
{
	uint64_t unit = form == FSQ_INODES ? 1 : FSQ_BASIC_BLOCK, limit;
	const struct fsq_amounts *amounts;
	struct fsq_dquot dquot;
	struct fsq_state state;
	int rc;

	if (fsq_quota_state(path->fs, FSQ_PROJECT, &state) || !state.accounting[FSQ_PROJECT] ||
	    !is_project_alone(session, path))
		return true;
	rc = fsq_quota_get(path->fs, FSQ_PROJECT, path->project, &dquot);
	if (rc)
		return session_errno(session, 0, -rc, path->directory,
				     "project directories are left out");
	amounts = &dquot.form[form];
	limit = records_first_limit(&dquot, form);
	if (limit) {
		total = limit * unit;
		available = limit > amounts->used ? (limit - amounts->used) * unit : 0;
	}
	show_space_row(session, form, path, total, amounts->used * unit, available);
	return true;
}

/* --- what is asked for --- */

/* What a directory stands for: the projects in it, or else those that it is in, or else its filesystem. */
enum meaning { MEANS_NOTHING, MEANS_FILESYSTEM, MEANS_OUTER, MEANS_INNER };

static enum meaning relation(const struct path_entry *path, const struct scope *scope)
{
	if (scope->dev != path->info->dev || scope->whole)
		return MEANS_NOTHING;
	if (!path->is_project)
		return MEANS_FILESYSTEM;
	if (scope_has(scope, 0, path->directory))
		return MEANS_INNER;
	return fsq_path_below(path->directory, scope->directory, strlen(scope->directory))
		       ? MEANS_OUTER
		       : MEANS_NOTHING;
}

/* @return   what each scope stands for, for free(3); NULL without memory */
static enum meaning *find_meanings(const struct session *session, const struct scopes *scopes)
{
	enum meaning *meanings = calloc(scopes->count + 1, sizeof(*meanings));

	for (size_t i = 0; meanings && i < scopes->count; i++)
		for (size_t j = 0; j < session->path_count; j++) {
			enum meaning is = relation(&session->paths[j], &scopes->list[i]);

			meanings[i] = is > meanings[i] ? is : meanings[i];
		}
	return meanings;
}

static bool is_asked(const struct session *session, int index, const struct scopes *scopes,
		     const enum meaning *meanings)
{
	const struct path_entry *path = &session->paths[index];
	bool asked = scopes->count == 0;

	/* The filesystem was shown under another name. */
	if (!asked && !path->is_project && paths_find_dev(session, path->info->dev) < index)
		return false;
	for (size_t i = 0; i < scopes->count && !asked; i++)
		asked = scopes->list[i].dev == path->info->dev &&
			(scopes->list[i].whole || relation(path, &scopes->list[i]) == meanings[i]);
	return asked;
}

/* With a file among them all is shown. */
static void read_words(struct session *session, char **words, struct scopes *scopes)
{
	struct stat st;

	for (; *words; words++) {
		if (fsq_lookup_stat(NULL, *words, 0, &st, NULL) == 0 && S_ISDIR(st.st_mode)) {
			scopes_add_path(scopes, session, *words, false);
			continue;
		}
		scopes_free(scopes);
		*scopes = (struct scopes){ 0 };
		break;
	}
}

static void command_df(struct session *session, const struct invocation *invocation)
{
	struct scopes scopes = { 0 };
	enum meaning *meanings;
	const struct quota_options *options = invocation->options;
	enum fsq_form form = options->form[FSQ_BLOCKS] || !options_has_form(options) ? FSQ_BLOCKS
			     : options->form[FSQ_INODES]			     ? FSQ_INODES
										     : FSQ_REALTIME;
	bool projects = true;

	session->table.type = form == FSQ_INODES ? &inode_rows : &space_rows;
	paths_load_projects(session);
	read_words(session, invocation->operands + invocation->operand_count, &scopes);
	meanings = find_meanings(session, &scopes);
	if (!meanings)
		session_no_memory(session);
	for (size_t i = 0; i < session->path_count && meanings; i++) {
		const struct path_entry *path = &session->paths[i];
		struct fsq_space space[FSQ_FORMS];

		if ((path->is_project && !projects) ||
		    !is_asked(session, (int)i, &scopes, meanings))
			continue;
		if (!paths_read_space(session, path, path->directory, space))
			continue;
		if (path->is_project)
			projects = show_project_space(session, form, path, space[form].total,
						      space[form].free);
		else
			show_space_row(session, form, path, space[form].total,
				       space[form].total - space[form].free, space[form].free);
	}
	free(meanings);
	scopes_free(&scopes);
}

const struct command df_command = {
	.name = "df",
	.alias = "free",
	.group = GROUP_RECORDS,
	.summary = "show size and free space of filesystems and projects",
	.synopsis = "[-bir] [-h] [-f file]",
	.help = "Size and free space of the filesystems, and of each project directory in\n"
		"the projects file, measured against the limit that stops first; of a\n"
		"directory, of the projects in it, or of the one that it is in.",
	.example = "df /srv\n"
		   "df -i --json",
	.options = (option_tables){ form_options, human_option, output_file_option, NULL },
	.rows = &space_rows,
	.options_size = sizeof(struct quota_options),
	.flags = COMMAND_FILESYSTEMS | COMMAND_ONCE | COMMAND_PATHS | COMMAND_WITHOUT_QUOTA |
		 COMMAND_READS,
	.run = command_df,
};
