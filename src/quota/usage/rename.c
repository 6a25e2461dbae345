/* SPDX-License-Identifier: Apache-2.0 */
#include "rename.h"

#include <errno.h>
#include <unistd.h>

#include "quota/base/error.h"
#include "quota/kernel/compat.h"
#include "quota/kernel/fs_type.h"
#include "quota/kernel/inode_project.h"
#include "quota/mounts/lookup.h"

struct place {
	struct statx stx;
	struct fsq_inode_project project; /* zeros where there are none */
	bool is_answered_for;
};

static int look_at(const char *path, struct place *place, struct fsq_error *err)
{
	int fd = fsq_lookup(NULL, path, FSQ_LOOKUP_READ | O_DIRECTORY, err), rc;
	struct statfs sfs;

	if (fd < 0)
		return fsq_failed(err, -fd);
	rc = get_statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_MNT_ID, &place->stx);
	place->is_answered_for = fstatfs(fd, &sfs) == 0 && fsq_is_answered_for(&sfs);
	if (rc == 0 && fsq_inode_project_get(fd, &place->project))
		place->project = (struct fsq_inode_project){ 0 };
	close(fd);
	return rc ? fsq_fail_errno(err, errno, path, "cannot stat") : 0;
}

/* A directory that hands an ID on takes no file with another one. */
static enum fsq_rename into(const struct place *from, const struct place *to)
{
	if (from->stx.stx_dev_major != to->stx.stx_dev_major ||
	    from->stx.stx_dev_minor != to->stx.stx_dev_minor)
		return FSQ_RENAME_OTHER_FILESYSTEM;
	if (from->stx.stx_mnt_id != to->stx.stx_mnt_id)
		return FSQ_RENAME_OTHER_MOUNT;
	if (to->is_answered_for)
		return FSQ_RENAME_UNKNOWN;
	return to->project.inherit &&
			       to->project.id != (from->project.inherit ? from->project.id : 0)
		       ? FSQ_RENAME_OTHER_PROJECT
		       : FSQ_RENAME_YES;
}

int fsq_rename_between(const char *from, const char *to, struct fsq_renames *renames,
		       struct fsq_error *err)
{
	struct place one = { 0 }, other = { 0 };
	int rc = look_at(from, &one, err) ?: look_at(to, &other, err);

	if (rc == 0)
		*renames = (struct fsq_renames){
			.there = into(&one, &other),
			.back = into(&other, &one),
			.id_from = one.project.id,
			.id_to = other.project.id,
		};
	return rc;
}
