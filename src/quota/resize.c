/* SPDX-License-Identifier: Apache-2.0 */
#include "resize.h"

#include <errno.h>
#include <inttypes.h>

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

static int resize(const struct fsq_resize_request *request, struct fsq_directory *directory,
		  struct fsq_error *err)
{
	struct fsq_limits limits;
	struct fsq_dquot dquot;
	uint64_t blocks;
	uint32_t id;
	int rc = fsq_directory_read_project(directory, err);

	if (rc)
		return rc;
	id = directory->project.id;
	if (id == 0)
		return fsq_fail(err, FSQ_E_NOT_FOUND, 0, request->directory,
				"belongs to no project");
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
	int rc = fsq_directory_open(&directory, request->directory, err);

	if (rc)
		return rc;
	do {
		rc = resize(request, &directory, err);
	} while (fsq_directory_retry(&directory, &rc, err));
	fsq_directory_close(&directory);
	return rc;
}
