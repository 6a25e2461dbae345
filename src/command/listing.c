/* SPDX-License-Identifier: Apache-2.0 */
#include "listing.h"

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "change.h"
#include "dquots.h"
#include "names.h"
#include "options.h"
#include "output/project_order.h"
#include "projects.h"

static bool take_raw(struct session *session, const struct command_option *option, void *to,
		     const char *value)
{
	struct project_style *style = to;

	(void)session, (void)value;
	style->format = option->letter == 'P' ? PROJECT_PAIRS : PROJECT_RAW;
	return true;
}

static bool take_output(struct session *session, const struct command_option *option, void *to,
			const char *names)
{
	const char *wrong = project_columns(to, option->letter ? names : "all");

	if (!wrong)
		return true;
	session_usage_error(session, "there is no column \"%.*s\"; see --list-columns",
			    (int)strcspn(wrong, ","), wrong);
	return false;
}

/* Nothing else is done. */
static bool take_list_columns(struct session *session, const struct command_option *option,
			      void *to, const char *value)
{
	(void)option, (void)to, (void)value;
	project_columns_list(session->out);
	return false;
}

static bool take_sort(struct session *session, const struct command_option *option, void *to,
		      const char *keys)
{
	const char *wrong = project_order(to, keys);

	(void)option;
	if (!wrong)
		return true;
	session_usage_error(session, "--sort: there is no column \"%.*s\"; see --list-columns",
			    (int)strcspn(wrong, ","), wrong);
	return false;
}

static bool take_over(struct session *session, const struct command_option *option, void *to,
		      const char *text)
{
	struct project_style *style = to;

	(void)option;
	style->has_over = true;
	return options_percentage(session, text, 0, &style->over);
}

#define FIELD(member) offsetof(struct project_style, member)

const struct command_option listing_options[] = {
	{ 'o', "output", "these columns, +LIST: besides the usual", .kind = VALUE_COLUMNS,
	  .argument = "LIST", .take = take_output },
	{ 0, "output-all", "all columns", .take = take_output },
	{ 0, "list-columns", "which there are", .take = take_list_columns },
	{ 'b', "bytes", "sizes in bytes", .field = FIELD(bytes) },
	{ 'n', "noheadings", "no line of headings", .field = FIELD(no_headings) },
	{ 0, "color", "mark what is full: auto, never, always", .kind = VALUE_CHOICE,
	  .argument = "WHEN", .choices = "auto never always",
	  .choices_text = "auto, never or always", .field = FIELD(color) },
	{ 'r', "raw", "columns separated by a blank, \\x20 for a blank in one", .take = take_raw },
	{ 'P', "pairs", "NAME=\"VALUE\" pairs", .take = take_raw },
	{ 0 },
};

const struct command_option sort_option[] = {
	{ 0, "sort", "by columns, -COLUMN: largest first; -used,name", .kind = VALUE_COLUMNS,
	  .argument = "LIST", .take = take_sort },
	{ 0 },
};

const struct command_option over_option[] = {
	{ 0, "over", "only what uses so much of its limit, or more", .kind = VALUE_NUMBER,
	  .argument = "PERCENT", .take = take_over },
	{ 0 },
};

struct project_row listing_row(struct session *session, const char *path,
			       const struct fsq_usage *usage)
{
	int64_t now = 0;

	return listing_row_at(session, path, usage, &now);
}

struct project_row listing_row_at(struct session *session, const char *path,
				  const struct fsq_usage *usage, int64_t *now)
{
	static const char *const sources[] = {
		[FSQ_USAGE_QUOTA] = "quota",
		[FSQ_USAGE_WALK] = "walk",
		[FSQ_USAGE_STATFS] = "statfs",
	};

	return (struct project_row){
		.path = path,
		.id = usage->id,
		.name = usage->id ? names_of_id(session, FSQ_PROJECT, usage->id) : NULL,
		.used_bytes = usage->used_bytes,
		.used_inodes = usage->used_inodes,
		.soft_bytes = usage->soft_bytes,
		.hard_bytes = usage->hard_bytes,
		.soft_inodes = usage->soft_inodes,
		.hard_inodes = usage->hard_inodes,
		.bytes_grace_seconds = dquot_grace_left(usage->bytes_expires, now),
		.inodes_grace_seconds = dquot_grace_left(usage->inodes_expires, now),
		.source = sources[usage->source],
		.filesystem = usage->device,
		.mountpoint = usage->mountpoint,
		.accounting = usage->accounting,
		.enforced = usage->enforced,
		.at_least = usage->at_least,
	};
}

/* On a terminal that knows colours, unless the user wants none: see no-color.org. */
static bool is_colored(const struct session *session, const struct project_style *style)
{
	const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");

	if (style->color != COLOR_AUTO)
		return style->color == COLOR_ALWAYS;
	if (style->format != PROJECT_TABLE || (none && *none) || !terminal ||
	    strcmp(terminal, "dumb") == 0)
		return false;
	return isatty(session->out->fd);
}

struct project_output *listing_begin(struct session *session, const struct project_style *style,
				     const char *key, bool single)
{
	struct project_style chosen = *style;
	struct project_output *output;

	chosen.colored = !session->json && is_colored(session, style);
	output = project_output_begin(session->out, &chosen, key, single, session->json);
	if (!output)
		session_errno(session, 0, ENOMEM, NULL, "cannot print all");
	return output;
}

void listing_add(struct session *session, struct project_output *output,
		 const struct project_row *row)
{
	if (project_output_row(output, row))
		session_errno(session, 0, ENOMEM, NULL, "cannot print all");
}

void listing_end(struct session *session, struct project_output *output)
{
	if (project_output_end(output))
		session_errno(session, 0, ENOMEM, NULL, "cannot print all");
}

/* Where a directory is that has no project yet, or is not there: then the next one above tells. */
static void find_place(const char *directory, struct fsq_usage *usage)
{
	char *copy = strdup(directory), *above = copy, *real = NULL;
	struct fsq_support support;
	int rc = copy ? fsq_supported(copy, &support, NULL) : -ENOMEM;

	while (rc && !real && above && strcmp(above, "/") != 0 && strcmp(above, ".") != 0) {
		above = dirname(above);
		real = realpath(above, NULL);
	}
	if (real)
		rc = fsq_supported(real, &support, NULL);
	if (rc == 0) {
		usage->device = support.device ? strdup(support.device) : NULL;
		usage->mountpoint = support.mountpoint ? strdup(support.mountpoint) : NULL;
		usage->accounting = true;
		usage->enforced = support.enforced;
		fsq_support_clear(&support);
	}
	free(real);
	free(copy);
}

/* In a dry run: as it would be. What another project uses now is not known of this one. */
static void foresee(struct fsq_usage *usage, const struct listing_change *change)
{
	const struct applied_limits limits = change_limits_row(&change->limits);

	if (usage->id != change->id) {
		usage->used_bytes = usage->used_inodes = FSQ_NOT_KNOWN;
		usage->bytes_expires = usage->inodes_expires = 0;
	}
	usage->id = change->id;
	usage->soft_bytes = limits.soft_bytes;
	usage->hard_bytes = limits.hard_bytes;
	usage->soft_inodes = limits.soft_inodes;
	usage->hard_inodes = limits.hard_inodes;
}

static bool find_usage(struct session *session, const struct listing_change *change,
		       struct fsq_usage *usage)
{
	const struct fsq_usage_request request = {
		.size = sizeof(request),
		.path = change->directory,
		.projects_file = session->projects_file,
	};
	struct fsq_error err;
	int rc = fsq_usage_get(usage, &request, &err);

	if (rc && !session->dry_run) {
		session_fail(session, &err);
		return false;
	}
	if (rc) {
		*usage = (struct fsq_usage){ .source = FSQ_USAGE_QUOTA };
		find_place(change->directory, usage);
	}
	if (session->dry_run)
		foresee(usage, change);
	return true;
}

bool listing_show_change(struct session *session, struct project_output **output, const char *key,
			 const struct listing_change *change)
{
	const struct project_style style = { 0 };
	struct project_output *single = NULL, **rows = output ? output : &single;
	struct project_row row;
	struct fsq_usage usage;

	if (!find_usage(session, change, &usage))
		return false;
	if (!*rows)
		*rows = listing_begin(session, &style, key, !output);
	if (*rows) {
		row = listing_row(session, change->directory, &usage);
		row.name = row.name ? row.name : change->name;
		row.enforced &= change->enforced;
		row.change = change_word(change->changed);
		row.would = session->dry_run;
		row.walked = change->walked;
		row.mounts_skipped = change->mounts_skipped;
		listing_add(session, *rows, &row);
	}
	if (single)
		listing_end(session, single);
	fsq_usage_clear(&usage);
	return true;
}

void listing_add_chosen(struct session *session, struct project_output *output, const dev_t *dev,
			const struct listing_change *change)
{
	struct projects projects = { .session = session };
	const char **directories = NULL;

	if (projects_collect_chosen(&projects)) {
		directories = calloc(projects.known_count + 1, sizeof(*directories));
		if (!directories)
			session_errno(session, 0, ENOMEM, NULL, "cannot print all");
	}
	for (size_t i = 0; directories && i < projects.count; i++) {
		struct project project = projects.all[i];
		struct project_row row;

		if (dev && session->paths[project.filesystem].info->dev != *dev)
			continue;
		if (change && session->dry_run)
			foresee(&project.usage, change);
		row = projects_row(&projects, &project, directories);
		row.directories = NULL;
		row.change = change ? change_word(change->changed) : ROW_ONLY_SHOWN;
		row.would = session->dry_run;
		listing_add(session, output, &row);
	}
	free(directories);
	projects_free(&projects);
}
