/* SPDX-License-Identifier: Apache-2.0 */
#include "assign_plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quota/base/error.h"
#include "quota/base/path.h"
#include "shared/array.h"

enum { PROJECTS, PROJID };

int fsq_assign_plan_new(struct fsq_assign_plan **plan, struct fsq_error *err)
{
	*plan = calloc(1, sizeof(**plan));
	return *plan ? 0 : fsq_fail_errno(err, ENOMEM, NULL, "cannot go on");
}

void fsq_assign_plan_free(struct fsq_assign_plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < plan->count; i++)
		free(plan->list[i].path);
	free(plan->list);
	free(plan->lines[PROJECTS]);
	free(plan->lines[PROJID]);
	free(plan);
}

const struct fsq_planned *fsq_assign_plan_find(const struct fsq_assign_plan *plan,
					       const struct stat *st, const char *path)
{
	for (size_t i = plan ? plan->count : 0; i > 0; i--) {
		const struct fsq_planned *planned = &plan->list[i - 1];

		if (planned->ino ? st->st_ino == planned->ino && st->st_dev == planned->dev
				 : path && strcmp(planned->path, path) == 0)
			return planned;
	}
	return NULL;
}

const struct fsq_planned *fsq_assign_plan_of_id(const struct fsq_assign_plan *plan, dev_t dev,
						uint32_t id)
{
	for (size_t i = plan ? plan->count : 0; i > 0; i--)
		if (plan->list[i - 1].id == id && plan->list[i - 1].dev == dev)
			return &plan->list[i - 1];
	return NULL;
}

const struct fsq_planned *fsq_assign_plan_below(const struct fsq_assign_plan *plan,
						const char *path, uint32_t id)
{
	for (size_t i = 0; plan && i < plan->count; i++) {
		const struct fsq_planned *planned = &plan->list[i];
		const char *below = fsq_path_below(path, planned->path, strlen(planned->path));

		if (below && *below && planned->id != id)
			return planned;
	}
	return NULL;
}

/* Begin with a newline: the file may end without one. */
static int add_line(char **lines, char *line)
{
	char *longer;

	if (!line || asprintf(&longer, "%s%s\n", *lines ? *lines : "\n", line) < 0)
		longer = NULL;
	free(line);
	if (!longer)
		return -ENOMEM;
	free(*lines);
	*lines = longer;
	return 0;
}

int fsq_assign_plan_add_name(struct fsq_assign_plan *plan, uint32_t id, const char *name)
{
	char *line = NULL;

	if (!plan)
		return 0;
	return asprintf(&line, "%s:%u", name, id) < 0 ? -ENOMEM
						      : add_line(&plan->lines[PROJID], line);
}

int fsq_assign_plan_add(struct fsq_assign_plan *plan, const struct fsq_planned *planned)
{
	struct fsq_planned *list;
	char *line = NULL;

	if (!plan)
		return 0;
	list = array_grow(plan->list, plan->count, &plan->capacity, sizeof(*list));
	if (!list)
		return -ENOMEM;
	plan->list = list;
	list[plan->count] = *planned;
	list[plan->count].path = strdup(planned->path);
	if (!list[plan->count].path)
		return -ENOMEM;
	plan->count++;
	return asprintf(&line, "%u:%s", planned->id, planned->path) < 0
		       ? -ENOMEM
		       : add_line(&plan->lines[PROJECTS], line);
}
