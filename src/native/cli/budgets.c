/* SPDX-License-Identifier: Apache-2.0 */
#include "budgets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "paths.h"
#include "shared/array.h"

/* Keeps the product within 64 bits. */
#define PERCENT_MAX 10000

int budgets_add(struct session *session, const char *key, const char *directory, const char *value)
{
	struct fsq_budget budget = { .directory = directory };
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
	if (directory && !(budget.directory = strdup(directory)))
		return -ENOMEM;
	if (array_add(&session->budgets, &session->budget_count, &session->budget_capacity, &budget,
		      sizeof(budget)))
		return 0;
	free((char *)budget.directory);
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
	struct stat st;

	if (stat(budget->directory, &st) == 0)
		return st.st_dev;
	if (errno != ENOENT && errno != ENOTDIR)
		session_errno(session, ERROR_AT_PATH, errno, budget->directory,
			      "cannot be looked at, and it has a budget");
	return 0;
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
	int64_t bytes = fsq_limit_is_none(hard) ? 0 : (int64_t)hard * FSQ_BASIC_BLOCK;
	struct stat st;

	if (stat(directory, &st))
		return;
	for (size_t i = 0; i < session->budget_count; i++) {
		struct fsq_budget *budget = &session->budgets[i];

		if (budget->directory &&
		    (budgets_dev(session, budget) != st.st_dev ||
		     (!budget->percent && !scope_is_below(directory, budget->directory))))
			continue;
		budget->planned -= bytes;
	}
}
