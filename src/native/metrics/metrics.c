/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "http.h"
#include "native/apply/file.h"
#include "native/cli/options.h"
#include "native/cli/paths.h"
#include "native/cli/pods.h"
#include "native/cli/replacement.h"
#include "native/rows/projects.h"
#include "native/rows/totals.h"
#include "quota/base/error.h"
#include "quota/fsquota.h"
#include "shared/array.h"
#include "shared/utf8.h"

struct metrics_options {
	struct quota_options types;
	struct fsq_id_range range; /* all zero: every project */
	bool no_path_label, info, quick;
	const char *metrics; /* names, separated by commas; NULL: all */
	const char *output_file, *listen;
};

/* --- the metrics; a value that is not set or unknown has no sample --- */

/* A project, user or group, with the labels that all of its samples share. */
struct series {
	size_t labels; /* end of its labels in all_series.labels; they begin where those before end */
	struct project_row row;
	bool in_force, knows_force;
};

struct filesystem_row {
	const char *filesystem, *mountpoint;
	uint64_t size_bytes, used_bytes; /* or FIELD_NOT_KNOWN */
	struct project_sum sum;
	bool looked; /* at the directories */
};

enum value_type {
	METRIC_NUMBER,	    /* uint64_t, or FIELD_NOT_KNOWN */
	METRIC_LIMIT,	    /* the same, 0: none */
	METRIC_SECONDS,	    /* int64_t, FIELD_NO_SECONDS: none */
	METRIC_NANOSECONDS, /* uint64_t, shown in seconds */
	METRIC_BOOL,
};

/* Offset of a value in its row, and of a bool that says whether the value is known; ALWAYS: it is. */
struct value {
	enum value_type type;
	size_t member, needs;
	const char *limit; /* value of the label "limit"; NULL: no such label */
};

struct metric {
	const char *name;
	const char *unit; /* the suffix of the name; NULL: none */
	const char *help; /* must need no escape */
	struct value values[2];
	size_t value_count;
};

#define ALWAYS SIZE_MAX
#define OF_PROJECT(member) offsetof(struct series, row.member)
#define ONE(type, member) { { type, OF_PROJECT(member), ALWAYS, NULL } }, 1

/* With --info. */
static const struct metric project_info = {
	"fsquota_project_info", NULL, "1; its labels tell whose project it is.", { { 0 } }, 0
};

static const struct metric up = {
	"fsquota_up",
	NULL,
	"1: filesystems with quota were found; 0: none were, for the reason of the label.",
	{ { 0 } },
	0
};

#define USED_AND_LIMITS(of)                                                                        \
	{ "fsquota_" of "_used_bytes", "bytes", "Space that the files of the " of " use.",         \
	  ONE(METRIC_NUMBER, used_bytes) },                                                        \
		{ "fsquota_" of "_soft_bytes", "bytes",                                            \
		  "Soft limit of space; no sample: none is set.", ONE(METRIC_LIMIT, soft_bytes) }, \
		{ "fsquota_" of "_hard_bytes", "bytes",                                            \
		  "Hard limit of space; no sample: none is set.", ONE(METRIC_LIMIT, hard_bytes) }, \
		{ "fsquota_" of "_used_inodes", "inodes", "Files and directories of the " of ".",  \
		  ONE(METRIC_NUMBER, used_inodes) },                                               \
		{ "fsquota_" of "_soft_inodes", "inodes",                                          \
		  "Soft limit of inodes; no sample: none is set.",                                 \
		  ONE(METRIC_LIMIT, soft_inodes) },                                                \
		{ "fsquota_" of "_hard_inodes", "inodes",                                          \
		  "Hard limit of inodes; no sample: none is set.",                                 \
		  ONE(METRIC_LIMIT, hard_inodes) },                                                \
	{                                                                                          \
		"fsquota_" of "_grace_seconds", "seconds",                                         \
			"Time left above the soft limit of the label; 0: it is over, and writing " \
			"fails; no "                                                               \
			"sample: not above it.",                                                   \
			{ { METRIC_SECONDS, OF_PROJECT(bytes_grace_seconds), ALWAYS, "bytes" },    \
			  { METRIC_SECONDS, OF_PROJECT(inodes_grace_seconds), ALWAYS,              \
			    "inodes" } },                                                          \
			2                                                                          \
	}

static const struct metric of_projects[] = {
	USED_AND_LIMITS("project"),
	{ "fsquota_project_limit_bytes", "bytes",
	  "Limit of space, soft or hard, as statfs shows it; no sample: quotas were read.",
	  ONE(METRIC_NUMBER, limit_bytes) },
	{ "fsquota_project_limit_inodes", "inodes", "The same of inodes.",
	  ONE(METRIC_NUMBER, limit_inodes) },
	{ "fsquota_project_in_force",
	  NULL,
	  "1: its limits hold in its directories; 0: a directory is outside, or limits are not "
	  "enforced; no sample: there is none.",
	  { { METRIC_BOOL, offsetof(struct series, in_force), offsetof(struct series, knows_force),
	      NULL } },
	  1 },
};
static const struct metric of_users[] = { USED_AND_LIMITS("user") };
static const struct metric of_groups[] = { USED_AND_LIMITS("group") };

#define OF_FILESYSTEM(member) offsetof(struct filesystem_row, member)
#define IF(needs, type, member) { { type, OF_FILESYSTEM(member), OF_FILESYSTEM(needs), NULL } }, 1
#define EVER(type, member) { { type, OF_FILESYSTEM(member), ALWAYS, NULL } }, 1

static const struct metric of_filesystems[] = {
	{ "fsquota_filesystem_size_bytes", "bytes", "Size of the filesystem.",
	  EVER(METRIC_NUMBER, size_bytes) },
	{ "fsquota_filesystem_used_bytes", "bytes", "Space in use on the filesystem.",
	  EVER(METRIC_NUMBER, used_bytes) },
	{ "fsquota_filesystem_accounting", NULL, "1: the use of projects is counted; 0: it is not.",
	  IF(sum.has_state, METRIC_BOOL, sum.accounting) },
	{ "fsquota_filesystem_enforced", NULL,
	  "1: limits of projects are enforced; 0: they are not.",
	  IF(sum.has_state, METRIC_BOOL, sum.enforced) },
	{ "fsquota_filesystem_projects", NULL, "Projects with use or limits.",
	  IF(sum.known, METRIC_NUMBER, sum.projects) },
	{ "fsquota_filesystem_unlimited_projects", NULL,
	  "Projects with use or limits, but without a hard limit of space.",
	  IF(sum.known, METRIC_NUMBER, sum.unlimited) },
	{ "fsquota_filesystem_hard_limits_bytes", "bytes",
	  "Sum of the hard limits of space of all projects.",
	  IF(sum.known, METRIC_NUMBER, sum.hard_bytes) },
	{ "fsquota_filesystem_no_project_used_bytes", "bytes",
	  "Space that files use which belong to no project.",
	  IF(sum.known, METRIC_NUMBER, sum.none.used_bytes) },
	{ "fsquota_filesystem_no_project_used_inodes", "inodes",
	  "Files and directories that belong to no project.",
	  IF(sum.known, METRIC_NUMBER, sum.none.used_inodes) },
	{ "fsquota_filesystem_gone_directories", NULL,
	  "Registered directories that are gone, such as volumes of pods; fsquota prune removes "
	  "their "
	  "lines and limits.",
	  IF(looked, METRIC_NUMBER, sum.gone) },
	{ "fsquota_filesystem_scan_success", NULL,
	  "1: the quotas of the filesystem were read; 0: that failed.",
	  EVER(METRIC_BOOL, sum.success) },
	{ "fsquota_filesystem_scan_duration_seconds", "seconds", "How long it took to read them.",
	  EVER(METRIC_NANOSECONDS, sum.scan_nanoseconds) },
	{ "fsquota_filesystem_scan_timestamp_seconds", "seconds",
	  "When they were read, in seconds since 1970.",
	  EVER(METRIC_NANOSECONDS, sum.scanned_nanoseconds) },
};

#define OF_BUDGET(member) { { METRIC_NUMBER, offsetof(struct total_row, member), ALWAYS, NULL } }, 1

/* A budget with an empty path label is that of a filesystem. */
static const struct metric of_budgets[] = {
	{ "fsquota_budget_bytes", "bytes", "What hard limits of space may add up to.",
	  OF_BUDGET(budget_bytes) },
	{ "fsquota_budget_hard_limits_bytes", "bytes", "What they add up to.",
	  OF_BUDGET(hard_bytes) },
	{ "fsquota_budget_used_bytes", "bytes",
	  "Space in use by their projects, or on the filesystem.", OF_BUDGET(used_bytes) },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
	const struct metric *list;
	size_t count;
} tables[] = { [FSQ_USER] = { of_users, COUNT(of_users) },
	       [FSQ_GROUP] = { of_groups, COUNT(of_groups) },
	       [FSQ_PROJECT] = { of_projects, COUNT(of_projects) },
	       { of_filesystems, COUNT(of_filesystems) },
	       { of_budgets, COUNT(of_budgets) },
	       { &project_info, 1 },
	       { &up, 1 } };

static bool is_named(const struct metric *metric, const char *name, size_t length)
{
	return strncmp(metric->name, name, length) == 0 && metric->name[length] == '\0';
}

static bool exists(const char *name, size_t length)
{
	for (size_t i = 0; i < COUNT(tables); i++)
		for (size_t k = 0; k < tables[i].count; k++)
			if (is_named(&tables[i].list[k], name, length))
				return true;
	return false;
}

static bool take_metrics(struct session *session, const struct command_option *option,
			 void *options, const char *value)
{
	struct metrics_options *to = options;
	size_t length;

	(void)option;
	to->metrics = value;
	for (const char *name = value;; name += length + 1) {
		length = strcspn(name, ",");
		if (!exists(name, length))
			return session_usage_error(session, "there is no metric \"%.*s\"",
						   (int)length, name);
		if (!name[length])
			return true;
	}
}

static bool is_chosen(const struct metrics_options *options, const struct metric *metric)
{
	const char *name = options->metrics;

	if (!name)
		return metric != &project_info || options->info;
	for (size_t length;; name += length + 1) {
		length = strcspn(name, ",");
		if (is_named(metric, name, length) || !name[length])
			return is_named(metric, name, length);
	}
}

static void begin(struct writer *w, const struct metric *metric)
{
	write_format(w, "# TYPE %s gauge\n", metric->name);
	if (metric->unit)
		write_format(w, "# UNIT %s %s\n", metric->name, metric->unit);
	write_format(w, "# HELP %s %s\n", metric->name, metric->help);
}

/*
 * @name     with the "{" or "," before it
 * @value    NULL: write an empty value, which means the same as no label
 */
static void write_label(struct writer *w, const char *name, const char *value)
{
	write_text(w, name);
	write_text(w, "=\"");
	for (const char *at = value ? value : ""; *at;) {
		const char *plain = text_plain_end(at, TEXT_QUOTED);
		size_t length;

		write_bytes(w, at, (size_t)(plain - at));
		at = plain;
		if (*at == '\0')
			break;
		length = fsq_utf8_length(at, NULL);
		/* Escape control characters on a terminal only. */
		if (*at == '\n') {
			write_text(w, "\\n");
		} else if (length == 0 || (!fsq_utf8_printable(at) && isatty(w->fd))) {
			write_text(w, UTF8_REPLACEMENT);
			length = length ? length : 1;
		} else {
			if (*at == '"' || *at == '\\')
				write_char(w, '\\');
			write_bytes(w, at, length);
		}
		at += length;
	}
	write_char(w, '"');
}

static bool is_there(const struct value *value, const char *row)
{
	if (value->needs != ALWAYS && !*(const bool *)(row + value->needs))
		return false;
	if (value->type == METRIC_NUMBER)
		return *(const uint64_t *)(const void *)(row + value->member) != FIELD_NOT_KNOWN;
	if (value->type == METRIC_LIMIT)
		return *(const uint64_t *)(const void *)(row + value->member) != 0;
	if (value->type == METRIC_SECONDS)
		return *(const int64_t *)(const void *)(row + value->member) != FIELD_NO_SECONDS;
	return true;
}

/* Write what follows the labels: the rest of them, and the value. */
static void write_value(struct writer *w, const struct value *value, const char *row)
{
	const void *member = row + value->member;

	if (value->limit)
		write_label(w, ",limit", value->limit);
	write_bytes(w, "} ", 2);
	if (value->type == METRIC_BOOL)
		write_char(w, *(const bool *)member ? '1' : '0');
	else if (value->type == METRIC_SECONDS)
		write_signed(w, *(const int64_t *)member);
	else if (value->type == METRIC_NANOSECONDS) {
		write_number(w, *(const uint64_t *)member / 1000000000);
		write_char(w, '.');
		write_number_zeros(w, *(const uint64_t *)member % 1000000000, 9);
	} else {
		write_number(w, *(const uint64_t *)member);
	}
	write_char(w, '\n');
}

static void write_filesystem(struct writer *w, const struct metric *metric,
			     const struct filesystem_row *row)
{
	const struct value *value = &metric->values[0];

	if (!is_there(value, (const char *)row))
		return;
	write_text(w, metric->name);
	write_label(w, "{filesystem", row->filesystem);
	write_label(w, ",mountpoint", row->mountpoint);
	write_label(w, ",device", row->filesystem);
	write_value(w, value, (const char *)row);
}

struct budgets {
	struct total_row *rows;
	size_t count, capacity;
	bool no_memory;
};

static void add_budget(const struct total_row *row, void *arg)
{
	struct budgets *budgets = arg;

	if (row->budget_bytes != FIELD_NOT_KNOWN)
		budgets->no_memory |= !array_add(&budgets->rows, &budgets->count,
						 &budgets->capacity, row, sizeof(*row));
}

static void show_budgets(struct projects *projects, const struct metrics_options *options)
{
	struct writer *w = projects->session->out;
	struct budgets budgets = { 0 };

	totals_each(projects, add_budget, &budgets);
	if (budgets.no_memory)
		session_no_memory(projects->session);
	for (size_t metric = 0; metric < COUNT(of_budgets); metric++) {
		if (!is_chosen(options, &of_budgets[metric]))
			continue;
		begin(w, &of_budgets[metric]);
		for (size_t i = 0; i < budgets.count; i++) {
			const struct total_row *row = &budgets.rows[i];

			write_text(w, of_budgets[metric].name);
			write_label(w, "{path", row->path);
			write_label(w, ",filesystem", row->filesystem);
			write_label(w, ",mountpoint", row->mountpoint);
			write_value(w, &of_budgets[metric].values[0], (const char *)row);
		}
	}
	free(budgets.rows);
}

struct all_series {
	const struct metrics_options *options;
	bool wanted[FSQ_TYPES];
	struct series *list;
	size_t count, capacity;
	struct text labels; /* of all series */
	struct text place;  /* labels that all series of a filesystem end with */
	size_t placed;	    /* 1 + index of that filesystem; 0: none yet */
	bool no_memory;
	struct writer to_labels, to_place;
};

static bool is_shown(const struct projects *projects, const struct metrics_options *options,
		     const struct project_row *row)
{
	const struct table_style *style = &projects->session->style;

	return (!options->range.first || row->type != FSQ_PROJECT ||
		(row->id >= options->range.first && row->id <= options->range.last)) &&
	       (!style->has_over || row->percent >= style->over);
}

static void write_place(struct writer *w, const struct project_row *row)
{
	write_label(w, ",filesystem", row->filesystem);
	write_label(w, ",mountpoint", row->mountpoint);
}

/* Write the first labels of a project; write_place() writes the others. */
static void write_labels(struct writer *w, const struct project_row *row, bool with_path)
{
	write_text(w, "{id=\"");
	write_number(w, row->id);
	write_char(w, '"');
	write_label(w, ",name", row->name);
	if (with_path)
		write_label(w, ",path", row->path);
}

static void add_series(struct projects *projects, const struct project *project, void *arg)
{
	struct all_series *all = arg;
	struct project_row row;
	struct series series;

	if (!all->wanted[projects->type])
		return;
	row = projects_row(projects, project);
	/* Users and groups have no directories, and their filesystems no sums. */
	if (row.force.gone)
		projects->sums[project->filesystem].gone++;
	if (!is_shown(projects, all->options, &row))
		return;
	series = (struct series){ .row = row,
				  .in_force = row.force.is == FSQ_IN_FORCE_YES,
				  .knows_force = row.force.is != FSQ_IN_FORCE_UNKNOWN };
	if (all->placed <= project->filesystem) {
		all->placed = project->filesystem + 1;
		all->place.used = 0;
		write_place(&all->to_place, &row);
		all->no_memory |= writer_flush(&all->to_place) != 0;
	}
	write_labels(&all->to_labels, &row,
		     row.type == FSQ_PROJECT && !all->options->no_path_label);
	write_all_of(&all->to_labels, &all->place);
	series.labels = all->labels.used + all->to_labels.used;
	all->no_memory |=
		!array_add(&all->list, &all->count, &all->capacity, &series, sizeof(series));
}

static void show_info(struct writer *w, const struct all_series *all, struct pods *pods)
{
	begin(w, &project_info);
	for (size_t i = 0; i < all->count; i++) {
		const struct project_row *row = &all->list[i].row;
		const char *volume = NULL;
		const struct pod *pod = pods_find(pods, row->path, &volume);

		if (row->type != FSQ_PROJECT)
			continue;
		write_text(w, project_info.name);
		write_labels(w, row, true);
		write_place(w, row);
		write_label(w, ",device", row->filesystem);
		write_label(w, ",namespace", pod ? pod->namespace : NULL);
		write_label(w, ",pod", pod ? pod->name : NULL);
		write_label(w, ",volume", pod ? volume : NULL);
		write_text(w, "} 1\n");
	}
}

/* The format wants all samples of a metric together. */
static void show_metric(struct writer *w, const struct metric *metric, const struct all_series *all,
			enum fsq_type type)
{
	size_t name = strlen(metric->name), at = 0;

	for (const struct series *row = all->list; row < all->list + all->count; at = row++->labels)
		for (size_t k = 0; k < metric->value_count; k++) {
			if (row->row.type != type ||
			    !is_there(&metric->values[k], (const char *)row))
				continue;
			write_bytes(w, metric->name, name);
			write_bytes(w, all->labels.bytes + at, row->labels - at);
			write_value(w, &metric->values[k], (const char *)row);
		}
}

static void show_projects(struct writer *w, const struct metrics_options *options,
			  const struct all_series *all)
{
	for (int type = FSQ_TYPES - 1; type >= 0; type--)
		for (size_t i = 0; i < tables[type].count && all->wanted[type]; i++) {
			const struct metric *metric = &tables[type].list[i];

			if (!is_chosen(options, metric))
				continue;
			begin(w, metric);
			show_metric(w, metric, all, (enum fsq_type)type);
		}
}

/* Write fsquota_up. @reason  why it is 0; NULL: it is 1 */
static void show_up(struct writer *w, const struct metrics_options *options, const char *reason)
{
	if (!is_chosen(options, &up))
		return;
	begin(w, &up);
	write_text(w, up.name);
	if (reason)
		write_label(w, "{reason", reason);
	write_text(w, reason ? "} 0\n" : " 1\n");
}

/* @rows  room for each filesystem */
static void show_all(struct projects *projects, const struct metrics_options *options,
		     const struct all_series *all, struct filesystem_row *rows)
{
	struct session *session = projects->session;
	struct writer *w = session->out;
	struct fsq_space space[FSQ_FORMS];

	if (projects->filesystem == 0) {
		show_up(w, options,
			session->status == session_exit_code(FSQ_E_NOT_SUPPORTED)
				? "no filesystem with quota is mounted"
				: "the mounts cannot be read");
		write_text(w, "# EOF\n");
		return;
	}
	show_up(w, options, NULL);
	if (is_chosen(options, &project_info))
		show_info(w, all, &projects->pods);
	show_projects(w, options, all);
	for (size_t i = 0; i < projects->filesystem; i++) {
		const struct path_entry *path = &session->paths[i];

		if (!projects->sums[i].asked)
			continue;
		rows[i] = (struct filesystem_row){
			.filesystem = path->info->device,
			.mountpoint = path->info->directory,
			.size_bytes = FIELD_NOT_KNOWN,
			.used_bytes = FIELD_NOT_KNOWN,
			.sum = projects->sums[i],
			.looked = !options->quick && all->wanted[FSQ_PROJECT],
		};
		if (!paths_read_space(session, path, path->info->directory, space))
			continue;
		rows[i].size_bytes = space[FSQ_BLOCKS].total;
		rows[i].used_bytes = space[FSQ_BLOCKS].total - space[FSQ_BLOCKS].free;
	}
	for (size_t metric = 0; metric < COUNT(of_filesystems); metric++) {
		if (!is_chosen(options, &of_filesystems[metric]))
			continue;
		begin(w, &of_filesystems[metric]);
		for (size_t i = 0; i < projects->filesystem; i++)
			if (projects->sums[i].asked)
				write_filesystem(w, &of_filesystems[metric], &rows[i]);
	}
	if (session->budget_count)
		show_budgets(projects, options);
	write_text(w, "# EOF\n");
}

/* --- the command --- */

/* Add the series of users or groups. */
static void add_accounts(struct session *session, const struct invocation *invocation,
			 struct all_series *all, enum fsq_type type)
{
	bool every = invocation->operand_count == 0;
	struct projects accounts = { .session = session,
				     .type = type,
				     .pass_over = every,
				     .visit = add_series,
				     .arg = all };

	for (int i = 0; i < invocation->operand_count; i++)
		projects_add_path(&accounts, invocation->operands[i], false);
	all->placed = 0;
	projects_collect_scopes(&accounts, every);
	projects_free(&accounts);
}

static bool wants(const struct metrics_options *options, enum fsq_type type)
{
	return options->types.type[type] ||
	       (type == FSQ_PROJECT && options_type_count(&options->types) == 0);
}

/* Print the page. @return  false: there is none, and an error was reported */
static bool show_metrics(struct session *session, const struct invocation *invocation)
{
	const struct metrics_options *options = invocation->options;
	bool every = invocation->operand_count == 0, shown = false;
	static struct all_series all;
	bool wants_projects = wants(options, FSQ_PROJECT);
	struct projects projects = { .session = session,
				     .type = FSQ_PROJECT,
				     .want_sums = true,
				     .pass_over = every || !wants_projects,
				     .by_statfs = true,
				     .want_in_force = !options->quick,
				     .visit = add_series,
				     .arg = &all };
	struct filesystem_row *rows = NULL;
	struct replacement file;
	sigset_t signals_before;

	if (!apply_read_budgets(session))
		return false;
	memset(&all, 0, offsetof(struct all_series, to_labels));
	all.options = options;
	memcpy(all.wanted, options->types.type, sizeof(all.wanted));
	all.wanted[FSQ_PROJECT] = wants_projects;
	writer_start_text(&all.to_labels, &all.labels);
	writer_start_text(&all.to_place, &all.place);
	all.to_labels.fd = all.to_place.fd = session->out->fd;
	for (int i = 0; i < invocation->operand_count; i++)
		scopes_add_path(&projects.scopes, session, invocation->operands[i], false);
	/* Without operands, a page without filesystems is printed, too: fsquota_up is 0. */
	if (!projects_collect_scopes(&projects, every) && !every)
		goto out;
	for (int type = FSQ_USER; type < FSQ_PROJECT; type++)
		if (all.wanted[type] && projects.filesystem)
			add_accounts(session, invocation, &all, (enum fsq_type)type);
	session_names(session);
	/* Incomplete output would look complete. */
	if (session->no_memory)
		goto out;
	rows = calloc(projects.filesystem + 1, sizeof(*rows));
	shown = rows && writer_flush(&all.to_labels) == 0 && !all.no_memory;
	/* Block termination signals until the temporary file is renamed or removed. */
	block_termination_signals(&signals_before);
	if (!shown) {
		session_errno(session, 0, ENOMEM, NULL, "cannot show all");
	} else if (!options->output_file) {
		show_all(&projects, options, &all, rows);
	} else if (replacement_begin(session, &file, options->output_file)) {
		show_all(&projects, options, &all, rows);
		replacement_end(session, &file, !is_signal_pending(NULL));
	}
	restore_signals(&signals_before);
out:
	free(rows);
	free(all.list);
	free(all.labels.bytes);
	free(all.place.bytes);
	projects_free(&projects);
	return shown;
}

static bool write_page(struct session *session, void *arg)
{
	return show_metrics(session, arg) && !session->no_memory;
}

static enum fsq_visit pass_over(uint32_t id, const char *directory, void *arg)
{
	(void)id, (void)directory, (void)arg;
	return FSQ_VISIT_CONTINUE;
}

/* Report that the quotas of the current filesystem do not answer. Who may not ask has directories, see by_statfs. */
static void check_filesystem(struct session *session, enum fsq_type type)
{
	struct fsq_state state;
	int rc = fsq_quota_state(session->paths[session->current_path].fs, type, &state);

	if (rc == 0 && !state.accounting[type])
		rc = -ESRCH;
	if (rc && fsq_error_kind_of(-rc) != FSQ_E_PERMISSION)
		session_errno(session, session_flag_of(type), -rc, NULL, "no %s quota",
			      account_types[type]);
}

/* Write "ok", or the first error, if the files cannot be read or an operand does not answer. */
static bool write_health(struct session *session, void *arg)
{
	const struct invocation *invocation = arg;
	const struct metrics_options *options = invocation->options;
	struct fsq_error err;

	/* What the server could not do before is no error of now. */
	session->status = 0;
	session->keeps_error = true;
	if (fsq_projects_each(session->projects_file, pass_over, NULL, &err) < 0)
		session_note_projects(session, &err);
	session_names(session);
	for (int i = 0; i < invocation->operand_count; i++)
		paths_add(session, invocation->operands[i], NULL);
	if (invocation->operand_count == 0)
		options_add_filesystems(session);
	for (size_t i = 0; invocation->operand_count && i < session->path_count; i++) {
		session->current_path = (int)i;
		for (int type = FSQ_USER; type < FSQ_TYPES; type++)
			if (wants(options, (enum fsq_type)type))
				check_filesystem(session, (enum fsq_type)type);
	}
	write_all_of(session->out, &session->first_error);
	if (!session->status)
		write_text(session->out, "ok\n");
	return true;
}

static void command_metrics(struct session *session, const struct invocation *invocation)
{
	const struct metrics_options *options = invocation->options;
	const struct http_page pages[HTTP_PAGES] = {
		{
			.path = "/metrics",
			.type = "text/plain; version=0.0.4; charset=utf-8",
			.other = "application/openmetrics-text",
			.other_type = "application/openmetrics-text; version=1.0.0; charset=utf-8",
			.write = write_page,
			.arg = (void *)invocation,
		},
		{
			.path = "/healthz",
			.type = "text/plain; charset=utf-8",
			.checks = true,
			.write = write_health,
			.arg = (void *)invocation,
		},
	};

	if (!options->listen)
		show_metrics(session, invocation);
	else if (session->batch)
		session_usage_error(session, "metrics --listen is no request: it does not end");
	else if (options->output_file)
		session_usage_error(session, "--listen and --output-file exclude each other");
	else
		http_serve(session, options->listen, pages, COUNT(pages));
}

#define FIELD(member) offsetof(struct metrics_options, member)

static const struct command_option own_options[] = {
	{ 0, "id-range", "only projects with these IDs", .kind = VALUE_NUMBER, .argument = "A-B",
	  .choices_text = "1048577-2000000", .field = FIELD(range), .range = true },
	{ 0, "info", "one metric more, with the pod of a volume", .field = FIELD(info) },
	{ 0, "listen", "serve /metrics over HTTP, or \"systemd\": its socket",
	  .kind = VALUE_ADDRESS, .argument = "ADDRESS:PORT", .field = FIELD(listen) },
	{ 0, "metric", "only these metrics", .kind = VALUE_CHOICE, .argument = "NAME,...",
	  .field = FIELD(metrics), .take = take_metrics },
	{ 0, "no-path-label", "series without the directory, but that of --info",
	  .field = FIELD(no_path_label) },
	{ 0, "quick", "do not look at the directories", .field = FIELD(quick) },
	{ 0, "output-file", "replace FILE by it, at once or not at all", .kind = VALUE_FILE,
	  .argument = "FILE", .field = FIELD(output_file) },
	{ 0 },
};

const struct command metrics_command = {
	.name = "metrics",
	.group = GROUP_PROGRAMS,
	.summary = "show use and limits of projects as OpenMetrics text",
	.synopsis = "[OPTION]... [DIR|PATH]...",
	.help = "Show use and limits, for Prometheus, of the projects of all filesystems that\n"
		"have quota, of the one whose mount point or device PATH is, or of those whose\n"
		"directories are at or below DIR. node_exporter reads FILE in the directory of\n"
		"its textfile collector, if its name ends in .prom. With -u, -g and -p: of users,\n"
		"groups and projects, in any combination.",
	.example = "metrics --output-file /var/lib/prometheus/node-exporter/fsquota.prom\n"
		   "metrics --listen 127.0.0.1:9753",
	.options = (option_tables){ type_options, over_option, own_options, registry_options,
				    help_option, NULL },
	.operands = { { VALUE_PATH, "PATH", true } },
	.options_size = sizeof(struct metrics_options),
	.flags = COMMAND_CONFIG | COMMAND_READS,
	.run = command_metrics,
};
