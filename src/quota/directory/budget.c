/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much the hard limits of the projects in a directory, or on a filesystem, may add up to. A budget covers
 * its own filesystem only. A project without a limit does not count.
 */
#include "budget.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "quota/base/error.h"
#include "quota/base/path.h"
#include "quota/base/units.h"
#include "quota/kernel/fs_type.h"
#include "quota/kernel/space.h"
#include "quota/mounts/lookup.h"
#include "quota/registry/entries.h"

static uint64_t sum(uint64_t one, uint64_t other)
{
	return one + other < one ? UINT64_MAX : one + other;
}

static void add_up(struct fsq_budget_use *use, const struct fsq_dquot *dquot)
{
	const struct fsq_amounts *amounts = &dquot->form[FSQ_BLOCKS];
	uint64_t hard = fsq_limit_or_0(amounts->hard);

	if (!hard && !amounts->used && !dquot->form[FSQ_INODES].used)
		return;
	use->projects++;
	use->unlimited += !hard;
	use->hard_bytes = sum(use->hard_bytes, hard * FSQ_BASIC_BLOCK);
	use->used_bytes += amounts->used * FSQ_BASIC_BLOCK;
}

/* @return   0 or a negative errno */
static int add_up_ids(struct fsq_target *target, struct fsq_id_set *ids, struct fsq_budget_use *use)
{
	struct fsq_dquot dquot;
	int rc = 0;

	fsq_id_set_sort(ids);
	for (size_t i = 0; i < ids->count && rc == 0; i++) {
		if (ids->ids[i] == 0)
			continue;
		rc = fsq_quotactl_get(target, FSQ_PROJECT, ids->ids[i], &dquot);
		if (rc == 0)
			add_up(use, &dquot);
		rc = rc == -ENOENT ? 0 : rc;
	}
	return rc;
}

/* @return   0 or a negative errno */
static int add_up_all(struct fsq_target *target, struct fsq_budget_use *use)
{
	struct fsq_dquot dquot;
	int rc = 0;

	for (uint64_t id = 1; id <= FSQ_ID_MAX && rc == 0; id = (uint64_t)dquot.id + 1) {
		rc = fsq_quotactl_get_next(target, FSQ_PROJECT, (uint32_t)id, &dquot);
		if (rc == 0)
			add_up(use, &dquot);
	}
	return rc == -ENOENT ? 0 : rc;
}

static int find_bound(const struct fsq_budget *budget, struct fsq_handle *handle,
		      struct fsq_budget_use *use, struct fsq_error *err)
{
	struct fsq_space space[FSQ_FORMS];
	int rc;

	use->budget_bytes = budget->bytes;
	if (!budget->percent)
		return 0;
	rc = fsq_handle_space(handle, space, err);
	if (rc)
		return rc;
	use->budget_bytes = space[FSQ_BLOCKS].total / 100 * budget->percent;
	return 0;
}

/* --- what is in the directory of a budget --- */

/* A budget's directory. Others are in it by their path, or by where they are on the filesystem. */
struct scope {
	char *directory; /* as the registry has it; or NULL: the whole filesystem */
	char *place;	 /* its path on the filesystem; NULL: not asked for yet, or not known */
	dev_t dev;
	const struct fsq_mount_points *mounts;
	int rc; /* 0 or a negative errno */
};

static char *find_place_on_filesystem(struct scope *scope, const char *path, dev_t *dev)
{
	char *place = fsq_lookup_place(scope->mounts, path, dev);

	if (!place && errno == ENOMEM)
		scope->rc = -ENOMEM;
	return place;
}

/* A fsq_directory_test for scopes with a directory. */
static bool is_in(const char *path, size_t length, void *arg)
{
	struct scope *scope = arg;
	char *name, *place;
	dev_t dev = 0;
	bool in;

	if (fsq_path_below(scope->directory, path, length))
		return true;
	if (!scope->place && scope->rc == 0)
		scope->place = find_place_on_filesystem(scope, scope->directory, &dev);
	name = scope->place ? strndup(path, length) : NULL;
	if (scope->place && !name)
		scope->rc = -ENOMEM;
	place = name ? find_place_on_filesystem(scope, name, &dev) : NULL;
	in = place && dev == scope->dev && fsq_path_below(scope->place, place, strlen(place));
	free(name);
	free(place);
	return in;
}

static void scope_clear(struct scope *scope)
{
	free(scope->directory);
	free(scope->place);
}

/*
 * Does a budget cover a filesystem?
 *
 * @scope    its directory is set if it does
 * @return    1 or 0, or a negative errno
 */
static int is_of(const struct fsq_budget *budget, dev_t dev, struct scope *scope)
{
	struct stat st;
	int fd, rc;

	if (!budget->directory)
		return 1;
	fd = fsq_lookup(scope->mounts, budget->directory, O_PATH | O_DIRECTORY, NULL);
	/* Where something else is in its place, it is the budget of nothing. */
	if (fd < 0)
		return fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP || fd == -EXDEV ? 0 : fd;
	rc = fstat(fd, &st) == 0 && st.st_dev == dev;
	if (rc && !budget->percent) {
		scope->dev = dev;
		scope->directory = fsq_fd_path(fd);
		rc = scope->directory ? 1 : -ENOMEM;
	}
	close(fd);
	return rc;
}

static int fail_to_add_up(int rc, const char *path, struct fsq_error *err)
{
	return fsq_fail_errno(err, -rc, path, "cannot add up the limits");
}

/* Does another directory of the project count in the budget already? */
static bool is_counted(const struct fsq_budget_check *check, struct scope *scope)
{
	bool counted = false;
	size_t at = 0;
	char *path;

	while (!counted && (path = fsq_project_edit_next_directory(check->edit, check->id, &at))) {
		counted = is_in(path, strlen(path), scope);
		free(path);
	}
	return counted;
}

static int fail_over_budget(const struct fsq_budget_check *check, const struct fsq_budget *budget,
			    const struct fsq_budget_use *use, struct fsq_error *err)
{
	char of[FSQ_SIZE_TEXT], left[FSQ_SIZE_TEXT];
	uint64_t rest =
		use->budget_bytes > use->hard_bytes ? use->budget_bytes - use->hard_bytes : 0;

	fsq_size_text(of, use->budget_bytes / FSQ_BASIC_BLOCK);
	fsq_size_text(left, rest / FSQ_BASIC_BLOCK);
	if (budget->percent)
		fsq_fail(err, FSQ_E_CONFLICT, 0, check->handle->path,
			 "the limit does not fit: limits may add up to %s, %u%% of the filesystem, "
			 "and "
			 "%s are left",
			 of, budget->percent, left);
	else
		fsq_fail(err, FSQ_E_CONFLICT, 0, check->handle->path,
			 "the limit does not fit: the budget of %.150s is %s, and %s are left",
			 budget->directory, of, left);
	return fsq_add_hint(err, FSQ_HINT_FORCE, FSQ_E_CONFLICT);
}

/* By how many bytes the committed sum would grow. */
static int64_t growth(const struct fsq_budget_check *check, struct scope *scope)
{
	uint64_t before = fsq_limit_or_0(check->before), after = fsq_limit_or_0(check->after);

	if (scope->directory && !is_counted(check, scope)) {
		before = 0;
		if (!check->path || !is_in(check->path, strlen(check->path), scope))
			after = 0;
	}
	return ((int64_t)after - (int64_t)before) * FSQ_BASIC_BLOCK;
}

static int add_up_promises(const struct fsq_budget_check *check, struct scope *scope,
			   struct fsq_budget_use *use, struct fsq_error *err)
{
	struct fsq_target *target = &check->handle->target;
	struct fsq_id_set ids = { 0 };
	int rc = scope->directory ? fsq_project_edit_ids_of(check->edit, is_in, scope, &ids) : 0;

	rc = rc ? rc : scope->rc;
	if (rc == 0)
		rc = scope->directory ? add_up_ids(target, &ids, use) : add_up_all(target, use);
	fsq_id_set_free(&ids);
	return rc ? fail_to_add_up(rc, check->handle->path, err) : 0;
}

static int check_one(struct fsq_budget_check *check, struct fsq_budget *budget, dev_t dev,
		     const struct fsq_mount_points *mounts, struct fsq_error *err)
{
	struct scope scope = { .mounts = mounts };
	struct fsq_budget_use use = { 0 };
	int64_t more;
	int rc = is_of(budget, dev, &scope);

	if (rc <= 0)
		return rc ? fsq_fail(err, FSQ_E_FAILED, -rc, budget->directory, "cannot open") : 0;
	more = growth(check, &scope);
	rc = scope.rc ? fail_to_add_up(scope.rc, check->handle->path, err) : 0;
	if (rc == 0 && more > 0)
		rc = find_bound(budget, check->handle, &use, err);
	if (rc == 0 && more > 0)
		rc = add_up_promises(check, &scope, &use, err);
	if (use.hard_bytes != UINT64_MAX)
		use.hard_bytes += (uint64_t)budget->planned;
	if (rc == 0 && more > 0 && sum(use.hard_bytes, (uint64_t)more) > use.budget_bytes) {
		check->over = budget;
		rc = check->force ? 0 : fail_over_budget(check, budget, &use, err);
	}
	if (rc == 0 && check->dry_run)
		budget->planned += more;
	scope_clear(&scope);
	return rc;
}

int fsq_budget_check(struct fsq_budget_check *check, struct fsq_error *err)
{
	struct fsq_mount_points *mounts;
	struct stat st;
	int rc;

	check->over = NULL;
	if (check->count == 0)
		return 0;
	if (fstat(check->handle->target.fd, &st))
		return fsq_fail(err, FSQ_E_FAILED, errno, check->handle->path, "cannot read");
	rc = fsq_mount_points_read(&mounts, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < check->count && rc == 0; i++)
		rc = check_one(check, &check->budgets[i], st.st_dev, mounts, err);
	fsq_mount_points_free(mounts);
	return rc;
}

int fsq_budget_get(const struct fsq_budget *budget, const char *projects_file,
		   struct fsq_budget_use *use, struct fsq_error *err)
{
	struct fsq_mount_points *mounts;
	struct scope scope = { 0 };
	struct fsq_entries lines = { 0 };
	struct fsq_id_set ids = { 0 };
	struct fsq_handle handle;
	struct stat st;
	int rc;

	*use = (struct fsq_budget_use){ .budget_bytes = budget->bytes };
	rc = fsq_mount_points_read(&mounts, err);
	if (rc)
		return rc;
	scope.mounts = mounts;
	scope.directory = fsq_lookup_spelling(mounts, budget->directory);
	if (scope.directory)
		rc = fsq_handle_open_directory(&handle, scope.directory, mounts, err);
	else
		rc = fsq_fail_errno(err, errno, budget->directory, "cannot open");
	if (rc) {
		scope_clear(&scope);
		fsq_mount_points_free(mounts);
		return rc;
	}
	scope.dev = fstat(handle.target.fd, &st) ? 0 : st.st_dev;
	rc = fsq_entries_of_projects(&lines, projects_file ? projects_file : FSQ_PROJECTS_FILE,
				     err);
	if (rc)
		goto out;
	for (size_t i = 0; i < lines.count && rc == 0; i++)
		if (is_in(lines.list[i].word, strlen(lines.list[i].word), &scope))
			rc = fsq_id_set_add(&ids, lines.list[i].id);
	rc = rc ? rc : scope.rc;
	if (rc == 0)
		rc = add_up_ids(&handle.target, &ids, use);
	if (rc)
		rc = fail_to_add_up(rc, budget->directory, err);
out:
	rc = fsq_handle_explain(&handle, rc, err);
	fsq_id_set_free(&ids);
	fsq_entries_free(&lines);
	scope_clear(&scope);
	fsq_mount_points_free(mounts);
	fsq_handle_close(&handle);
	return rc;
}
