/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "budget.h"
#include "owner.h"
#include "project_location.h"
#include "resize.h"
#include "quota/base/error.h"
#include "quota/base/units.h"
#include "quota/kernel/fs_type.h"
#include "quota/limits/limits.h"
#include "quota/mounts/filesystem_handle.h"

/* So that limit * percent fits in 64 bits. */
#define PERCENT_MAX 10000

/* @whose    has the limits, in a message */
static int find_size(const struct fsq_resize_request *request, const struct fsq_amounts *amounts,
		     const char *whose, int fd, uint64_t *blocks, struct fsq_error *err)
{
	const char *path = request->directory;
	uint64_t hard = fsq_limit_or_0(amounts->hard);
	char text[FSQ_SIZE_TEXT];

	*blocks = fsq_limit_blocks_up(request->bytes);
	if ((request->relative || request->percent) && hard == 0)
		return fsq_fail(err, FSQ_E_CONFLICT, 0, path, "has no limit that could grow");
	if (request->percent)
		*blocks = (hard * request->percent + 99) / 100;
	if (request->relative || request->percent)
		*blocks += hard;
	if (*blocks >= FSQ_UNLIMITED_BLOCKS)
		return fsq_fail(err, FSQ_E_USAGE, 0, path, "the limit would be 256 PiB or more");
	/* Setting the current size again is not shrinking. */
	*blocks = fsq_limit_round(*blocks, fd);
	if (*blocks < amounts->used)
		return fsq_add_hint(err, FSQ_HINT_ASSIGN_LESS,
				    fsq_fail(err, FSQ_E_CONFLICT, 0, path,
					     "would be smaller than the %s that are in use",
					     fsq_size_text(text, amounts->used)));
	if (*blocks >= hard || request->allow_shrink)
		return 0;
	fsq_fail(err, FSQ_E_CONFLICT, 0, path, "would be smaller than the %s %s has",
		 fsq_size_text(text, hard), whose);
	return fsq_add_hint(err, FSQ_HINT_ALLOW_SHRINK, FSQ_E_CONFLICT);
}

static int find_inodes(const struct fsq_resize_request *request, const struct fsq_dquot *dquot,
		       const char *whose, struct fsq_limits *limits, struct fsq_error *err)
{
	const struct fsq_amounts *amounts = &dquot->form[FSQ_INODES];
	uint64_t hard = request->limits.hard[FSQ_INODES], has = fsq_limit_or_0(amounts->hard);

	if (!(request->limits.mask & FSQ_HARD(FSQ_INODES)))
		return 0;
	if (hard && hard < amounts->used)
		return fsq_add_hint(err, FSQ_HINT_ASSIGN_LESS,
				    fsq_fail(err, FSQ_E_CONFLICT, 0, request->directory,
					     "would be smaller than the %" PRIu64
					     " inodes that are in use",
					     amounts->used));
	if (hard && hard < has && !request->allow_shrink) {
		fsq_fail(err, FSQ_E_CONFLICT, 0, request->directory,
			 "would be smaller than the %" PRIu64 " inodes %s has", has, whose);
		return fsq_add_hint(err, FSQ_HINT_ALLOW_SHRINK, FSQ_E_CONFLICT);
	}
	limits->hard[FSQ_INODES] = hard;
	if (!fsq_limit_is_none(amounts->soft) &&
	    ((hard && amounts->soft > hard) || amounts->soft == has))
		limits->soft[FSQ_INODES] = hard;
	return 0;
}

/* Compute the new limits. */
static int find_new_limits(const struct fsq_resize_request *request, const struct fsq_dquot *dquot,
			   bool above, int fd, struct fsq_limits *limits, struct fsq_error *err)
{
	const char *whose = above ? "its project" : "it";
	uint64_t hard = limits->hard[FSQ_BLOCKS], *soft = &limits->soft[FSQ_BLOCKS], blocks;
	int rc;

	if (request->no_hard) {
		*soft = *soft == hard ? 0 : *soft;
		limits->hard[FSQ_BLOCKS] = 0;
	}
	if (request->bytes || request->percent) {
		rc = find_size(request, &dquot->form[FSQ_BLOCKS], whose, fd, &blocks, err);
		if (rc)
			return rc;
		if (!fsq_limit_is_none(*soft) &&
		    (*soft == hard || request->relative || request->percent))
			*soft += blocks - hard;
		if (*soft > blocks && !fsq_limit_is_none(*soft))
			*soft = blocks;
		limits->hard[FSQ_BLOCKS] = blocks;
	}
	rc = find_inodes(request, dquot, whose, limits, err);
	for (int form = FSQ_BLOCKS; form <= FSQ_INODES; form++)
		if (request->limits.mask & FSQ_SOFT(form))
			limits->soft[form] = request->limits.soft[form];
	fsq_limits_order(limits);
	fsq_limits_round(limits, fd);
	return rc;
}

/* The ID of the nearest registered directory above, if the directory carries it. */
static uint32_t find_above(const struct fsq_handle *directory, const struct fsq_project_edit *edit)
{
	char *above = strdup(directory->path), *slash;
	uint32_t id, found = 0;

	while (above && found == 0 && (slash = strrchr(above, '/')) && slash != above) {
		*slash = '\0';
		if (fsq_project_edit_id_of(edit, above, &id))
			found = id;
	}
	free(above);
	return found == directory->project.id ? found : 0;
}

static int find_project_of_directory(const struct fsq_resize_request *request,
				     struct fsq_handle *directory, struct fsq_project_edit *edit,
				     struct fsq_resized *resized, struct fsq_error *err)
{
	const struct fsq_claim claim = { .id = request->id };
	struct fsq_owner owner;
	int rc = fsq_owner_lock(directory, edit, &claim, request->options, &owner, err);
	uint32_t *id = &resized->id;

	if (rc)
		return rc;
	*id = owner.id ? owner.id : find_above(directory, edit);
	resized->above = *id && !owner.id;
	if (*id == 0 && request->id == directory->project.id)
		*id = request->id;
	if (*id && (!request->id || request->id == *id))
		return 0;
	if (*id || owner.disputed)
		return fsq_fail(err, FSQ_E_CONFLICT, 0, request->directory, "has project ID %u",
				*id ? *id : directory->project.id);
	if (directory->project.id == 0) {
		fsq_fail(err, FSQ_E_NOT_FOUND, 0, request->directory, "belongs to no project");
		return fsq_add_hint(err, FSQ_HINT_ASSIGN, FSQ_E_NOT_FOUND);
	}
	fsq_fail(err, FSQ_E_CONFLICT, 0, request->directory,
		 "has project ID %u from a directory above it", directory->project.id);
	return fsq_add_hint(err, FSQ_HINT_NAME_DIRECTORY, FSQ_E_CONFLICT);
}

/* Of fsq_resize_from(), which may be NULL. */
struct known_limits {
	const struct fsq_limits *from, *back;
};

/* Only if the limits are those that the caller knows. Going back it needs no room, and asks no budget. */
static int check_known(const struct known_limits *known, struct fsq_resized *resized,
		       const char *path, struct fsq_error *err)
{
	const struct fsq_limits *before = &resized->before;

	if (known->back)
		resized->after = *known->back;
	if (fsq_limits_are_same(before, known->from) ||
	    (known->back && fsq_limits_are_same(before, known->back)))
		return 0;
	return fsq_fail(err, FSQ_E_CONFLICT, 0, path, "has other limits meanwhile");
}

/* @request's directory is named in errors; @edit holds the locks */
static int set_new_limits(const struct fsq_resize_request *request,
			  const struct known_limits *known, struct fsq_handle *handle,
			  const struct fsq_project_edit *edit, struct fsq_resized *resized,
			  struct fsq_error *err)
{
	const bool goes_back = known && known->back;
	struct fsq_budget_check check = { .budgets = request->budgets,
					  .count = request->budget_count,
					  .force = request->over_budget,
					  .dry_run = request->dry_run,
					  .handle = handle,
					  .id = resized->id,
					  .edit = edit };
	struct fsq_target *target = &handle->target;
	/* The others let a grace time begin anew when limits are set. */
	const bool is_xfs = fsq_is_xfs(target->fd);
	struct fsq_dquot dquot;
	int rc = fsq_limits_read(target, resized->id, false, &dquot, request->directory, err);

	if (rc)
		return rc;
	resized->before = resized->after = fsq_limits_of(&dquot);
	for (int form = 0; form < FSQ_FORMS; form++) {
		resized->used[form] = dquot.form[form].used;
		resized->expires[form] = is_xfs ? dquot.form[form].expires : 0;
	}
	rc = known ? check_known(known, resized, request->directory, err) : 0;
	if (rc == 0 && !goes_back)
		rc = find_new_limits(request, &dquot, resized->above, target->fd, &resized->after,
				     err);
	check.before = resized->before.hard[FSQ_BLOCKS];
	check.after = resized->after.hard[FSQ_BLOCKS];
	if (rc == 0 && !goes_back)
		rc = fsq_budget_check(&check, err);
	resized->over = check.over;
	resized->changed = fsq_limits_leave_changed(&resized->after, &resized->before);
	if (rc || !resized->changed)
		return rc;
	return fsq_limits_set(target, resized->id, &resized->after, request->dry_run,
			      request->directory, err);
}

static int resize_directory(const struct fsq_resize_request *request,
			    const struct known_limits *known, struct fsq_project_edit *edit,
			    struct fsq_resized *resized, struct fsq_error *err)
{
	struct fsq_handle directory;
	struct stat st;
	int rc = fsq_handle_open_directory(&directory, request->directory,
					   fsq_mounts_of(request->options), err);

	if (rc)
		return rc;
	if (fstat(directory.target.fd, &st) == 0)
		resized->dev = st.st_dev;
	fsq_project_edit_before_locks(edit, fsq_quotactl_wait_thawed, &directory.target);
	rc = find_project_of_directory(request, &directory, edit, resized, err);
	if (rc == 0)
		rc = set_new_limits(request, known, &directory, edit, resized, err);
	rc = fsq_handle_explain(&directory, rc, err);
	fsq_handle_close(&directory);
	return rc;
}

static int resize_project(const struct fsq_resize_request *request, struct fsq_project_edit *edit,
			  struct fsq_resized *resized, struct fsq_error *err)
{
	struct fsq_project_location handle = { .id = request->id };
	struct fsq_filesystem *opened = NULL, *fs = NULL;
	int rc;

	if (request->id == 0)
		return fsq_fail(err, FSQ_E_USAGE, 0, NULL, "no project is given");
	if (request->at)
		rc = fsq_filesystem_open(&opened, request->at, NULL, 0, err);
	else
		rc = fsq_project_location_open(
			&handle, fsq_registry_or_default(request->registry)->projects_file, err);
	if (opened)
		fs = opened;
	else if (rc == 0)
		rc = fsq_project_location_find(&handle, &fs, err);
	if (rc == 0 && fsq_registry_is_visible(request->registry)) {
		fsq_project_edit_before_locks(edit, fsq_quotactl_wait_thawed, &fs->handle.target);
		rc = fsq_project_edit_lock(edit, false, err);
		if (rc == 0 && !opened && !fsq_project_edit_is_shared(edit, request->id, NULL))
			rc = fsq_fail(err, FSQ_E_NOT_FOUND, 0, NULL,
				      "project %u was released at the same time", request->id);
	}
	if (rc == 0) {
		struct fsq_resize_request here = *request;

		here.directory = fs->info.directory;
		resized->id = request->id;
		resized->dev = fs->info.dev;
		rc = set_new_limits(&here, NULL, &fs->handle, edit, resized, err);
		rc = fsq_add_path(err, here.directory, fsq_handle_explain(&fs->handle, rc, err));
	}
	fsq_filesystem_close(opened);
	fsq_project_location_close(&handle);
	return rc;
}

/* Hold the locks throughout: a release that has removed the limits would not notice new ones. */
static int resize(const struct fsq_resize_request *asked, const struct known_limits *known,
		  struct fsq_resized *resized, struct fsq_error *err)
{
	struct fsq_resized result = { 0 };
	struct fsq_limits given;
	struct fsq_project_edit *edit;
	int rc = fsq_check_size(asked, asked->size, sizeof(*asked), err);

	if (rc)
		return rc;

	struct fsq_resize_request all = *asked, *request = &all;

	rc = fsq_check_parts(all.registry, all.options, err);
	if (rc == 0 && all.budget_count && !all.budgets)
		rc = fsq_fail_null(err);
	if (rc)
		return rc;
	fsq_limits_add(&all.limits, all.soft_bytes, 0, all.soft_inodes, all.hard_inodes);
	if (all.percent > PERCENT_MAX || (all.no_hard && (all.bytes || all.percent)))
		return fsq_fail(err, FSQ_E_USAGE, 0, all.directory, "cannot be resized so");
	given = all.limits;
	fsq_limits_add(&given, 0, all.relative ? 0 : all.bytes, 0, 0);
	rc = fsq_limits_check_asked(&given, all.directory, err);
	if (rc)
		return rc;
	edit = fsq_project_edit_new_reader(request->registry, request->dry_run, request->options);
	if (!edit)
		return fsq_fail_errno(err, ENOMEM, request->directory, "cannot go on");
	rc = request->directory ? resize_directory(request, known, edit, &result, err)
				: resize_project(request, edit, &result, err);
	fsq_project_edit_free(edit);
	if (rc == 0 && resized)
		*resized = result;
	return rc;
}

int fsq_resize(const struct fsq_resize_request *request, struct fsq_resized *resized,
	       struct fsq_error *err)
{
	return request ? resize(request, NULL, resized, err) : fsq_fail_null(err);
}

int fsq_resize_from(const struct fsq_resize_request *request, const struct fsq_limits *from,
		    const struct fsq_limits *back, struct fsq_resized *resized,
		    struct fsq_error *err)
{
	const struct known_limits known = { from, back };

	return resize(request, &known, resized, err);
}
