/* SPDX-License-Identifier: Apache-2.0 */
#include "resize.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "directory.h"
#include "limits.h"
#include "units.h"

static int find_size(const struct fsq_resize_request *request, const struct fsq_amounts *amounts,
		     uint64_t *blocks, struct fsq_error *err)
{
	const char *path = request->directory;
	uint64_t hard = amounts->hard >= FSQ_UNLIMITED_BLOCKS ? 0 : amounts->hard;

	*blocks = fsq_limit_blocks_up(request->bytes);
	if (request->relative && hard == 0)
		return fsq_fail(err, FSQ_E_CONFLICT, 0, path, "has no limit that could grow");
	if (request->relative)
		*blocks += hard;
	if (*blocks >= FSQ_UNLIMITED_BLOCKS)
		return fsq_fail(err, FSQ_E_USAGE, 0, path, "the limit would be 256 PiB or more");
	if (*blocks < amounts->used)
		return fsq_fail(err, FSQ_E_CONFLICT, 0, path,
				"would be smaller than the %" PRIu64 " bytes that are in use",
				amounts->used * FSQ_BASIC_BLOCK);
	if (*blocks >= hard || hard == 0 || request->allow_shrink)
		return 0;
	fsq_fail(err, FSQ_E_CONFLICT, 0, path, "would be smaller than the %" PRIu64 " bytes it has",
		 hard * FSQ_BASIC_BLOCK);
	if (err)
		err->hint = "use --allow-shrink if that is meant";
	return FSQ_E_CONFLICT;
}

/* Of a directory in a project: the one that is registered nearest above it, with the same ID. */
static uint32_t find_above(const struct fsq_directory *directory,
			   const struct fsq_project_edit *edit)
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

static int find_id(const struct fsq_resize_request *request, struct fsq_directory *directory,
		   struct fsq_project_edit *edit, uint32_t *id, struct fsq_error *err)
{
	struct fsq_owner owner;
	int rc = fsq_owner_lock(directory, edit, &request->claim, request->manner, &owner, err);

	if (rc)
		return rc;
	*id = owner.id ? owner.id : find_above(directory, edit);
	if (*id == 0 && request->claim.has_id && request->claim.id == directory->project.id)
		*id = request->claim.id;
	if (*id && (!request->claim.has_id || request->claim.id == *id))
		return 0;
	if (*id || owner.disputed)
		return fsq_fail(err, FSQ_E_CONFLICT, 0, request->directory, "has project ID %u",
				*id ? *id : directory->project.id);
	if (directory->project.id == 0)
		return fsq_fail(err, FSQ_E_NOT_FOUND, 0, request->directory,
				"belongs to no project");
	fsq_fail(err, FSQ_E_CONFLICT, 0, request->directory,
		 "has project ID %u from a directory above it", directory->project.id);
	if (err)
		err->hint = "name that directory, or insist with --id";
	return FSQ_E_CONFLICT;
}

static int resize(const struct fsq_resize_request *request, struct fsq_directory *directory,
		  struct fsq_project_edit *edit, struct fsq_error *err)
{
	struct fsq_limits limits;
	struct fsq_dquot dquot;
	uint64_t blocks;
	uint32_t id;
	int rc = find_id(request, directory, edit, &id, err);

	if (rc)
		return rc;
	rc = -fsq_kernel_get(&directory->target, FSQ_PROJECT, id, &dquot);
	if (rc)
		return fsq_fail(err, fsq_code_of_errno(rc), rc, request->directory,
				"cannot read the quota of project %u", id);
	rc = find_size(request, &dquot.form[FSQ_BLOCKS], &blocks, err);
	if (rc || request->dry_run)
		return rc;
	limits = fsq_limits_of(&dquot);
	limits.mask = FSQ_SOFT(FSQ_BLOCKS) | FSQ_HARD(FSQ_BLOCKS);
	if (limits.soft[FSQ_BLOCKS] && (limits.soft[FSQ_BLOCKS] == limits.hard[FSQ_BLOCKS] ||
					limits.soft[FSQ_BLOCKS] > blocks))
		limits.soft[FSQ_BLOCKS] = blocks;
	limits.hard[FSQ_BLOCKS] = blocks;
	return fsq_limits_set(&directory->target, id, &limits, request->directory, err);
}

int fsq_resize(const struct fsq_resize_request *request, struct fsq_error *err)
{
	struct fsq_directory directory;
	struct fsq_project_edit *edit;
	int rc = fsq_directory_open(&directory, request->directory, err);

	if (rc)
		return rc;
	/* The files are only looked at. */
	edit = fsq_project_edit_new(&request->registry, FSQ_EDIT_LOOK);
	if (!edit)
		rc = fsq_fail(err, FSQ_E_FAILED, ENOMEM, request->directory, "cannot go on");
	else
		do {
			rc = resize(request, &directory, edit, err);
		} while (fsq_directory_retry(&directory, &rc, err));
	fsq_project_edit_free(edit);
	fsq_directory_close(&directory);
	return rc;
}
