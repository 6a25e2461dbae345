/* SPDX-License-Identifier: Apache-2.0 */
#include "budgets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "paths.h"
#include "quota/base/path.h"
#include "quota/base/units.h"
#include "quota/mounts/lookup.h"
#include "shared/array.h"

/* Keeps the product within 64 bits. */
#define PERCENT_MAX 10000

int budgets_add(struct session *session, const char *key, const char *directory, const char *value)
{
	struct fsq_budget budget = { 0 };
	char *copy = NULL;
	size_t digits = value ? strspn(value, "0123456789") : 0;

	if (strcmp(key, "budget") == 0) {
		if (!value || !directory || fsq_parse_bytes(value, &budget.bytes))
			return -EINVAL;
	} else {
		if (digits == 0 || digits > 5 || strcmp(value + digits, "%") != 0)
			return -EINVAL;
		budget.percent = (unsigned int)strtoul(value, NULL, 10);
		if (budget.percent == 0 || budget.percent > PERCENT_MAX)
			return -EINVAL;
	}
	if (directory) {
		copy = strdup(directory);
		if (!copy)
			return -ENOMEM;
		fsq_path_clean(copy);
		budget.directory = copy;
	}
	if (array_add(&session->budgets, &session->budget_count, &session->budget_capacity, &budget,
		      sizeof(budget)))
		return 0;
	free(copy);
	return -ENOMEM;
}

void budgets_warn(struct session *session, const char *path, const struct fsq_budget *over)
{
	if (!over)
		return;
	if (over->percent)
		session_warn(session, path, "the limits are above %u%% of the filesystem now",
			     over->percent);
	else
		session_warn(session, path, "the limits are above the budget of %s now",
			     over->directory);
}

/* --- how they stand --- */

const char *budgets_where(const struct fsq_budget *budget, const char *mountpoint)
{
	return !budget ? NULL : budget->percent ? mountpoint : budget->directory;
}

dev_t budgets_dev(struct session *session, const struct fsq_budget *budget)
{
	const struct fsq_mount_points *points = session_mounts(session);
	struct stat st;
	int rc = points ? fsq_lookup_stat(points, budget->directory, 0, &st, NULL) : -ENOENT;

	if (rc && rc != -ENOENT && rc != -ENOTDIR && rc != -ELOOP && rc != -EXDEV)
		session_errno(session, ERROR_AT_PATH, -rc, budget->directory,
			      "cannot be looked at, and it has a budget");
	return rc ? 0 : st.st_dev;
}

uint64_t budgets_of_filesystem(struct session *session, dev_t dev, uint64_t size_bytes)
{
	uint64_t least = FIELD_NOT_KNOWN, bytes;

	for (size_t i = 0; i < session->budget_count; i++) {
		const struct fsq_budget *budget = &session->budgets[i];

		if (!budget->percent || (budget->directory && budgets_dev(session, budget) != dev))
			continue;
		bytes = size_bytes / 100 * budget->percent;
		if (bytes < least)
			least = bytes;
	}
	return least;
}

void budgets_plan_release(struct session *session, const char *directory, uint64_t hard)
{
	int64_t bytes = (int64_t)fsq_limit_or_0(hard) * FSQ_BASIC_BLOCK;
	const struct fsq_mount_points *points = session_mounts(session);
	struct stat st;

	if (!points || fsq_lookup_stat(points, directory, O_NOFOLLOW, &st, NULL))
		return;
	for (size_t i = 0; i < session->budget_count; i++) {
		struct fsq_budget *budget = &session->budgets[i];

		if (budget->directory &&
		    (budgets_dev(session, budget) != st.st_dev ||
		     (!budget->percent &&
		      !fsq_path_below(budget->directory, directory, strlen(directory)))))
			continue;
		budget->planned -= bytes;
	}
}
