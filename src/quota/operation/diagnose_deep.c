/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "disk_use.h"
#include "quota/base/units.h"
#include "registered.h"

static bool is_f2fs(int fd)
{
	struct statfs sfs;

	return fstatfs(fd, &sfs) == 0 && sfs.f_type == F2FS_SUPER_MAGIC;
}

static enum fsq_visit count_wrong(const struct fsq_tree_event *event, void *arg)
{
	uint64_t *count = arg;

	*count += event->kind & FSQ_TREE_WRONG_ID || event->kind == FSQ_TREE_NO_INHERITANCE;
	return FSQ_VISIT_CONTINUE;
}

/* How much in the directory does not carry the ID, or does not hand it on? */
static int count_others(const struct fsq_diagnosis *diagnosis, const struct fsq_registered *entry,
			uint64_t *count, struct fsq_error *err)
{
	const struct fsq_tree_request request = {
		.size = sizeof(request),
		.directory = entry->word,
		.id = entry->id,
		.action = FSQ_TREE_CHECK,
		.max_depth = FSQ_DEPTH_INFINITE,
		.emit = count_wrong,
		.arg = count,
		.options = diagnosis->request->options,
	};
	uint64_t entries;

	*count = 0;
	return fsq_project_tree(&request, &entries, err);
}

/* The kernel, and what is there. @return  0, or a failure in @err */
static int count_bytes(const struct fsq_diagnosis *diagnosis, const struct fsq_registered *entry,
		       int fd, struct fsq_finding *finding, struct fsq_error *err)
{
	struct fsq_target target = { .fd = fd };
	struct fsq_dquot dquot = { 0 };
	uint64_t inodes;
	int rc;

	/* What is not on the disk yet has other sizes for the two. */
	syncfs(fd);
	rc = fsq_disk_use(fd, entry->word, diagnosis->request->options, &finding->other_count,
			  &inodes, err);
	if (rc)
		return rc;
	rc = fsq_quotactl_get(&target, FSQ_PROJECT, entry->id, &dquot);
	/* Who may not ask, or where there is no quota, compares nothing. */
	finding->count = rc && rc != -ENOENT ? finding->other_count
					     : fsq_block_bytes(dquot.form[FSQ_BLOCKS].used);
	return 0;
}

bool fsq_diagnose_deep(struct fsq_diagnosis *diagnosis, const struct fsq_registered *entry, int fd,
		       struct fsq_finding *finding)
{
	struct fsq_error err;
	int rc = count_others(diagnosis, entry, &finding->count, &err);

	finding->id = FSQ_FINDING_TREE_HAS_OTHERS;
	if (rc == 0 && finding->count)
		return true;
	/* The kernel adds up all directories of an ID, and f2fs leaves out what du(1) counts. */
	if (rc == 0 && !entry->shared && !is_f2fs(fd))
		rc = count_bytes(diagnosis, entry, fd, finding, &err);
	if (rc && err.errnum == EINTR)
		fsq_diagnosis_fail(diagnosis, EINTR, entry->word);
	else if (rc)
		fsq_diagnosis_tell(diagnosis, &err);
	finding->id = FSQ_FINDING_COUNT_DIFFERS;
	return rc == 0 && finding->count != finding->other_count;
}
