/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "diagnosis.h"
#include "quota/base/id_set.h"

static enum fsq_visit add_id(uint32_t id, const char *directory, void *arg)
{
	(void)directory;
	return fsq_id_set_add(arg, id) ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

static bool has_limit(const struct fsq_dquot *dquot)
{
	for (int form = FSQ_BLOCKS; form <= FSQ_INODES; form++)
		if (dquot->form[form].hard || dquot->form[form].soft)
			return true;
	return false;
}

static void check_record(struct fsq_subject *subject, const struct fsq_dquot *dquot,
			 const struct fsq_id_set *registered)
{
	uint64_t inodes = dquot->form[FSQ_INODES].used;
	struct fsq_finding finding = { .project = dquot->id, .count = inodes };

	if (has_limit(dquot) == (inodes != 0))
		return;
	if (inodes)
		finding.id = FSQ_FINDING_TAG_WITHOUT_LIMIT;
	else if (fsq_id_set_has(registered, dquot->id))
		return; /* its directory is gone, or somebody changed its tag: told elsewhere */
	else
		finding.id = FSQ_FINDING_LIMIT_WITHOUT_TAG;
	fsq_finding_visit_here(subject, finding);
}

void fsq_diagnose_records(struct fsq_subject *subject)
{
	const char *file = subject->diagnosis->registry->projects_file;
	struct fsq_id_set registered = { 0 };
	struct fsq_dquot dquot;
	uint32_t next = 1;

	/* Without the file nothing is registered. */
	fsq_projects_each(file, add_id, &registered, NULL);
	fsq_id_set_sort(&registered);
	while (!fsq_diagnosis_is_over(subject->diagnosis) &&
	       fsq_quotactl_get_next(&subject->place.target, FSQ_PROJECT, next, &dquot) == 0) {
		/* Some kernels begin anew at the end. */
		if (dquot.id < next)
			break;
		check_record(subject, &dquot, &registered);
		if (dquot.id >= FSQ_ID_MAX)
			break;
		next = dquot.id + 1;
	}
	fsq_id_set_free(&registered);
}
