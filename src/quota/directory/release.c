/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quotas released: of a directory that exists, or that is gone, and of a project by its ID.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocate.h"
#include "project_location.h"
#include "quota/base/error.h"
#include "quota/base/path.h"
#include "quota/mounts/lookup.h"
#include "quota/limits/limits.h"
#include "quota/mounts/filesystem_handle.h"
#include "quota/registry/project_edit.h"
#include "release_directory.h"

/* XFS counts deleted files until it has cleaned up. */
#define LOOKS 50

struct project {
	const struct fsq_release_request *request;
	char *only; /* a directory that is gone; NULL: the whole project */
	struct fsq_project_location location;
	struct fsq_filesystem *opened; /* by @at */
	struct fsq_filesystem *fs;     /* @opened, or one of @location */
	struct fsq_project_edit *edit;
	struct fsq_released sum; /* of what was released */
	bool found;		 /* something of the project */
	struct fsq_error *err;
};

static enum fsq_presence find_here(struct project *p, const struct fsq_entry *line)
{
	return fsq_project_location_of(&p->location, line, p->fs);
}

static int find_registered_id(struct project *p)
{
	for (size_t i = 0; i < p->location.lines.count && p->location.id == 0; i++)
		if (fsq_path_is(p->only, p->location.lines.list[i].word,
				strlen(p->location.lines.list[i].word)))
			p->location.id = p->location.lines.list[i].id;
	if (p->location.id == 0)
		return fsq_fail(p->err, FSQ_E_NOT_FOUND, 0, p->only, "is not registered");
	if (p->request->id == 0 || p->request->id == p->location.id)
		return 0;
	return fsq_fail(p->err, FSQ_E_CONFLICT, 0, p->only, "has project ID %u", p->location.id);
}

static const char *where(const struct project *p)
{
	return fsq_filesystem_get_info(p->fs)->directory;
}

static void add_released(struct project *p, const struct fsq_released *released)
{
	struct fsq_released *sum = &p->sum;

	if (released->limits_off) {
		sum->limits_off = true;
		sum->limits = released->limits;
	}
	sum->lines += released->lines;
	sum->untagged += released->untagged;
	sum->left_inodes = released->left_inodes;
}

static int release_gone(const struct fsq_release_request *request, struct fsq_released *released,
			struct fsq_error *err);

/* The directory may be gone. */
static int release_one(const struct fsq_release_request *request, bool names,
		       struct fsq_released *released, struct fsq_error *err)
{
	struct fsq_error found = { 0 };
	int rc = fsq_release_directory(request, names, released, &found);

	if (rc == FSQ_E_NOT_FOUND && found.errnum)
		rc = release_gone(request, released, &found);
	if (rc && err)
		*err = found;
	return rc;
}

/* Each directory is released completely or not at all; those before a failure stay released. */
static int release_directories(struct project *p)
{
	struct fsq_release_request request = *p->request;
	struct fsq_released released;
	int rc = 0;

	for (size_t i = 0; i < p->location.lines.count && rc == 0; i++) {
		const struct fsq_entry *line = &p->location.lines.list[i];
		enum fsq_presence presence = find_here(p, line);

		if (presence == FSQ_UNSEEN)
			return fsq_project_location_fail_unseen(&p->location, line, p->err);
		if (presence != FSQ_PRESENT)
			continue;
		request.directory = line->word;
		rc = release_one(&request, false, &released, p->err);
		p->found = true;
		add_released(p, &released);
	}
	return rc;
}

static int remove_directory_line(struct project *p, const char *directory)
{
	bool dry_run = p->request->dry_run, names = p->only && !dry_run;

	p->found = true;
	p->sum.lines += fsq_project_edit_lines_of(p->edit, p->location.id, directory, names);
	return dry_run ? 0
		       : fsq_project_edit_remove(p->edit, p->location.id, directory, names, p->err);
}

/* Remove the names of an ID that has no directory any more. */
static int remove_names(struct project *p)
{
	if (!fsq_project_edit_has_name(p->edit, p->location.id) ||
	    fsq_project_edit_is_shared(p->edit, p->location.id, NULL))
		return 0;
	p->found = true;
	p->sum.lines += fsq_project_edit_lines_of(p->edit, p->location.id, NULL, true);
	return fsq_project_edit_remove(p->edit, p->location.id, NULL, true, p->err);
}

/* In a dry run the lines are still there, so count what would go. */
static void count_names(struct project *p, size_t elsewhere)
{
	uint64_t names = fsq_project_edit_names_of(p->edit, p->location.id);

	if (elsewhere > 0 || names == 0)
		return;
	p->found = true;
	p->sum.lines += names;
}

/* Remove the lines of missing directories and, with the last line of the ID, its names. */
static int remove_lines_of_gone(struct project *p)
{
	size_t elsewhere = 0;
	uint32_t now;
	int rc = 0;

	for (size_t i = 0; i < p->location.lines.count && rc == 0; i++) {
		const struct fsq_entry *line = &p->location.lines.list[i];
		enum fsq_presence presence = find_here(p, line);

		if (line->id != p->location.id ||
		    !fsq_project_edit_id_of(p->edit, line->word, &now))
			continue;
		/* An earlier line gives the directory to another project, so this line stays. */
		if (now != p->location.id)
			presence = FSQ_ELSEWHERE;
		if (presence == FSQ_UNSEEN)
			return fsq_project_location_fail_unseen(&p->location, line, p->err);
		elsewhere += presence == FSQ_ELSEWHERE;
		if (presence == FSQ_ELSEWHERE || presence == FSQ_PRESENT)
			continue;
		rc = remove_directory_line(p, line->word);
	}
	if (!p->request->dry_run)
		return rc ? rc : remove_names(p);
	count_names(p, elsewhere);
	return 0;
}

static int set_project_limits(struct project *p, const struct fsq_limits *limits)
{
	return fsq_limits_set(&p->fs->handle.target, p->location.id, limits, p->request->dry_run,
			      p->request->at, p->err);
}

/* Refuse to remove the limits while files outside of the registered directories have the ID. */
static int check_unused(struct project *p, const struct fsq_dquot *dquot)
{
	/* A dry run has counted the files that would lose the ID. */
	uint64_t untagged = p->request->dry_run ? p->sum.untagged : 0;
	uint64_t used = dquot->form[FSQ_INODES].used;

	used -= used < untagged ? used : untagged;
	if (used == 0 || p->request->keep_tags)
		return 0;
	return fsq_add_hint(p->err, FSQ_HINT_KEEP_TAGS,
			    fsq_fail(p->err, FSQ_E_CONFLICT, 0, where(p),
				     "%" PRIu64 " file%s project ID %u, outside of its registered "
				     "directories",
				     used, used == 1 ? " has" : "s have", p->location.id));
}

/* @limits   what to put back, if the project has those of a leftover now */
static void put_lines_and_limits_back(struct project *p, const struct fsq_limits *limits)
{
	const struct fsq_limits leftover = fsq_limits_of_leftover(p->fs->handle.target.fd);

	fsq_project_edit_rollback(p->edit);
	if (!fsq_limits_are_none(limits))
		fsq_limits_put_back(&p->fs->handle.target, p->location.id, &leftover, limits);
}

/*
 * Under the locks. Without limits the next call could not prove that the lines are of this filesystem, so they
 * go last; see fsq_limits_of_leftover().
 */
static int release_rest(struct project *p)
{
	bool shared = p->only && fsq_project_edit_is_shared(p->edit, p->location.id, p->only);
	const struct fsq_released before = p->sum;
	struct fsq_dquot dquot = { .id = p->location.id };
	struct fsq_limits limits, leftover, none;
	bool limited;
	int rc = shared ? 0
			: fsq_limits_read(&p->fs->handle.target, p->location.id, true, &dquot,
					  where(p), p->err);

	if (rc)
		return rc;
	rc = shared ? 0 : check_unused(p, &dquot);
	if (rc)
		return rc;
	/* For a shared ID nothing was read, so all are 0. */
	limits = fsq_limits_of(&dquot);
	leftover = fsq_limits_of_leftover(p->fs->handle.target.fd);
	none = (struct fsq_limits){ .mask = limits.mask };
	limited = !fsq_limits_are_none(&limits);
	if (limited)
		rc = set_project_limits(p, &leftover);
	if (rc == 0 && limited) {
		p->found = p->sum.limits_off = true;
		p->sum.limits = limits;
	}
	if (rc == 0 && !fsq_registry_or_default(p->request->registry)->none)
		rc = remove_lines_of_gone(p);
	if (rc == 0 && limited)
		rc = set_project_limits(p, &none);
	if (rc && !p->request->dry_run) {
		put_lines_and_limits_back(p, &limits);
		p->sum = before;
	}
	if (rc == 0 && !p->found)
		rc = fsq_fail(p->err, FSQ_E_NOT_FOUND, 0, where(p),
			      "there is no quota of project %u", p->location.id);
	return rc;
}

/* Remove only the names, unless a directory of the project cannot be seen. */
static int release_names(struct project *p)
{
	size_t left = 0;
	int rc = fsq_project_edit_lock(p->edit, false, p->err);

	if (rc || !p->request->dry_run)
		return rc ? rc : remove_names(p);
	for (size_t i = 0; i < p->location.lines.count; i++)
		left += p->location.lines.list[i].id == p->location.id &&
			find_here(p, &p->location.lines.list[i]) != FSQ_PRESENT;
	count_names(p, left);
	return 0;
}

static bool has_record(const struct fsq_volume *volume, uint32_t id)
{
	struct fsq_limits limits;
	struct fsq_dquot dquot;
	int rc = fsq_quota_get(volume->fs, FSQ_PROJECT, id, &dquot);

	if (rc)
		return rc != -ENOENT;
	limits = fsq_limits_of(&dquot);
	return fsq_dquot_is_used(&dquot) || !fsq_limits_are_none(&limits);
}

/*
 * Release a project none of whose directories is found. A killed release leaves its names. Remove them if no
 * filesystem has a record of the ID, and if the ID is from the range of assign: other IDs may belong to
 * filesystems that are not mounted.
 *
 * @rc       the result of locating it
 */
static int release_nowhere(struct project *p, int rc)
{
	const struct fsq_id_range usual =
		fsq_allocate_range(&(struct fsq_id_range){ 0 }, p->request->registry);
	const struct fsq_volumes *volumes = &p->location.volumes;

	if (rc != FSQ_E_NOT_FOUND || p->only || p->request->at || p->location.id < usual.first ||
	    p->location.id > usual.last)
		return rc;
	for (size_t i = 0; i < volumes->count; i++)
		if (volumes->list[i].has_quota && volumes->list[i].first == i &&
		    has_record(&volumes->list[i], p->location.id))
			return rc;
	rc = release_names(p);
	return rc || p->found ? rc : FSQ_E_NOT_FOUND;
}

static int release_everywhere(struct project *p)
{
	const struct fsq_registry *registry = fsq_registry_or_default(p->request->registry);
	struct fsq_dquot dquot;
	int looks = LOOKS;
	int rc = fsq_project_location_open(&p->location, registry->projects_file, p->err);

	if (rc == 0 && p->only)
		rc = find_registered_id(p);
	if (rc == 0)
		rc = p->request->at
			     ? fsq_filesystem_open(&p->opened, p->request->at, NULL, 0, p->err)
			     : fsq_project_location_find(&p->location, &p->fs, p->err);
	if (p->opened) {
		p->fs = p->opened;
		rc = fsq_project_location_name(&p->location, p->err);
	}
	if (!p->fs)
		return release_nowhere(p, rc);
	fsq_project_edit_before_locks(p->edit, fsq_quotactl_wait_thawed, &p->fs->handle.target);
	if (rc == 0)
		rc = release_directories(p);
	if (rc)
		return rc;
	/* Deleted files that are still open keep the ID; they were reported. */
	if (p->sum.left_inodes > 0)
		return release_names(p);
	rc = fsq_limits_read_settled(&p->fs->handle.target, p->location.id, &looks, &dquot,
				     where(p), p->err);
	if (rc == 0)
		rc = fsq_project_edit_lock(p->edit, false, p->err);
	if (rc == 0)
		rc = release_rest(p);
	return rc;
}

static int run_with_edit(struct project *p)
{
	const struct fsq_release_request *request = p->request;
	int rc;

	p->edit = fsq_project_edit_new(request->registry, request->dry_run, request->options);
	rc = p->edit ? release_everywhere(p)
		     : fsq_fail_errno(p->err, ENOMEM, request->directory, "cannot go on");
	if (p->fs)
		rc = fsq_add_path(p->err, where(p), fsq_handle_explain(&p->fs->handle, rc, p->err));
	fsq_project_edit_free(p->edit);
	fsq_filesystem_close(p->opened);
	fsq_project_location_close(&p->location);
	return rc;
}

static int release_by_id(const struct fsq_release_request *request, struct fsq_released *released,
			 struct fsq_error *err)
{
	struct project p = { .request = request, .location.id = request->id, .err = err };
	int rc;

	if (p.location.id == 0)
		return fsq_fail(err, FSQ_E_USAGE, 0, NULL, "no project is given");
	rc = run_with_edit(&p);
	*released = p.sum;
	released->id = p.location.id;
	return rc;
}

/*
 * Release a directory that does not exist any more, but may be registered.
 *
 * @err      the failure to open it; another failure replaces it
 */
static int release_gone(const struct fsq_release_request *request, struct fsq_released *released,
			struct fsq_error *err)
{
	struct fsq_error other = { 0 };
	struct project p = { .request = request, .err = &other };
	int rc;

	p.only = fsq_lookup_gone(fsq_mounts_of(request->options), request->directory);
	if (!p.only)
		return fsq_fail_errno(err, errno, request->directory, "cannot resolve the path");
	p.location.only = p.only;
	rc = run_with_edit(&p);
	free(p.only);
	*released = p.sum;
	released->id = p.location.id;
	/* If it is not registered, the failure to open it says more. */
	if (p.location.id == 0 && rc == FSQ_E_NOT_FOUND)
		return rc;
	if (rc && err)
		*err = other;
	return rc;
}

int fsq_release(const struct fsq_release_request *request, struct fsq_released *released,
		struct fsq_error *err)
{
	if (!request)
		return fsq_fail_null(err);

	struct fsq_released unwanted;
	int rc = fsq_check_size(request, request->size, sizeof(*request), err);

	released = released ? released : &unwanted;
	*released = (struct fsq_released){ 0 };
	if (rc == 0)
		rc = fsq_check_parts(request->registry, request->options, err);
	if (rc)
		return rc;
	return request->directory ? release_one(request, true, released, err)
				  : release_by_id(request, released, err);
}
