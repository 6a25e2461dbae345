/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "disk_use.h"
#include "quota/base/path.h"
#include "quota/base/units.h"
#include "registered.h"

static bool is_f2fs(int fd)
{
	struct statfs sfs;

	return fstatfs(fd, &sfs) == 0 && sfs.f_type == F2FS_SUPER_MAGIC;
}

/* @path     NULL: is any directory registered below this one?
 * @return   whether it is in one of these */
static bool is_inside(const struct fsq_registered_list *list, const char *directory,
		      const char *path)
{
	for (size_t i = 0; i < list->count; i++) {
		const char *word = list->entries[i].word;
		const char *below = fsq_path_below(directory, word, strlen(word));

		if (below && *below && (!path || fsq_path_below(word, path, strlen(path))))
			return true;
	}
	return false;
}

struct others {
	const struct fsq_registered_list *list;
	const struct fsq_registered *entry;
	uint32_t carried; /* by the directory */
	bool only_foreign;
	bool foreign, has_inside;
	uint64_t count;
};

static enum fsq_visit count_wrong(const struct fsq_tree_event *event, void *arg)
{
	struct others *others = arg;

	if (!(event->kind & FSQ_TREE_WRONG_ID) && event->kind != FSQ_TREE_NO_INHERITANCE)
		return FSQ_VISIT_CONTINUE;
	if (others->has_inside && is_inside(others->list, others->entry->word, event->path))
		return FSQ_VISIT_CONTINUE;
	others->count++;
	others->foreign |=
		event->kind & FSQ_TREE_WRONG_ID && event->id != 0 && event->id != others->carried;
	return others->foreign && others->only_foreign ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

/* How much in the directory does not carry the ID, or does not hand it on? */
static int count_others(const struct fsq_diagnosis *diagnosis, struct others *others,
			struct fsq_error *err)
{
	const struct fsq_tree_request request = {
		.size = sizeof(request),
		.directory = others->entry->word,
		.id = others->entry->id,
		.action = FSQ_TREE_CHECK,
		.max_depth = FSQ_DEPTH_INFINITE,
		.emit = count_wrong,
		.arg = others,
		.options = diagnosis->request->options,
	};
	uint64_t entries;

	others->has_inside = is_inside(others->list, others->entry->word, NULL);
	return fsq_project_tree(&request, &entries, err);
}

bool fsq_diagnose_has_foreign(struct fsq_diagnosis *diagnosis,
			      const struct fsq_registered_list *list,
			      const struct fsq_registered *entry, uint32_t carried)
{
	struct others others = {
		.list = list, .entry = entry, .carried = carried, .only_foreign = true
	};
	struct fsq_error err;

	return count_others(diagnosis, &others, &err) || others.foreign;
}

/* The kernel, and what is there. @return  0, or a failure in @err */
static int count_bytes(const struct fsq_diagnosis *diagnosis, const struct fsq_registered *entry,
		       int fd, struct fsq_finding *finding, struct fsq_error *err)
{
	struct fsq_target target = { .fd = fd };
	struct fsq_dquot dquot = { 0 };
	int rc;

	/* Data that is not on the disk yet has different sizes in both. */
	syncfs(fd);
	rc = fsq_disk_use(fd, entry->word, diagnosis->request->options, &finding->other_count,
			  &finding->other_inodes, err);
	if (rc)
		return rc;
	rc = fsq_quotactl_get(&target, FSQ_PROJECT, entry->id, &dquot);
	/* Without the right to ask, or without quota, there is nothing to compare. */
	finding->count = finding->other_count;
	finding->inodes = finding->other_inodes;
	if (rc == 0 || rc == -ENOENT) {
		finding->count = fsq_block_bytes(dquot.form[FSQ_BLOCKS].used);
		finding->inodes = dquot.form[FSQ_INODES].used;
	}
	return 0;
}

bool fsq_diagnose_deep(struct fsq_diagnosis *diagnosis, const struct fsq_registered_list *list,
		       const struct fsq_registered *entry, int fd, struct fsq_finding *finding)
{
	struct others others = { .list = list, .entry = entry, .carried = entry->id };
	struct fsq_error err;
	int rc = count_others(diagnosis, &others, &err);

	finding->id = FSQ_FINDING_TREE_HAS_OTHERS;
	finding->count = others.count;
	/* Setting the ID of the whole tree would change those projects, too. */
	finding->in_doubt = others.foreign || others.has_inside;
	if (rc == 0 && others.count)
		return true;
	/* The kernel adds up all directories of an ID, f2fs leaves out what du(1) counts, and du(1) counts
	 * what is registered inside. */
	if (rc == 0 && !entry->shared && !others.has_inside && !is_f2fs(fd))
		rc = count_bytes(diagnosis, entry, fd, finding, &err);
	else
		finding->count = 0;
	if (rc && err.errnum == EINTR)
		fsq_diagnosis_fail(diagnosis, EINTR, entry->word);
	else if (rc)
		fsq_diagnosis_tell(diagnosis, &err);
	finding->id = FSQ_FINDING_COUNT_DIFFERS;
	/* More is what has been deleted and is open, or elsewhere; with less the records are wrong, but for
	 * symlinks, which need not have the ID. */
	finding->in_doubt = finding->count >= finding->other_count;
	return rc == 0 &&
	       (finding->count != finding->other_count || finding->inodes > finding->other_inodes);
}
