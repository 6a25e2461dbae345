/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Would fsq_assign() change anything? Asked of a thousand directories, most of which are as they should be: four system
 * calls each; the files are read once.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "assign.h"
#include "quota/base/error.h"
#include "quota/kernel/inode_project.h"
#include "quota/limits/limits.h"
#include "quota/mounts/handle.h"
#include "quota/mounts/lookup.h"
#include "quota/registry/project_edit.h"

int fsq_assigned_refresh(struct fsq_assigned *assigned, const struct fsq_registry *registry,
			 struct fsq_error *err)
{
	return fsq_assigned_read(assigned, registry, err);
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

bool fsq_assigned_has_limits(struct fsq_assigned *assigned,
			     const struct fsq_assign_request *request)
{
	const uint32_t id = fsq_assigned_id(&assigned->projects, request->directory);
	struct fsq_handle directory;
	struct fsq_limits limits;
	struct fsq_dquot dquot;
	bool has;

	if (id == 0 || fsq_handle_open_directory(&directory, request->directory,
						 fsq_mounts_of(request->options), NULL))
		return false;
	has = fsq_quotactl_get(&directory.target, FSQ_PROJECT, id, &dquot) == 0;
	limits = has ? fsq_limits_of(&dquot) : (struct fsq_limits){ 0 };
	fsq_handle_close(&directory);
	return !fsq_limits_are_none(&limits);
}

bool fsq_assigned_has(struct fsq_assigned *assigned, const struct fsq_assign_request *request)
{
	if (!assigned || !request || !request->directory)
		return false;

	uint32_t id = fsq_assigned_id(&assigned->projects, request->directory);
	struct fsq_assign_request all;
	struct fsq_inode_project project;
	bool has, is_real;
	int fd;

	if (fsq_assign_read_request(&all, request, NULL) || id == 0 ||
	    (request->id && request->id != id) || request->hard_percent || request->soft_percent ||
	    request->require_enforced ||
	    (request->name && fsq_assigned_id(&assigned->projid, request->name) != id))
		return false;
	fd = fsq_lookup_real(fsq_mounts_of(request->options), request->directory,
			     O_RDONLY | O_DIRECTORY | O_NOFOLLOW, &is_real, NULL);
	if (fd < 0)
		return false;
	has = is_real && fsq_inode_project_get(fd, &project) == 0 && project.id == id &&
	      project.inherit && has_wanted_limits(fd, id, &all);
	close(fd);
	return has;
}
