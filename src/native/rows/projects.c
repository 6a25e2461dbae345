/* SPDX-License-Identifier: Apache-2.0 */
#include "projects.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "change.h"
#include "native/cli/budgets.h"
#include "quota/base/error.h"
#include "quota/base/path.h"
#include "quota/kernel/privilege.h"
#include "quota/mounts/lookup.h"
#include "quota/usage/usage.h"
#include "records.h"
#include "shared/array.h"
#include "shared/clock.h"
#include "shared/sort.h"

/* --- directories --- */

static bool know(struct projects *projects, struct known_directory known)
{
	known.directory = texts_keep(&projects->texts, known.directory);
	if (known.directory && array_add(&projects->known, &projects->known_count,
					 &projects->known_capacity, &known, sizeof(known)))
		return true;
	projects->no_memory = true;
	return false;
}

static enum fsq_visit add_known(uint32_t id, const char *directory, void *arg)
{
	struct projects *projects = arg;
	const struct session *session = projects->session;
	struct known_directory known = { .id = id, .directory = directory };
	const struct fsq_mount_points *points;
	const char *spelled;
	int filesystem;
	dev_t dev;

	if (id == 0)
		return FSQ_VISIT_CONTINUE;
	points = session_mounts(projects->session);
	if (!points)
		return FSQ_VISIT_STOP;
	spelled = fsq_lookup_known(points, directory, &dev);
	projects->no_memory |= !spelled;
	if (!spelled)
		return FSQ_VISIT_STOP;
	filesystem = dev ? paths_find_dev(session, dev) : -1;
	if (filesystem < 0 ||
	    !scopes_want(&projects->scopes, session->paths[filesystem].info->dev, id, spelled))
		return FSQ_VISIT_CONTINUE;
	known.filesystem = (size_t)filesystem;
	return know(projects, known) ? FSQ_VISIT_CONTINUE : FSQ_VISIT_STOP;
}

/* A named directory stands for its project if the file has no line of it. */
static void know_named(struct projects *projects)
{
	for (size_t i = 0; i < projects->scopes.count; i++) {
		const struct scope *scope = &projects->scopes.list[i];
		int filesystem = paths_find_dev(projects->session, scope->dev);
		bool found = !scope->id || !scope->given || filesystem < 0;

		for (size_t j = 0; j < projects->known_count && !found; j++)
			found = projects->known[j].id == scope->id &&
				projects->known[j].filesystem == (size_t)filesystem;
		if (!found)
			know(projects, (struct known_directory){
					       .id = scope->id,
					       .filesystem = (size_t)filesystem,
					       .directory = scope->given,
				       });
	}
}

static int compare_known(const void *one, const void *other)
{
	const struct known_directory *a = one, *b = other;

	return compare_numbers(a->filesystem, b->filesystem) ?: compare_numbers(a->id, b->id) ?:
		       strcmp(a->directory, b->directory);
}

/* @return   the next known directory, if it is on the filesystem that is being read */
static const struct known_directory *next_known(const struct projects *projects)
{
	const struct known_directory *next;

	if (projects->next_known >= projects->known_count)
		return NULL;
	next = &projects->known[projects->next_known];
	return next->filesystem == projects->filesystem ? next : NULL;
}

/* --- projects --- */

static struct fsq_usage usage_of(const struct projects *projects, uint32_t id,
				 const struct fsq_dquot *dquot)
{
	struct fsq_usage usage = {
		.source = FSQ_USAGE_QUOTA,
		.id = id,
		.accounting = projects->state.accounting[projects->type],
		.enforced = projects->state.enforced[projects->type],
	};
	const struct path_entry *path = &projects->session->paths[projects->filesystem];

	if (dquot)
		fsq_usage_set_dquot(&usage, dquot);
	/* What XFS keeps there are the defaults of the others: root is not limited. */
	if (projects->type != FSQ_PROJECT && id == 0 && path->info->is_xfs)
		usage.soft_bytes = usage.hard_bytes = usage.soft_inodes = usage.hard_inodes = 0;
	return usage;
}

/* Add a project with its directories, which stand together in the list. */
static void add_project_of_usage(struct projects *projects, const struct fsq_usage *usage)
{
	struct project project = {
		.usage = *usage,
		.filesystem = projects->filesystem,
		.known = projects->next_known,
	};
	const struct known_directory *next;

	while ((next = next_known(projects)) && next->id == usage->id) {
		project.known_count++;
		projects->next_known++;
	}
	if (projects->visit) {
		projects->count++;
		/* Its errors are about a directory, so do not put the filesystem in front. */
		projects->session->current_path = -1;
		projects->visit(projects, &project, projects->arg);
		projects->session->current_path = (int)projects->filesystem;
	} else if (!array_add(&projects->all, &projects->count, &projects->capacity, &project,
			      sizeof(project))) {
		projects->no_memory = true;
	}
}

/*
 * Is the directory of an ID without a record on its filesystem? A record proves that the ID is in use here; without one
 * a symlink in its place may lead elsewhere. One that does not exist is where it would be.
 */
static bool is_directory_there(const struct projects *projects, const struct known_directory *known)
{
	const struct path_entry *path = &projects->session->paths[known->filesystem];
	struct stat st;
	int rc = fsq_lookup_stat(session_mounts(projects->session), known->directory, O_NOFOLLOW,
				 &st, NULL);

	return rc == 0 ? S_ISDIR(st.st_mode) && st.st_dev == path->info->dev
		       : rc == -ENOENT || rc == -ENOTDIR;
}

/* Add projects of the file below an ID, which have no record. */
static void add_unrecorded(struct projects *projects, uint64_t below)
{
	const struct known_directory *next;
	struct fsq_usage usage;

	while ((next = next_known(projects)) && next->id < below) {
		usage = usage_of(projects, next->id, NULL);
		if (is_directory_there(projects, next))
			add_project_of_usage(projects, &usage);
		else
			projects->next_known++;
	}
}

static void add_to_sum(struct projects *projects, const struct fsq_usage *usage)
{
	struct project_sum *sum = &projects->sums[projects->filesystem];

	if (usage->id == 0) {
		sum->none = *usage;
		return;
	}
	sum->projects++;
	if (usage->hard_bytes == 0)
		sum->unlimited++;
	else if (__builtin_add_overflow(sum->hard_bytes, usage->hard_bytes, &sum->hard_bytes))
		sum->hard_bytes = FIELD_NOT_KNOWN - 1; /* the largest that a row can have */
}

/* The user root, the group root, or what is in no project. */
static bool wants_zero(const struct projects *projects)
{
	return projects->want_none || projects->type != FSQ_PROJECT;
}

static void add_record(const struct fsq_dquot *dquot, void *arg)
{
	struct projects *projects = arg;
	const struct path_entry *path = &projects->session->paths[projects->filesystem];
	const struct fsq_usage usage = usage_of(projects, dquot->id, dquot);
	const struct known_directory *next;
	bool is_empty = records_is_empty(dquot);

	if (projects->want_sums && (!is_empty || dquot->id == 0))
		add_to_sum(projects, &usage);
	if (dquot->id == 0) {
		if (wants_zero(projects))
			add_project_of_usage(projects, &usage);
		return;
	}
	add_unrecorded(projects, dquot->id);
	/* Treat an empty record as absent. */
	if (is_empty)
		add_unrecorded(projects, (uint64_t)dquot->id + 1);
	next = next_known(projects);
	if (!is_empty && (scopes_want(&projects->scopes, path->info->dev, dquot->id, NULL) ||
			  (next && next->id == dquot->id)))
		add_project_of_usage(projects, &usage);
}

/* @return   false: an error was reported */
static bool read_id(struct projects *projects, const struct path_entry *path, uint32_t id)
{
	struct fsq_dquot dquot;
	int rc = fsq_quota_get(path->fs, projects->type, id, &dquot);

	if (rc && rc != -ENOENT)
		return session_errno(projects->session, 0, -rc, NULL,
				     "cannot read the quota of %s %u",
				     account_types[projects->type], id);
	if (rc)
		add_unrecorded(projects, (uint64_t)id + 1);
	else if (projects->type == FSQ_PROJECT || !records_is_empty(&dquot))
		add_record(&dquot, projects);
	return true;
}

/* Read the projects that the caller named. @return   false: an error was reported */
static bool read_named(struct projects *projects, const struct path_entry *path)
{
	uint32_t id = 0;

	do {
		const struct known_directory *next = next_known(projects);

		id = scopes_next_id(&projects->scopes, path->info->dev, id);
		if (next && (!id || next->id < id))
			id = next->id;
	} while (id && read_id(projects, path, id));
	return id == 0;
}

/* Read what statfs(2) shows in the known directories, without privileges. @return whether it shows any */
static bool read_directories(struct projects *projects)
{
	const struct known_directory *next;
	size_t before = projects->count;

	while ((next = next_known(projects))) {
		const struct fsq_usage_request request = { .size = sizeof(request),
							   .path = next->directory };
		struct fsq_usage usage;

		if (fsq_usage_get(&usage, &request, NULL) || usage.id != next->id) {
			projects->next_known++;
			continue;
		}
		free(usage.device);
		free(usage.mountpoint);
		usage.device = usage.mountpoint = NULL;
		add_project_of_usage(projects, &usage);
	}
	if (projects->count == before)
		return false;
	if (projects->tell_of_statfs)
		session_forbidden(projects->session);
	return true;
}

/* @return   what the caller has named on a filesystem, or NULL */
static const char *named_path(const struct projects *projects, const struct path_entry *path)
{
	for (size_t i = 0; i < projects->scopes.count; i++)
		if (projects->scopes.list[i].dev == path->info->dev)
			return projects->scopes.list[i].given;
	return NULL;
}

/* @return   false: an error was reported */
static bool read_filesystem(struct projects *projects, const struct path_entry *path)
{
	struct session *session = projects->session;
	struct project_sum *sum = &projects->sums[projects->filesystem];
	const char *type = account_types[projects->type];
	const struct record_range range = { .lower =
						    !projects->want_sums && !wants_zero(projects) };
	int rc = fsq_quota_state(path->fs, projects->type, &projects->state);

	/* After an error directories of this filesystem may be left: skip them. */
	while (projects->next_known < projects->known_count &&
	       projects->known[projects->next_known].filesystem < projects->filesystem)
		projects->next_known++;
	sum->has_state = rc == 0;
	sum->accounting = rc == 0 && projects->state.accounting[projects->type];
	sum->enforced = rc == 0 && projects->state.enforced[projects->type];
	/* The seccomp filters of container engines forbid even this call. */
	if (fsq_error_kind_of(-rc) == FSQ_E_PERMISSION && projects->by_statfs &&
	    read_directories(projects))
		return true;
	if (rc == -EPERM)
		return session_forbidden(session);
	if (rc && fsq_error_kind_of(-rc) != FSQ_E_NOT_SUPPORTED &&
	    fsq_error_kind_of(-rc) != FSQ_E_NOT_FOUND)
		return session_errno(session, 0, -rc, NULL, "cannot ask whether there is %s quota",
				     type);
	if (rc || !projects->state.accounting[projects->type]) {
		if (!projects->pass_over)
			session_error(session,
				      ERROR_AT_PATH |
					      (projects->type == FSQ_PROJECT ? ERROR_NO_QUOTA
									     : ERROR_OTHER_TYPE),
				      FSQ_E_NOT_SUPPORTED, 0, named_path(projects, path),
				      "there is no %s quota on this filesystem", type);
		return projects->pass_over;
	}
	projects->any_counts = true;
	for (size_t i = 0; projects->ids && i < projects->id_count; i++)
		if (!read_id(projects, path, projects->ids[i]))
			return false;
	if (projects->ids)
		return true;
	if (!projects->want_sums && !scopes_want(&projects->scopes, path->info->dev, 0, NULL))
		return read_named(projects, path);
	if (projects->by_statfs && !fsq_is_privileged() && read_directories(projects))
		return true;
	if (!records_each(session, path->fs, projects->type, &range, add_record, projects))
		return false;
	add_unrecorded(projects, (uint64_t)FSQ_ID_MAX + 1);
	sum->known = true;
	return true;
}

/* Read the records of a filesystem, and measure how long that takes. */
static void scan_filesystem(struct projects *projects)
{
	const struct path_entry *path = &projects->session->paths[projects->filesystem];
	struct project_sum *sum = &projects->sums[projects->filesystem];
	const bool timed = projects->want_sums;
	uint64_t began = timed ? (uint64_t)clock_nanoseconds(CLOCK_MONOTONIC) : 0;

	/* Nothing of the filesystem is wanted if its path could not be looked at. */
	if (!scopes_want_some(&projects->scopes, path->info->dev))
		return;
	projects->session->current_path = (int)projects->filesystem;
	sum->asked = true;
	sum->success = read_filesystem(projects, path);
	projects->session->current_path = -1;
	if (!timed)
		return;
	sum->scan_nanoseconds = (uint64_t)clock_nanoseconds(CLOCK_MONOTONIC) - began;
	sum->scanned_nanoseconds = (uint64_t)clock_nanoseconds(CLOCK_REALTIME);
}

/* Read the wanted filesystems; if none is named, all. */
static void collect(struct projects *projects)
{
	struct session *session = projects->session;
	struct fsq_error err;

	projects->sums = calloc(session->path_count + 1, sizeof(*projects->sums));
	projects->no_memory |= !projects->sums;
	if (projects->type == FSQ_PROJECT && !projects->no_memory &&
	    fsq_projects_each(session->projects_file, add_known, projects, &err))
		session_note_projects(session, &err);
	know_named(projects);
	projects->directories = calloc(projects->known_count + 1, sizeof(*projects->directories));
	projects->no_memory |= !projects->directories;
	array_sort(projects->known, projects->known_count, sizeof(*projects->known), compare_known);
	for (; projects->filesystem < session->path_count && !projects->no_memory;
	     projects->filesystem++)
		scan_filesystem(projects);
	if (projects->no_memory)
		session_errno(session, 0, ENOMEM, NULL, "cannot list all");
}

void projects_add_path(struct projects *projects, const char *path, bool own)
{
	struct session *session = projects->session;
	struct scope scope = { .whole = true };
	int at = projects->type == FSQ_PROJECT ? -1 : paths_find(session, path);

	if (projects->type == FSQ_PROJECT) {
		scopes_add_path(&projects->scopes, session, path, own);
		return;
	}
	if (at >= 0)
		scope.dev = session->paths[at].info->dev;
	else if (!paths_add(session, path, &scope.dev))
		return;
	projects->no_memory |= !scopes_add(&projects->scopes, &scope);
}

/* @all      of all filesystems: those that do not count users or groups are passed over */
static bool collect_type(struct projects *projects, bool all)
{
	struct session *session = projects->session;
	bool may_be_none = !all || projects->type == FSQ_PROJECT || projects->pass_over;

	projects->pass_over |= all && projects->type != FSQ_PROJECT;
	collect(projects);
	if (projects->any_counts || may_be_none || session->status)
		return true;
	return session_error(session, 0, FSQ_E_NOT_SUPPORTED, 0, NULL,
			     "no filesystem with %s quota is mounted; see fsquota doctor",
			     account_types[projects->type]);
}

bool projects_collect_scopes(struct projects *projects, bool all)
{
	if (all && !options_add_filesystems(projects->session))
		return false;
	if (projects->scopes.count == 0 && (!all || projects->session->path_count == 0))
		return false;
	return collect_type(projects, all && projects->session->at.count == 0);
}

/* Read these users or groups on the filesystems of the operands, of --at, or on all. */
static bool collect_ids(struct projects *projects, const uint32_t *ids, size_t count)
{
	struct session *session = projects->session;
	bool all = projects->scopes.count == 0 && session->at.count == 0;

	if (projects->scopes.count == 0 && !options_add_filesystems(session))
		return false;
	projects->ids = ids;
	projects->id_count = count;
	collect_type(projects, all);
	projects->ids = NULL;
	if (projects->count == 0 && session->status == 0)
		session_error(session, 0, FSQ_E_NOT_FOUND, 0,
			      session->at.count ? session->at.words[0] : NULL,
			      "%s %u has neither use nor limits", account_types[projects->type],
			      ids[0]);
	return projects->count > 0;
}

bool projects_collect_own(struct projects *projects)
{
	bool of_group = projects->type == FSQ_GROUP;
	/* The effective group need not be among the others. */
	gid_t ids[1 + GROUPS_MAX] = { of_group ? getegid() : geteuid() };
	int count = of_group ? getgroups(GROUPS_MAX, ids + 1) : 0;

	for (int i = count; i > 0; i--)
		if (ids[i] == ids[0])
			ids[i] = ids[count--];
	return collect_ids(projects, ids, 1 + (size_t)(count > 0 ? count : 0));
}

static bool collect_chosen_account(struct projects *projects)
{
	struct session *session = projects->session;
	uint32_t id = session->wanted_id;

	if (session->wanted_id && session->wanted_name)
		return session_usage_error(session, "--id and --name do not go together");
	return (!session->wanted_name ||
		names_to_id_or_complain(session, projects->type, session->wanted_name, &id)) &&
	       collect_ids(projects, &id, 1);
}

bool projects_has_any(const struct projects *projects, const struct scope *scope)
{
	if (scope->whole || scope->id)
		return true;
	for (size_t i = 0; i < projects->known_count; i++)
		if (scope_has(scope, 0, projects->known[i].directory))
			return true;
	return false;
}

void projects_tell_of_empty(const struct projects *projects, bool none)
{
	static const char words[] = "no project here: fsquota explain DIR shows what fills a "
				    "directory, fsquota assign gives it a limit";
	struct session *session = projects->session;
	const bool is_person = session_has_person(session);

	for (size_t i = 0; i < projects->scopes.count && is_person; i++) {
		const struct scope *scope = &projects->scopes.list[i];

		if (!scope->given || projects_has_any(projects, scope))
			continue;
		none = false;
		session_warn(session, scope->given, words);
	}
	if (none && is_person)
		session_warn(session, NULL, words);
}

bool projects_collect_chosen(struct projects *projects)
{
	struct session *session = projects->session;
	struct scope scope = { 0 };

	if (projects->type != FSQ_PROJECT)
		return collect_chosen_account(projects);
	if (!options_project_id(session, false, &scope.id))
		return false;
	if (session->wanted_id && session->at.count == 0)
		return session_usage_error(
			session, "--id takes --at PATH: the filesystem of project %u", scope.id);
	if (!options_add_filesystems(session))
		return false;
	for (size_t i = 0; i < session->path_count && !projects->no_memory; i++) {
		scope.dev = session->paths[i].info->dev;
		projects->no_memory |= !scopes_add(&projects->scopes, &scope);
	}
	projects->pass_over = session->at.count == 0;
	collect(projects);
	if (projects->count == 0 && session->status == 0)
		session_error(session, 0, FSQ_E_NOT_FOUND, 0,
			      session->at.count ? session->at.words[0] : NULL,
			      "project %u has neither use nor limits%s%s", scope.id,
			      session->at.count ? " on " : "",
			      session->at.count ? session->at.words[0] : "");
	return projects->count > 0;
}

/*
 * Of the directories of a project the one that was named: at or below an operand, or else above one. Without an operand
 * the first.
 */
static const char *choose_directory(const struct projects *projects, const struct project *project)
{
	const struct scopes *scopes = &projects->scopes;
	const char *above = NULL;

	for (size_t i = 0; i < scopes->count && project->known_count > 1; i++) {
		const struct scope *scope = &scopes->list[i];

		for (size_t j = 0; scope->directory && j < project->known_count; j++) {
			const char *directory = projects->directories[j];

			if (scope_has(scope, 0, directory))
				return directory;
			/* The last one is the nearest: they are sorted. */
			if (scope->id == project->usage.id &&
			    fsq_path_below(directory, scope->directory, strlen(scope->directory)))
				above = directory;
		}
	}
	return above ? above : projects->directories[0];
}

struct project_row projects_row(struct projects *projects, const struct project *project)
{
	struct session *session = projects->session;
	const struct fsq_filesystem_info *info = session->paths[project->filesystem].info;
	struct project_row row = listing_row_unnamed(projects->type, NULL, &project->usage);
	bool of_project = projects->type == FSQ_PROJECT;

	row.filesystem = info->device;
	row.mountpoint = info->directory;
	row.warned = projects->warned > project->filesystem;
	if (of_project || !projects->no_names)
		listing_set_name(session, &row);
	if (of_project && row.id == 0 &&
	    (session->style.format == TABLE_TEXT || projects->want_none)) {
		row.shown_name = NO_PROJECT;
		/* For people: there may be such a row of each filesystem. */
		row.path = session->style.format == TABLE_TEXT ? row.mountpoint : NULL;
	}
	for (size_t i = 0; i < project->known_count; i++)
		projects->directories[i] = projects->known[project->known + i].directory;
	if (of_project)
		row.directories =
			(struct field_texts){ projects->directories, project->known_count };
	if (project->known_count) {
		row.path = choose_directory(projects, project);
		row.pod = pods_text(&projects->pods, &projects->texts, row.path);
		if (row.pod)
			listing_set_shown_name(session, &row);
	}
	if (projects->want_in_force && row.id && project->usage.source == FSQ_USAGE_QUOTA) {
		if (of_project)
			row.force = listing_look(session, session_mounts(session), &row.directories,
						 row.id, row.enforced);
		else
			row.force.is = row.enforced ? FSQ_IN_FORCE_YES : FSQ_IN_FORCE_NOT_ENFORCED;
		projects->gone += row.force.gone;
		row.in_force = row.force.gone && row.force.gone == row.directories.count
				       ? "gone"
				       : listing_in_force_word(row.force.is);
	}
	if (projects->until && of_project) {
		const struct until_line *line =
			until_find(session, projects->until, row.id, info->dev);

		row.until = line ? 1000 * line->when : 0;
	}
	if (projects->want_available) {
		struct project_sum *sum = &projects->sums[project->filesystem];

		if (!sum->knows_free)
			sum->free_bytes = listing_free_bytes(session, info->directory);
		sum->knows_free = true;
		listing_set_available(&row, sum->free_bytes);
	}
	return row;
}

bool projects_is_in_force(struct projects *projects, const struct project *project,
			  const struct project_row *row)
{
	bool is = listing_is_in_force(projects->session, row);

	if (!is && row->force.is == FSQ_IN_FORCE_NOT_ENFORCED)
		projects->warned = project->filesystem + 1;
	return is;
}

void projects_show_change(struct projects *projects, const struct project *project,
			  const struct listing_change *change)
{
	struct session *session = projects->session;
	struct project changed = *project;
	struct project_row row;
	struct fsq_dquot dquot;

	if (change && session->dry_run)
		listing_plan_change(&changed.usage, change);
	else if (change && fsq_quota_get(session->paths[project->filesystem].fs, FSQ_PROJECT,
					 project->usage.id, &dquot) == 0)
		fsq_usage_set_dquot(&changed.usage, &dquot);
	row = projects_row(projects, &changed);
	row.directories.texts = NULL;
	row.change = change ? change_word(change->changed) : ROW_ONLY_SHOWN;
	row.over_budget = change ? budgets_where(change->over, row.mountpoint) : NULL;
	tables_row(session, &row);
}

void projects_show_chosen(struct session *session, const dev_t *dev,
			  const struct listing_change *change)
{
	struct projects projects = { .session = session, .type = FSQ_PROJECT };
	struct until until = { 0 };

	if (!change)
		projects.until = until_read_shown(session, &until);
	projects_collect_chosen(&projects);
	for (size_t i = 0; i < projects.count; i++)
		if (!dev || session->paths[projects.all[i].filesystem].info->dev == *dev)
			projects_show_change(&projects, &projects.all[i], change);
	projects_free(&projects);
	until_free(&until);
}

void projects_free(struct projects *projects)
{
	scopes_free(&projects->scopes);
	pods_free(&projects->pods);
	texts_free(&projects->texts);
	session_forget_mounts(projects->session);
	free(projects->known);
	free(projects->directories);
	free(projects->all);
	free(projects->sums);
}
