/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dquots.h"
#include "listing.h"
#include "options.h"
#include "paths.h"
#include "quota/fsquota.h"
#include "shared/array.h"

enum order { BY_ID, BY_USE, BY_PERCENT };

struct list_options {
	struct project_style style;
	enum order order;
};

/* A line of the projects file that belongs to one of the filesystems. */
struct known {
	uint32_t id;
	size_t filesystem; /* index in the table of paths */
	char *directory;
};

struct project {
	struct fsq_usage usage;
	const struct fsq_filesystem_info *info;
	size_t known, known_count; /* its directories */
	double percent;
};

struct list {
	struct session *session;
	enum order order;
	struct known *known; /* sorted */
	size_t known_count, known_capacity, next_known;
	struct project *projects;
	size_t count, capacity;
	bool no_memory;
	/* of the filesystem being read: */
	size_t filesystem;
	struct fsq_state state;
};

/* --- directories --- */

/* The filesystem that holds a directory, or -1. */
static int filesystem_of(const struct session *session, const char *directory)
{
	for (size_t i = 0; i < session->path_count; i++)
		if (fsq_filesystem_holds(session->paths[i].fs, directory))
			return (int)i;
	return -1;
}

static enum fsq_visit add_known(uint32_t id, const char *directory, void *arg)
{
	struct list *list = arg;
	int filesystem = filesystem_of(list->session, directory);
	struct known *known;
	char *copy;

	if (filesystem < 0 || id == 0)
		return FSQ_VISIT_CONTINUE;
	known = array_grow(list->known, list->known_count, &list->known_capacity, sizeof(*known));
	if (known)
		list->known = known;
	copy = known ? strdup(directory) : NULL;
	list->no_memory |= !copy;
	if (copy)
		known[list->known_count++] = (struct known){ id, (size_t)filesystem, copy };
	return copy ? FSQ_VISIT_CONTINUE : FSQ_VISIT_STOP;
}

static int compare_known(const void *one, const void *other)
{
	const struct known *a = one, *b = other;

	if (a->filesystem != b->filesystem)
		return a->filesystem < b->filesystem ? -1 : 1;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return strcmp(a->directory, b->directory);
}

/* --- projects --- */

/* With its directories, which stand together. */
static void add_project(struct list *list, uint32_t id, const struct fsq_dquot *dquot)
{
	struct project *project =
		array_grow(list->projects, list->count, &list->capacity, sizeof(*project));

	if (!project) {
		list->no_memory = true;
		return;
	}
	list->projects = project;
	project += list->count++;
	*project = (struct project){
		.usage = { .source = FSQ_USAGE_QUOTA,
			   .id = id,
			   .accounting = list->state.accounting[FSQ_PROJECT],
			   .enforced = list->state.enforced[FSQ_PROJECT] },
		.info = list->session->paths[list->filesystem].info,
		.known = list->next_known,
	};
	if (dquot)
		fsq_usage_set_dquot(&project->usage, dquot);
	while (list->next_known < list->known_count &&
	       list->known[list->next_known].filesystem == list->filesystem &&
	       list->known[list->next_known].id == id) {
		project->known_count++;
		list->next_known++;
	}
}

/* Those of the projects file below an ID that the kernel has no record of. */
static void add_unrecorded(struct list *list, uint64_t below)
{
	while (list->next_known < list->known_count &&
	       list->known[list->next_known].filesystem == list->filesystem &&
	       list->known[list->next_known].id < below)
		add_project(list, list->known[list->next_known].id, NULL);
}

static bool is_listed(const struct list *list, uint32_t id)
{
	return list->next_known < list->known_count &&
	       list->known[list->next_known].filesystem == list->filesystem &&
	       list->known[list->next_known].id == id;
}

static void add_record(const struct fsq_dquot *dquot, void *arg)
{
	struct list *list = arg;
	bool is_empty = true;

	for (int form = FSQ_BLOCKS; form <= FSQ_INODES; form++)
		is_empty &= !dquot->form[form].used && !dquot->form[form].soft &&
			    !dquot->form[form].hard;
	if (dquot->id == 0)
		return;
	add_unrecorded(list, dquot->id);
	if (!is_empty || is_listed(list, dquot->id))
		add_project(list, dquot->id, dquot);
}

static void read_filesystem(struct list *list)
{
	struct session *session = list->session;
	struct fsq_filesystem *fs = session->paths[list->filesystem].fs;
	const struct dquot_range range = { .type = FSQ_PROJECT, .lower = 1 };
	int rc = fsq_quota_state(fs, FSQ_PROJECT, &list->state);

	/* Of a filesystem that could not be read to its end some may be left. */
	while (list->next_known < list->known_count &&
	       list->known[list->next_known].filesystem < list->filesystem)
		list->next_known++;
	session->current_path = (int)list->filesystem;
	if (rc && fsq_error_kind_of(-rc) != FSQ_E_NOT_SUPPORTED &&
	    fsq_error_kind_of(-rc) != FSQ_E_NOT_FOUND)
		session_errno(session, 0, -rc, NULL, "cannot ask whether there is project quota");
	else if (rc || !list->state.accounting[FSQ_PROJECT])
		session_error(session, 0, FSQ_E_NOT_SUPPORTED, 0, NULL,
			      "there is no project quota: it takes XFS, ext4 or f2fs, mounted "
			      "with prjquota");
	else if (dquots_each(session, fs, &range, add_record, list))
		add_unrecorded(list, (uint64_t)FSQ_ID_MAX + 1);
	session->current_path = -1;
}

/* --- order --- */

static int larger_first(double a, double b)
{
	return a > b ? -1 : a < b;
}

static int compare_use(const void *one, const void *other)
{
	const struct project *a = one, *b = other;
	int order = larger_first((double)a->usage.used_bytes, (double)b->usage.used_bytes);

	if (order == 0)
		order = (a->usage.id > b->usage.id) - (a->usage.id < b->usage.id);
	return order ? order : strcmp(a->info->directory, b->info->directory);
}

static int compare_percent(const void *one, const void *other)
{
	const struct project *a = one, *b = other;
	int order = larger_first(a->percent, b->percent);

	return order ? order : compare_use(one, other);
}

/* --- printing --- */

static struct project_row row_of(struct list *list, const struct project *project,
				 const char **directories)
{
	const char *mountpoint = project->info->directory;
	struct project_row row = listing_row(list->session, mountpoint, &project->usage);

	row.filesystem = project->info->device;
	row.mountpoint = mountpoint;

	for (size_t i = 0; i < project->known_count; i++)
		directories[i] = list->known[project->known + i].directory;
	row.directories = directories;
	row.directory_count = project->known_count;
	if (project->known_count)
		row.path = directories[0];
	return row;
}

static void show(struct list *list, const struct project_style *style)
{
	const char **directories = calloc(list->known_count + 1, sizeof(*directories));
	struct project_output *output = listing_begin(list->session, style, "list", false);

	if (!directories || list->no_memory)
		session_errno(list->session, 0, ENOMEM, NULL, "cannot list all");
	for (size_t i = 0; i < list->count && output && directories; i++) {
		struct project_row row = row_of(list, &list->projects[i], directories);

		listing_add(list->session, output, &row);
	}
	if (output)
		listing_end(list->session, output);
	free(directories);
}

static void sort(struct list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		struct project *project = &list->projects[i];
		const struct project_row row = { .used_bytes = project->usage.used_bytes,
						 .used_inodes = project->usage.used_inodes,
						 .soft_bytes = project->usage.soft_bytes,
						 .hard_bytes = project->usage.hard_bytes,
						 .soft_inodes = project->usage.soft_inodes,
						 .hard_inodes = project->usage.hard_inodes };

		project->percent = project_row_percent(&row);
	}
	if (list->order != BY_ID && list->count > 0)
		qsort(list->projects, list->count, sizeof(*list->projects),
		      list->order == BY_USE ? compare_use : compare_percent);
}

static void collect(struct list *list)
{
	struct session *session = list->session;
	struct fsq_error err;

	if (fsq_projects_each(session->projects_file, add_known, list, &err))
		session_note_projects(session, &err);
	if (list->known_count > 0)
		qsort(list->known, list->known_count, sizeof(*list->known), compare_known);
	for (; list->filesystem < session->path_count; list->filesystem++)
		read_filesystem(list);
}

static void add_paths(struct session *session, const struct invocation *invocation)
{
	dev_t dev;

	for (int i = 0; i < invocation->operand_count; i++)
		paths_add(session, invocation->operands[i], &dev);
	if (invocation->operand_count == 0)
		paths_add_all_with_quota(session, false);
}

static void command_list(struct session *session, const struct invocation *invocation)
{
	const struct list_options *options = invocation->options;
	struct list list = { .session = session, .order = options->order };

	add_paths(session, invocation);
	if (session->path_count > 0) {
		collect(&list);
		sort(&list);
		show(&list, &options->style);
	}
	for (size_t i = 0; i < list.known_count; i++)
		free(list.known[i].directory);
	free(list.known);
	free(list.projects);
}

static const struct command_option sort_option[] = {
	{ 0, "sort", "by id (default), use or percent, largest first", .kind = VALUE_CHOICE,
	  .argument = "KEY", .choices = "id use percent", .choices_text = "by id, use or percent",
	  .field = offsetof(struct list_options, order) },
	{ 0 },
};

const struct command list_command = {
	.name = "list",
	.summary = "list projects with their directories, use and limits",
	.synopsis = "[OPTION]... [PATH]...",
	.help = "List every project of the filesystem of each PATH, or of all that have quota.",
	.options = (option_tables){ sort_option, listing_options, registry_options, json_option,
				    help_option, NULL },
	.operands = { { VALUE_PATH, "PATH", true } },
	.options_size = sizeof(struct list_options),
	.defaults = &(const struct list_options){ .style.usual = "ID,NAME,USED,SOFT,HARD,USE%,"
								 "IUSED,IHARD,PATH" },
	.flags = COMMAND_CONFIG,
	.run = command_list,
};
