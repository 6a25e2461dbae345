/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has a directory what fsq_assign() would give it? For a thousand of them that nearly always have:
 * four system calls each, and the files are read once.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assign_plan.h"
#include "limits.h"
#include "quota/base/error.h"
#include "quota/kernel/inode_project.h"
#include "quota/kernel/openat2.h"
#include "quota/registry/entries.h"
#include "quota/registry/project_edit.h"
#include "shared/sort.h"

struct fsq_assigned {
	struct fsq_entries lines, names; /* sorted by word */
};

static int compare(const void *one, const void *other)
{
	return strcmp(((const struct fsq_entry *)one)->word,
		      ((const struct fsq_entry *)other)->word);
}

static void sort_entries(struct fsq_entries *entries)
{
	array_sort(entries->list, entries->count, sizeof(*entries->list), compare);
}

int fsq_assigned_open(struct fsq_assigned **out, const struct fsq_registry *registry,
		      struct fsq_error *err)
{
	struct fsq_assigned *assigned = calloc(1, sizeof(*assigned));
	int rc;

	registry = fsq_registry_or_default(registry);
	if (!assigned)
		return fsq_fail(err, FSQ_E_FAILED, ENOMEM, registry->projects_file, "cannot read");
	rc = fsq_entries_of_projects(&assigned->lines, registry->projects_file, err);
	if (rc == 0)
		rc = fsq_entries_of_projid(&assigned->names, registry->projid_file, err);
	if (rc) {
		fsq_assigned_close(assigned);
		return rc;
	}
	sort_entries(&assigned->lines);
	sort_entries(&assigned->names);
	*out = assigned;
	return 0;
}

void fsq_assigned_close(struct fsq_assigned *assigned)
{
	if (!assigned)
		return;
	fsq_entries_free(&assigned->lines);
	fsq_entries_free(&assigned->names);
	free(assigned);
}

/* @return   the ID of a word, 0 when there is none, or more than one */
static uint32_t id_of(const struct fsq_entries *entries, const char *word)
{
	const struct fsq_entry key = { .word = word }, *end, *found;

	if (entries->count == 0)
		return 0;
	end = entries->list + entries->count;
	found = bsearch(&key, entries->list, entries->count, sizeof(key), compare);
	if (!found || (found > entries->list && compare(found - 1, found) == 0) ||
	    (found + 1 < end && compare(found + 1, found) == 0))
		return 0;
	return found->id;
}

/* @return   a directory whose path, as it is written, has no symlinks; or a negative errno */
static int open_directory(const char *path)
{
	return fsq_openat2(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
			   RESOLVE_NO_SYMLINKS);
}

static bool has_limits(int fd, uint32_t id, const struct fsq_assign_request *request)
{
	struct fsq_target target = { .fd = fd };
	const struct fsq_planned *planned = NULL;
	struct fsq_limits is, wanted;
	struct fsq_dquot dquot;
	struct stat st;

	if (fsq_quotactl_get(&target, FSQ_PROJECT, id, &dquot))
		return false;
	if (request->plan && fstat(fd, &st) == 0)
		planned = fsq_assign_plan_of_id(request->plan, st.st_dev, id);
	is = planned ? planned->limits : fsq_limits_of(&dquot);
	wanted = fsq_limits_wanted(&is, &request->limits, request->unlimited, fd);
	return fsq_limits_are_same(&is, &wanted);
}

bool fsq_assigned_has(struct fsq_assigned *assigned, const struct fsq_assign_request *request)
{
	uint32_t id = id_of(&assigned->lines, request->directory);
	struct fsq_inode_project project;
	bool has;
	int fd;

	if (id == 0 || (request->id && request->id != id) || request->hard_percent ||
	    request->soft_percent || request->require_enforced ||
	    (request->name && id_of(&assigned->names, request->name) != id))
		return false;
	fd = open_directory(request->directory);
	if (fd < 0)
		return false;
	has = fsq_inode_project_get(fd, &project) == 0 && project.id == id && project.inherit &&
	      has_limits(fd, id, request);
	close(fd);
	return has;
}
