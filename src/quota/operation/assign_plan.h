/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What dry runs of fsq_assign() would have done, for the next one: the lines of both files, and the
 * directories with their limits.
 */
#ifndef FSQ_ASSIGN_PLAN_H
#define FSQ_ASSIGN_PLAN_H

#include <sys/stat.h>

#include "quota/fsquota.h"

struct fsq_planned {
	char *path;
	dev_t dev;
	ino_t ino; /* 0: it would be made */
	uint32_t id;
	struct fsq_limits limits; /* of the project, then */
};

struct fsq_assign_plan {
	char *lines[2]; /* as of /etc/projects, and of /etc/projid */
	struct fsq_planned *list;
	size_t count, capacity;
};

/* Of each function @plan may be NULL: then nothing is planned. */

/** @return  what is planned for a directory, by its identity, or by its path if it would be made; or NULL */
const struct fsq_planned *fsq_assign_plan_find(const struct fsq_assign_plan *plan,
					       const struct stat *st, const char *path);

/** @return  what is planned last for a project, or NULL */
const struct fsq_planned *fsq_assign_plan_of_id(const struct fsq_assign_plan *plan, dev_t dev,
						uint32_t id);

/** @return  a directory below @path that is planned with another ID, or NULL */
const struct fsq_planned *fsq_assign_plan_below(const struct fsq_assign_plan *plan,
						const char *path, uint32_t id);

/** @return  0 or -ENOMEM */
int fsq_assign_plan_add_name(struct fsq_assign_plan *plan, uint32_t id, const char *name);
int fsq_assign_plan_add(struct fsq_assign_plan *plan, const struct fsq_planned *planned);

#endif
