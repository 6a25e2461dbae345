/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Would fsq_assign() change anything? Asked of a thousand directories, most of which are as they should be: four system
 * calls each; the files are read once.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <unistd.h>

#include "assign.h"
#include "quota/base/error.h"
#include "quota/kernel/inode_project.h"
#include "quota/kernel/openat2.h"
#include "quota/limits/limits.h"
#include "quota/registry/entries.h"
#include "quota/registry/project_edit.h"

struct fsq_assigned {
	struct fsq_entries lines, names; /* with their index */
};

int fsq_assigned_open(struct fsq_assigned **out, const struct fsq_registry *registry,
		      struct fsq_error *err)
{
	if (!out)
		return fsq_fail_null(err);

	struct fsq_assigned *assigned = calloc(1, sizeof(*assigned));
	int rc = fsq_check_parts(registry, NULL, err);

	registry = fsq_registry_or_default(registry);
	if (rc == 0 && !assigned)
		rc = fsq_fail_errno(err, ENOMEM, registry->projects_file, "cannot read");
	if (rc == 0)
		rc = fsq_entries_of_projects(&assigned->lines, registry->projects_file, err);
	if (rc == 0)
		rc = fsq_entries_of_projid(&assigned->names, registry->projid_file, err);
	if (rc == 0)
		rc = fsq_entries_index_words(&assigned->lines, err);
	if (rc == 0)
		rc = fsq_entries_index_words(&assigned->names, err);
	if (rc)
		fsq_assigned_close(assigned);
	else
		*out = assigned;
	return rc;
}

void fsq_assigned_close(struct fsq_assigned *assigned)
{
	if (!assigned)
		return;
	fsq_entries_free(&assigned->lines);
	fsq_entries_free(&assigned->names);
	free(assigned);
}

/* @return   a directory whose path has no symlinks; or a negative errno */
static int open_without_symlinks(const char *path)
{
	return fsq_openat2(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
			   RESOLVE_NO_SYMLINKS);
}

static bool has_wanted_limits(int fd, uint32_t id, const struct fsq_assign_request *request)
{
	struct fsq_target target = { .fd = fd };
	struct fsq_limits is, wanted;
	struct fsq_dquot dquot;

	if (fsq_quotactl_get(&target, FSQ_PROJECT, id, &dquot))
		return false;
	is = fsq_limits_of(&dquot);
	wanted = fsq_limits_wanted(&is, &request->limits, request->unlimited, fd);
	return fsq_limits_are_same(&is, &wanted);
}

bool fsq_assigned_has(struct fsq_assigned *assigned, const struct fsq_assign_request *request)
{
	if (!assigned || !request || !request->directory)
		return false;

	uint32_t id = fsq_entries_id_of_word(&assigned->lines, request->directory, true);
	struct fsq_assign_request all;
	struct fsq_inode_project project;
	bool has;
	int fd;

	if (fsq_assign_read_request(&all, request, NULL) || id == 0 ||
	    (request->id && request->id != id) || request->hard_percent || request->soft_percent ||
	    request->require_enforced ||
	    (request->name && fsq_entries_id_of_word(&assigned->names, request->name, true) != id))
		return false;
	fd = open_without_symlinks(request->directory);
	if (fd < 0)
		return false;
	has = fsq_inode_project_get(fd, &project) == 0 && project.id == id && project.inherit &&
	      has_wanted_limits(fd, id, &all);
	close(fd);
	return has;
}
