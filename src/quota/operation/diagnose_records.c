/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose_stores.h"
#include "quota/base/id_set.h"

struct registered {
	struct fsq_id_set ids;
	int rc;
};

static enum fsq_visit add_id(uint32_t id, const char *directory, void *arg)
{
	struct registered *registered = arg;

	(void)directory;
	registered->rc = fsq_id_set_add(&registered->ids, id);
	return registered->rc ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

/* Without the file nothing is registered. */
static void list_registered(struct fsq_diagnosis *diagnosis, struct registered *registered)
{
	const char *file = diagnosis->registry->projects_file;
	struct fsq_error err;

	*registered = (struct registered){ .rc = 0 };
	if (fsq_projects_each(file, add_id, registered, &err) && err.errnum == ENOMEM)
		registered->rc = -ENOMEM;
	if (registered->rc)
		fsq_diagnosis_fail(diagnosis, ENOMEM, file);
	fsq_id_set_sort(&registered->ids);
}

static bool has_limit(const struct fsq_dquot *dquot)
{
	for (int form = FSQ_BLOCKS; form <= FSQ_INODES; form++)
		if (dquot->form[form].hard || dquot->form[form].soft)
			return true;
	return false;
}

static void check_record(struct fsq_subject *subject, const struct fsq_dquot *dquot,
			 const struct fsq_id_set *registered, struct fsq_stores *stores)
{
	uint64_t inodes = dquot->form[FSQ_INODES].used;
	struct fsq_finding finding = { .project = dquot->id, .count = inodes };

	if (fsq_stores_note(stores, dquot, has_limit(dquot)) || has_limit(dquot) == (inodes != 0))
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
	struct fsq_stores *stores = NULL;
	struct registered registered;
	struct fsq_dquot dquot;
	uint32_t next = 1;

	list_registered(subject->diagnosis, &registered);
	if (!fsq_diagnosis_is_over(subject->diagnosis)) {
		stores = fsq_stores_find(subject, &registered.ids);
		if (!stores)
			fsq_diagnosis_fail(subject->diagnosis, ENOMEM, subject->mount.directory);
	}
	/* Some kernels begin anew at the end. */
	while (!fsq_diagnosis_is_over(subject->diagnosis) &&
	       fsq_quotactl_get_next(&subject->place.target, FSQ_PROJECT, next, &dquot) == 0 &&
	       dquot.id >= next) {
		check_record(subject, &dquot, &registered.ids, stores);
		if (dquot.id >= FSQ_ID_MAX)
			break;
		next = dquot.id + 1;
	}
	if (stores)
		fsq_stores_visit(stores);
	fsq_stores_free(stores);
	fsq_id_set_free(&registered.ids);
}
