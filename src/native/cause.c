/* SPDX-License-Identifier: Apache-2.0 */
#include "cause.h"

#include <errno.h>
#include <stdlib.h>

#include "finding_words.h"
#include "template.h"

struct search {
	bool projects; /* else users or groups are asked for */
	bool limits;   /* that stop nobody are a cause, too */
	struct finding_words words;
};

/* Without it the file system would count. */
static bool is_cause(const struct search *search, enum fsq_finding_id id)
{
	switch (id) {
	case FSQ_FINDING_SECCOMP:
	case FSQ_FINDING_KERNEL_WITHOUT_QUOTA:
	case FSQ_FINDING_NO_DEVICE_NODE:
	case FSQ_FINDING_OTHER_FILESYSTEM:
	case FSQ_FINDING_BTRFS:
	case FSQ_FINDING_TMPFS:
	case FSQ_FINDING_NETWORK:
	case FSQ_FINDING_OVERLAY:
	case FSQ_FINDING_OVERLAY_LIMITED:
	case FSQ_FINDING_OVERLAY_UNLIMITED:
	case FSQ_FINDING_OVERLAY_SPLIT:
		return true;
	case FSQ_FINDING_EXT4_FEATURES:
	case FSQ_FINDING_EXT4_INODE_SIZE:
	case FSQ_FINDING_F2FS_FEATURES:
	case FSQ_FINDING_QUOTA_OFF:
	case FSQ_FINDING_ROOT_FLAGS:
		return search->projects;
	case FSQ_FINDING_NOT_ENFORCED:
		return search->limits;
	default:
		return false;
	}
}

static enum fsq_visit look(const struct fsq_finding *finding, void *arg)
{
	struct search *search = arg;

	if (!is_cause(search, finding->id))
		return FSQ_VISIT_CONTINUE;
	if (!finding_words_get(&search->words, finding))
		search->words = (struct finding_words){ 0 };
	return FSQ_VISIT_STOP;
}

static void find(struct cause *cause, const char *path, struct search *search)
{
	const struct fsq_diagnose_request request = {
		.size = sizeof(request),
		.paths = &path,
		.path_count = 1,
		.filesystems_only = true,
		.no_repairs = true,
	};
	struct fsq_error err;

	fsq_diagnose(&request, look, search, &err);
	cause->word = search->words.word;
	cause->sentence = search->words.sentence;
	free(search->words.repair);
}

static const char *hint_template(const struct cause *cause, const struct error_row *row,
				 enum fsq_hint hint, bool projects)
{
	if (hint == FSQ_HINT_MOUNT_OR_COUNT)
		return "--fallback=walk counts; see fsquota doctor {path}";
	if (!cause->word && (row->errnum == ESRCH || (row->errnum && !projects)))
		return "this type of quota is off: mount the filesystem with prjquota (or "
		       "usrquota, grpquota); see fsquota doctor {path}";
	return "see fsquota doctor {path}";
}

/* Does the hint say that a quota is missing? */
static bool is_of_quota(enum fsq_hint hint)
{
	return hint == FSQ_HINT_MOUNT_WITH_QUOTA || hint == FSQ_HINT_MOUNT_OR_COUNT ||
	       hint == FSQ_HINT_ENFORCE;
}

static bool is_of_kernel(int errnum)
{
	return fsq_error_kind_of(errnum) == FSQ_E_NOT_SUPPORTED || errnum == ENODEV;
}

void cause_explain(struct cause *cause, struct error_row *row, enum fsq_hint hint, bool projects)
{
	const struct template_field fields[] = { { "path", row->path, 0 }, { 0 } };
	struct search search = { .projects = projects, .limits = hint == FSQ_HINT_ENFORCE };

	*cause = (struct cause){ 0 };
	if (!row->path || (!is_of_quota(hint) && !is_of_kernel(row->errnum)))
		return;
	find(cause, row->path, &search);
	cause->hint = template_expand(hint_template(cause, row, hint, projects), fields, true);
	row->cause = cause->word;
	if (cause->hint)
		row->hint = cause->hint;
	/* The library says that there is no quota, which the sentence does better. */
	if (row->errnum)
		row->cause_words = cause->sentence;
	else if (cause->sentence)
		row->message = cause->sentence;
}

void cause_clear(struct cause *cause)
{
	free(cause->sentence);
	free(cause->hint);
	*cause = (struct cause){ 0 };
}
