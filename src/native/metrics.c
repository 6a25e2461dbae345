/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "listing.h"
#include "options.h"
#include "openmetrics.h"
#include "paths.h"
#include "projects.h"
#include "quota/fsquota.h"
#include "replacement.h"

struct metrics_options {
	struct fsq_id_range range; /* all zero: every project */
	bool no_path_label;
	const char *output_file;
};

static bool take_id_range(struct session *session, const struct command_option *option, void *to,
			  const char *text)
{
	struct metrics_options *options = to;

	(void)option;
	if (fsq_parse_id_range(text, &options->range) == 0)
		return true;
	session_usage_error(session, "\"%s\" is no range of project IDs, such as 1048577-2000000",
			    text);
	return false;
}

/* --- rows --- */

static bool is_chosen(const struct metrics_options *options, const struct table_style *style,
		      const struct project_row *row)
{

	if (options->range.first &&
	    (row->id < options->range.first || row->id > options->range.last))
		return false;
	return !style->has_over || row->percent >= style->over;
}

static struct metrics_filesystem filesystem_row(const struct projects *projects, size_t filesystem)
{
	const struct path_entry *path = &projects->session->paths[filesystem];
	const struct project_sum *sum = &projects->sums[filesystem];
	struct metrics_filesystem row = {
		.filesystem = path->info->device,
		.mountpoint = path->info->directory,
		.has_state = sum->has_state,
		.accounting = sum->accounting,
		.enforced = sum->enforced,
		.has_sums = sum->known,
		.projects = sum->projects,
		.hard_bytes = sum->hard_bytes,
		.unlimited = sum->unlimited,
		.none_bytes = sum->none.used_bytes,
		.none_inodes = sum->none.used_inodes,
		.success = !sum->failed,
		.scan_nanoseconds = sum->scan_nanoseconds,
		.scanned_nanoseconds = sum->scanned_nanoseconds,
	};
	struct fsq_space space[FSQ_FORMS];

	row.has_space = fsq_filesystem_space(path->fs, path->info->directory, space) == 0;
	if (row.has_space) {
		row.size_bytes = space[FSQ_BLOCKS].total;
		row.used_bytes = space[FSQ_BLOCKS].total - space[FSQ_BLOCKS].free;
	}
	return row;
}

/* --- showing --- */

static void show_filesystems(const struct projects *projects, struct metrics_filesystem *rows)
{
	struct writer *w = projects->session->out;

	for (size_t i = 0; i < projects->filesystem; i++)
		if (projects->sums[i].asked)
			rows[i] = filesystem_row(projects, i);
	for (size_t metric = 0; metric < openmetrics_filesystems(); metric++) {
		openmetrics_filesystem_begin(w, metric);
		for (size_t i = 0; i < projects->filesystem; i++)
			if (projects->sums[i].asked)
				openmetrics_filesystem_row(w, metric, &rows[i]);
	}
}

static void show_projects(const struct projects *projects, const struct metrics_options *options,
			  const char **directories)
{
	struct writer *w = projects->session->out;

	for (size_t metric = 0; metric < openmetrics_projects(); metric++) {
		openmetrics_project_begin(w, metric);
		for (size_t i = 0; i < projects->count; i++) {
			struct project_row row =
				projects_row(projects, &projects->all[i], directories);

			if (is_chosen(options, &projects->session->style, &row))
				openmetrics_project_row(w, metric, &row, !options->no_path_label);
		}
	}
}

static void show(const struct projects *projects, const struct metrics_options *options)
{
	struct session *session = projects->session;
	const char **directories = calloc(projects->known_count + 1, sizeof(*directories));
	struct metrics_filesystem *rows = calloc(projects->filesystem + 1, sizeof(*rows));
	struct replacement file;
	sigset_t signals_before;

	/* Whoever ends the process leaves no temporary file. */
	block_termination_signals(&signals_before);
	if (!directories || !rows) {
		session_errno(session, 0, ENOMEM, NULL, "cannot show all");
	} else if (replacement_begin(session, &file, options->output_file)) {
		show_projects(projects, options, directories);
		show_filesystems(projects, rows);
		openmetrics_end(session->out);
		replacement_end(session, &file, !is_signal_pending(NULL));
	}
	restore_signals(&signals_before);
	free(directories);
	free(rows);
}

static void command_metrics(struct session *session, const struct invocation *invocation)
{
	const struct metrics_options *options = invocation->options;
	bool all = invocation->operand_count == 0;
	struct projects projects = { .session = session, .want_sums = true, .pass_over = all };

	for (int i = 0; i < invocation->operand_count; i++)
		scopes_add_path(&projects.scopes, session, invocation->operands[i], false);
	if (all)
		paths_add_all_with_quota(session, false);
	if (projects.scopes.count > 0 || (all && session->path_count)) {
		projects_collect(&projects);
		session_names(session);
		/* Incomplete output would look complete. */
		if (!session->no_memory)
			show(&projects, options);
	}
	projects_free(&projects);
}

#define FIELD(member) offsetof(struct metrics_options, member)

static const struct command_option own_options[] = {
	{ 0, "id-range", "only projects with these IDs", .kind = VALUE_ID, .argument = "A-B",
	  .take = take_id_range },
	{ 0, "no-path-label", "series without the directory", .field = FIELD(no_path_label) },
	{ 0, "output-file", "replace FILE by it, at once or not at all", .kind = VALUE_FILE,
	  .argument = "FILE", .field = FIELD(output_file) },
	{ 0 },
};

const struct command metrics_command = {
	.name = "metrics",
	.summary = "show use and limits of projects as OpenMetrics text",
	.synopsis = "[OPTION]... [DIR|PATH]...",
	.help = "Show use and limits of the projects whose directories are at or below DIR, or\n"
		"all of a filesystem, for Prometheus: PATH is its mount point or device. Without\n"
		"any: of all that have quota. node_exporter reads FILE in the directory of its\n"
		"textfile collector, if its name ends in .prom.",
	.options = (option_tables){ over_option, own_options, registry_options, help_option, NULL },
	.operands = { { VALUE_PATH, "PATH", true } },
	.options_size = sizeof(struct metrics_options),
	.flags = COMMAND_CONFIG,
	.run = command_metrics,
};
