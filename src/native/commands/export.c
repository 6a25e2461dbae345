/* SPDX-License-Identifier: Apache-2.0 */
/* The quotas that there are, as lines of fsquota.d(5). */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "native/cli/line.h"
#include "native/cli/options.h"
#include "native/rows/change.h"
#include "native/rows/projects.h"
#include "native/rows/records.h"
#include "quota/fsquota.h"
#include "quota/base/pod_path.h"
#include "quota/mounts/lookup.h"

struct export_options {
	bool ids;
};

/* What the kernel has unless somebody sets another time. */
#define USUAL_GRACE_SECONDS (7 * 86400)

/* A directory, a project without one, or a filesystem with its grace times. */
struct exported_row {
	struct project_row of;
	const char *remark;	 /* why it is written as a comment; or NULL */
	bool with_name, with_id; /* in the line */
	int64_t bytes_grace_seconds, inodes_grace_seconds; /* or FIELD_NO_SECONDS */
};

#define MEMBER(name) .offset = offsetof(struct exported_row, name)

static const struct field exported_fields[] = {
	{ "PATH", "path", FIELD_PATH, MEMBER(of.path), "the directory" },
	{ "ID", "id", FIELD_ID, MEMBER(of.id), "project ID" },
	{ "NAME", "name", FIELD_TEXT, MEMBER(of.name), "name of the project" },
	FIELDS_OF_LIMITS(struct exported_row, of.),
	{ "GRACE", "bytes_grace_seconds", FIELD_SECONDS, MEMBER(bytes_grace_seconds),
	  "of a filesystem: how long soft limits of space can be exceeded", .optional = true },
	{ "IGRACE", "inodes_grace_seconds", FIELD_SECONDS, MEMBER(inodes_grace_seconds),
	  "the same for inodes", .optional = true },
	{ "REMARK", "remark", FIELD_TEXT, MEMBER(remark), "why apply cannot do it, if so" },
	{ 0 },
};

/* In the largest unit that says it. */
static void write_grace(struct writer *w, const char *key, int64_t seconds)
{
	static const struct {
		char letter;
		int64_t seconds;
	} units[] = { { 'd', 86400 }, { 'h', 3600 }, { 'm', 60 } };

	write_text(w, key);
	for (size_t i = 0; seconds && i < sizeof(units) / sizeof(units[0]); i++)
		if (seconds % units[i].seconds == 0) {
			write_number(w, (uint64_t)(seconds / units[i].seconds));
			write_char(w, units[i].letter);
			return;
		}
	write_number(w, (uint64_t)seconds);
}

static void write_export_line(struct writer *w, const void *arg)
{
	const struct exported_row *row = arg;
	const struct project_row *of = &row->of;
	const bool of_times = row->bytes_grace_seconds != FIELD_NO_SECONDS;

	if (row->remark)
		write_text(w, "# ");
	if (!of->path) {
		write_format(w, "project %u", of->id);
	} else if (row->remark) {
		write_escaped(w, of->path);
	} else {
		line_write_path(w, of->path);
	}
	if (of_times)
		write_grace(w, " grace=", row->bytes_grace_seconds);
	else
		line_write_limits(w, of->hard_bytes, of->soft_bytes, of->hard_inodes,
				  of->soft_inodes);
	if (of_times && row->inodes_grace_seconds != row->bytes_grace_seconds)
		write_grace(w, " grace-inodes=", row->inodes_grace_seconds);
	if (row->with_name) {
		write_text(w, " name=");
		write_escaped(w, of->name);
	}
	if (row->with_id && of->path)
		write_format(w, " id=%u", of->id);
	if (row->remark)
		write_format(w, ": %s", row->remark);
	write_char(w, '\n');
}

static const struct row_fields exported_rows = { exported_fields, sizeof(struct exported_row),
						 "PATH,HARD,SOFT,IHARD,ISOFT,NAME,ID",
						 write_export_line };

/* @return   NULL: a line can say it */
static const char *remark_of(struct session *session, const char *path, dev_t dev)
{
	const struct fsq_mount_points *points = session_mounts(session);
	struct stat st;
	int rc = points ? fsq_lookup_stat(points, path, O_NOFOLLOW, &st, NULL) : -EIO;

	if (rc)
		return rc == -ENOENT || rc == -ENOTDIR ? "the directory is not there"
						       : "the directory cannot be looked at";
	if (!S_ISDIR(st.st_mode))
		return S_ISLNK(st.st_mode) ? "a symlink is in its place"
					   : "the directory is not there";
	if (st.st_dev != dev)
		return "the directory is on another filesystem";
	return fsq_is_of_pod(path) ? "it is a volume of a pod, to which kubelet gives its ID"
				   : NULL;
}

static void show_project_line(struct projects *projects, const struct project *project,
			      const struct export_options *options)
{
	struct session *session = projects->session;
	struct exported_row row = { .of = projects_row(projects, project),
				    .remark = "no directory is registered",
				    .bytes_grace_seconds = FIELD_NO_SECONDS,
				    .inodes_grace_seconds = FIELD_NO_SECONDS };
	const struct project_row *of = &row.of;
	const size_t count = of->directories.count;
	const dev_t dev = session->paths[project->filesystem].info->dev;
	const struct until_line *line = until_find(session, projects->until, of->id, dev);
	char usual[FSQ_USUAL_NAME], date[UNTIL_DATE];

	/* What resize --until has set does not last. */
	if (line && session_has_person(session))
		session_warn(session, line->directory,
			     "the limits are those that last: it has others up to %s",
			     until_date(date, line->when));
	if (line) {
		const struct record_row lasting = change_values(&line->before);

		row.of.hard_bytes = lasting.hard_bytes;
		row.of.soft_bytes = lasting.soft_bytes;
		row.of.hard_inodes = lasting.hard_inodes;
		row.of.soft_inodes = lasting.soft_inodes;
	}

	/* Leave out the name that assign would choose; for several directories it must be written. */
	fsq_usual_name(usual, of->id);
	row.with_name = of->name && (count != 1 || strcmp(of->name, usual) != 0) &&
			fsq_project_name_is_valid(of->name);
	row.with_id = options->ids || (count > 1 && !row.with_name);
	if (count == 0)
		tables_row(session, &row);
	for (size_t i = 0; i < count; i++) {
		row.of.path = of->directories.texts[i];
		row.remark = remark_of(session, row.of.path, dev);
		tables_row(session, &row);
	}
}

/* A line for each filesystem that is asked for whole, and whose times are not the usual ones. */
static void show_grace_lines(const struct projects *projects)
{
	struct session *session = projects->session;

	for (size_t i = 0; i < session->path_count; i++) {
		const struct fsq_filesystem_info *info = session->paths[i].info;
		struct exported_row row = { .of.path = info->directory };
		struct fsq_state state;

		if (!scopes_want(&projects->scopes, info->dev, 0, info->directory) ||
		    fsq_quota_state(session->paths[i].fs, FSQ_PROJECT, &state) ||
		    !state.accounting[FSQ_PROJECT])
			continue;
		row.bytes_grace_seconds = state.grace_seconds[FSQ_BLOCKS];
		row.inodes_grace_seconds = state.grace_seconds[FSQ_INODES];
		row.remark =
			strchr(info->directory, '\n') ? "there is a newline in its name" : NULL;
		if (row.bytes_grace_seconds != USUAL_GRACE_SECONDS ||
		    row.inodes_grace_seconds != USUAL_GRACE_SECONDS)
			tables_row(session, &row);
	}
}

static void command_export(struct session *session, const struct invocation *invocation)
{
	struct until until = { 0 };
	struct projects projects = { .session = session, .type = FSQ_PROJECT, .until = &until };

	until_read_silently(session, &until);
	for (int i = 0; i < invocation->operand_count; i++)
		scopes_add_path(&projects.scopes, session, invocation->operands[i], false);
	/* apply handles a directory before those in it. */
	if (session->style.sort_count == 0)
		table_sort(&session->style, &exported_rows, "PATH");
	if (projects_collect_scopes(&projects, invocation->operand_count == 0)) {
		for (size_t i = 0; i < projects.count; i++)
			show_project_line(&projects, &projects.all[i], invocation->options);
		show_grace_lines(&projects);
		tables_end(session);
		projects_tell_of_empty(&projects, projects.count == 0);
	}
	projects_free(&projects);
	until_free(&until);
}

static const struct command_option export_options[] = {
	{ 0, "ids", "also the IDs, for a node that is to have the same",
	  .field = offsetof(struct export_options, ids) },
	{ 0 },
};

const struct command export_command = {
	.name = "export",
	.group = GROUP_NODE,
	.summary = "print the quotas that there are as lines for apply",
	.synopsis = "[OPTION]... [DIR|PATH]...",
	.help = "Print a line of fsquota.d(5) for each directory that has a quota: those at or\n"
		"below DIR, or of a filesystem, or all. What apply cannot do is a comment.",
	.example = "export /srv >/etc/fsquota.d/srv.conf\n"
		   "export --ids | ssh node2 fsquota apply -",
	.options = (option_tables){ export_options, table_options, registry_options, help_option,
				    NULL },
	.operands = { { VALUE_PATH, "PATH", true } },
	.options_size = sizeof(struct export_options),
	.rows = &exported_rows,
	.flags = COMMAND_CONFIG | COMMAND_READS | COMMAND_SAVES,
	.run = command_export,
};
