/* SPDX-License-Identifier: Apache-2.0 */
#include "projects.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "dquots.h"
#include "paths.h"
#include "shared/array.h"

/* --- scopes --- */

static bool add_scope(struct projects *projects, const struct project_scope *scope)
{
	struct project_scope *scopes = array_grow(projects->scopes, projects->scope_count,
						  &projects->scope_capacity, sizeof(*scopes));

	if (!scopes)
		return false;
	projects->scopes = scopes;
	scopes[projects->scope_count++] = *scope;
	return true;
}

static char *without_slashes_at_end(const char *path)
{
	char *copy = strdup(path);

	for (size_t i = copy ? strlen(copy) : 0; i > 1 && copy[i - 1] == '/'; i--)
		copy[i - 1] = '\0';
	return copy;
}

void projects_add_path(struct projects *projects, const char *path)
{
	struct session *session = projects->session;
	struct project_scope scope = { 0 };
	struct statx stx = { 0 };
	int at = paths_find(session, path);

	if (at >= 0)
		scope.dev = session->paths[at].info->dev;
	else if (!paths_add(session, path, &scope.dev))
		return;
	if (statx(AT_FDCWD, path, AT_NO_AUTOMOUNT, STATX_TYPE, &stx)) {
		session_errno(session, 0, errno, path, "%s: cannot read", path);
		return;
	}
	if (!S_ISBLK(stx.stx_mode) && !(stx.stx_attributes & STATX_ATTR_MOUNT_ROOT)) {
		if (!S_ISDIR(stx.stx_mode)) {
			session_error(session, 0, FSQ_E_USAGE, 0, path,
				      "%s: is neither a directory nor a device", path);
			return;
		}
		scope.directory = realpath(path, NULL);
		scope.given = without_slashes_at_end(path);
		if (!scope.directory || !scope.given) {
			session_errno(session, 0, errno, path, "%s: cannot find it again", path);
			free(scope.directory);
			free(scope.given);
			return;
		}
	}
	projects->no_memory |= !add_scope(projects, &scope);
}

static bool is_below(const char *directory, const char *above)
{
	size_t length = strlen(above);

	return strncmp(directory, above, length) == 0 &&
	       (directory[length] == '\0' || directory[length] == '/');
}

/* @directory  NULL: is all of the filesystem wanted? */
static bool is_wanted(const struct projects *projects, dev_t dev, const char *directory)
{
	for (size_t i = 0; i < projects->scope_count; i++) {
		const struct project_scope *scope = &projects->scopes[i];

		if (scope->dev != dev)
			continue;
		if (!scope->directory || (directory && (is_below(directory, scope->directory) ||
							is_below(directory, scope->given))))
			return true;
	}
	return projects->scope_count == 0;
}

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
	struct projects *projects = arg;
	const struct session *session = projects->session;
	int filesystem = filesystem_of(session, directory);
	struct known_directory *known;
	char *copy;

	if (filesystem < 0 || id == 0 ||
	    !is_wanted(projects, session->paths[filesystem].info->dev, directory))
		return FSQ_VISIT_CONTINUE;
	known = array_grow(projects->known, projects->known_count, &projects->known_capacity,
			   sizeof(*known));
	if (known)
		projects->known = known;
	copy = known ? strdup(directory) : NULL;
	projects->no_memory |= !copy;
	if (copy)
		known[projects->known_count++] =
			(struct known_directory){ id, (size_t)filesystem, copy };
	return copy ? FSQ_VISIT_CONTINUE : FSQ_VISIT_STOP;
}

static int compare_known(const void *one, const void *other)
{
	const struct known_directory *a = one, *b = other;

	if (a->filesystem != b->filesystem)
		return a->filesystem < b->filesystem ? -1 : 1;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return strcmp(a->directory, b->directory);
}

/* The next directory, if it is on the filesystem that is read. */
static const struct known_directory *next_known(const struct projects *projects)
{
	const struct known_directory *next = &projects->known[projects->next_known];

	return projects->next_known < projects->known_count &&
			       next->filesystem == projects->filesystem
		       ? next
		       : NULL;
}

/* --- projects --- */

static struct fsq_usage usage_of(const struct projects *projects, uint32_t id,
				 const struct fsq_dquot *dquot)
{
	struct fsq_usage usage = {
		.source = FSQ_USAGE_QUOTA,
		.id = id,
		.accounting = projects->state.accounting[FSQ_PROJECT],
		.enforced = projects->state.enforced[FSQ_PROJECT],
	};

	if (dquot)
		fsq_usage_set_dquot(&usage, dquot);
	return usage;
}

/* With its directories, which stand together. */
static void add_project(struct projects *projects, uint32_t id, const struct fsq_dquot *dquot)
{
	struct project *project =
		array_grow(projects->all, projects->count, &projects->capacity, sizeof(*project));
	const struct known_directory *next;

	if (!project) {
		projects->no_memory = true;
		return;
	}
	projects->all = project;
	project += projects->count++;
	*project = (struct project){
		.usage = usage_of(projects, id, dquot),
		.filesystem = projects->filesystem,
		.known = projects->next_known,
	};
	while ((next = next_known(projects)) && next->id == id) {
		project->known_count++;
		projects->next_known++;
	}
}

/* Those of the projects file below an ID that the kernel has no record of. */
static void add_unrecorded(struct projects *projects, uint64_t below)
{
	const struct known_directory *next;

	while ((next = next_known(projects)) && next->id < below)
		add_project(projects, next->id, NULL);
}

static void add_to_sum(struct projects *projects, const struct fsq_usage *usage)
{
	struct project_sum *sum = &projects->sums[projects->filesystem];

	if (usage->hard_bytes == 0)
		sum->unlimited++;
	else if (__builtin_add_overflow(sum->hard_bytes, usage->hard_bytes, &sum->hard_bytes))
		sum->hard_bytes = UINT64_MAX;
}

static void add_record(const struct fsq_dquot *dquot, void *arg)
{
	struct projects *projects = arg;
	const struct fsq_usage usage = usage_of(projects, dquot->id, dquot);
	const struct known_directory *next;
	bool is_empty = true;

	for (int form = FSQ_BLOCKS; form <= FSQ_INODES; form++)
		is_empty &= !dquot->form[form].used && !dquot->form[form].soft &&
			    !dquot->form[form].hard;
	if (dquot->id == 0) {
		projects->sums[projects->filesystem].none = usage;
		return;
	}
	if (!is_empty)
		add_to_sum(projects, &usage);
	add_unrecorded(projects, dquot->id);
	next = next_known(projects);
	if ((!is_empty && projects->whole) || (next && next->id == dquot->id))
		add_project(projects, dquot->id, dquot);
}

static void read_filesystem(struct projects *projects)
{
	struct session *session = projects->session;
	const struct path_entry *path = &session->paths[projects->filesystem];
	const struct dquot_range range = { .type = FSQ_PROJECT };
	int rc = fsq_quota_state(path->fs, FSQ_PROJECT, &projects->state);

	/* Of a filesystem that could not be read to its end some may be left. */
	while (projects->next_known < projects->known_count &&
	       projects->known[projects->next_known].filesystem < projects->filesystem)
		projects->next_known++;
	projects->whole = is_wanted(projects, path->info->dev, NULL);
	session->current_path = (int)projects->filesystem;
	if (rc && fsq_error_kind_of(-rc) != FSQ_E_NOT_SUPPORTED &&
	    fsq_error_kind_of(-rc) != FSQ_E_NOT_FOUND) {
		session_errno(session, 0, -rc, NULL, "cannot ask whether there is project quota");
	} else if (rc || !projects->state.accounting[FSQ_PROJECT]) {
		session_error(session, 0, FSQ_E_NOT_SUPPORTED, 0, NULL,
			      "there is no project quota: it takes XFS, ext4 or f2fs, mounted "
			      "with prjquota");
	} else if (dquots_each(session, path->fs, &range, add_record, projects)) {
		add_unrecorded(projects, (uint64_t)FSQ_ID_MAX + 1);
		projects->sums[projects->filesystem].known = true;
	}
	session->current_path = -1;
}

void projects_collect(struct projects *projects)
{
	struct session *session = projects->session;
	struct fsq_error err;

	projects->sums = calloc(session->path_count + 1, sizeof(*projects->sums));
	projects->no_memory |= !projects->sums;
	if (!projects->no_memory &&
	    fsq_projects_each(session->projects_file, add_known, projects, &err))
		session_note_projects(session, &err);
	if (projects->known_count > 0)
		qsort(projects->known, projects->known_count, sizeof(*projects->known),
		      compare_known);
	for (; projects->filesystem < session->path_count && !projects->no_memory;
	     projects->filesystem++)
		read_filesystem(projects);
	if (projects->no_memory)
		session_errno(session, 0, ENOMEM, NULL, "cannot list all");
}

struct project_row projects_row(const struct projects *projects, const struct project *project,
				const char **directories)
{
	struct session *session = projects->session;
	const struct fsq_filesystem_info *info = session->paths[project->filesystem].info;
	struct project_row row = listing_row(session, NULL, &project->usage);

	row.filesystem = info->device;
	row.mountpoint = info->directory;
	for (size_t i = 0; i < project->known_count; i++)
		directories[i] = projects->known[project->known + i].directory;
	row.directories = directories;
	row.directory_count = project->known_count;
	if (project->known_count)
		row.path = directories[0];
	return row;
}

void projects_free(struct projects *projects)
{
	for (size_t i = 0; i < projects->scope_count; i++) {
		free(projects->scopes[i].directory);
		free(projects->scopes[i].given);
	}
	for (size_t i = 0; i < projects->known_count; i++)
		free(projects->known[i].directory);
	free(projects->scopes);
	free(projects->known);
	free(projects->all);
	free(projects->sums);
}
