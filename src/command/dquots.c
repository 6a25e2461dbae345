/* SPDX-License-Identifier: Apache-2.0 */
#include "dquots.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "names.h"

/* Commands copy by index. */
_Static_assert((int)ROW_BLOCKS == (int)FSQ_BLOCKS && (int)ROW_INODES == (int)FSQ_INODES &&
		       (int)ROW_REALTIME == (int)FSQ_REALTIME && (int)ROW_USER == (int)FSQ_USER &&
		       (int)ROW_GROUP == (int)FSQ_GROUP && (int)ROW_PROJECT == (int)FSQ_PROJECT,
	       "rows and quota records are in the same order");

struct guess {
	struct session *session;
	struct fsq_filesystem *fs;
	const struct dquot_range *range;
	void (*visit)(const struct fsq_dquot *dquot, void *arg);
	void *arg;
	bool saw_zero;
	bool answered;
};

static void try_id(uint32_t id, void *arg)
{
	struct guess *guess = arg;
	const struct dquot_range *range = guess->range;
	struct fsq_dquot dquot;
	int rc = fsq_quota_get(guess->fs, range->type, id, &dquot);

	guess->saw_zero |= id == 0;
	guess->answered |= rc == 0 || rc == -ENOENT;
	if (rc && rc != -ENOENT && rc != -ENOSYS && rc != -ESRCH)
		session_errno(guess->session, ERROR_BARE | ERROR_STATUS_0, -rc, NULL,
			      "XFS_GETQUOTA");
	if (rc == 0 && id >= range->lower && (!range->upper || id <= range->upper))
		guess->visit(&dquot, guess->arg);
}

bool dquots_each(struct session *session, struct fsq_filesystem *fs,
		 const struct dquot_range *range,
		 void (*visit)(const struct fsq_dquot *dquot, void *arg), void *arg)
{
	struct guess guess = { session, fs, range, visit, arg, false, false };
	struct fsq_dquot dquot;
	uint32_t id = range->lower;
	int rc = fsq_quota_get_next(fs, range->type, id, &dquot);

	if (rc && session->native) {
		/* Nothing is guessed there: either there are none, or they cannot be had. */
		if (rc != -ENOENT)
			session_errno(session, ERROR_SILENT | session_flag_of(range->type), -rc,
				      NULL, "cannot read %s quotas", names_of_type(range->type));
		return rc == -ENOENT;
	}
	if (rc) {
		names_each(session, range->type, try_id, &guess);
		if (range->type == FSQ_PROJECT && range->zero_is_known && !guess.saw_zero)
			try_id(0, &guess);
		if (rc != -ENOENT && !guess.answered)
			session_errno(session, ERROR_SILENT, -rc, NULL, "cannot read %s quotas",
				      names_of_type(range->type));
		return rc == -ENOENT || guess.answered;
	}
	while (rc == 0 && dquot.id >= id && (!range->upper || dquot.id <= range->upper)) {
		visit(&dquot, arg);
		if (dquot.id >= FSQ_ID_MAX)
			break;
		id = dquot.id + 1;
		rc = fsq_quota_get_next(fs, range->type, id, &dquot);
	}
	if (rc == 0 || rc == -ENOENT)
		return true;
	session_errno(session, ERROR_SILENT, -rc, NULL, "cannot read the other %s quotas",
		      names_of_type(range->type));
	return false;
}

int64_t dquot_grace_left(int64_t expires, int64_t *now)
{
	if (!expires)
		return ROW_NO_GRACE;
	if (!*now)
		*now = time(NULL);
	return expires > *now ? expires - *now : 0;
}

void dquot_to_row(const struct session *session, const struct fsq_dquot *dquot, int64_t *now,
		  struct amounts_row row[])
{
	/* XFS keeps the grace times of all in the record of ID 0, which has none of its own. */
	bool has_grace = dquot->id != 0 || !session->native;

	for (int form = 0; form < FSQ_FORMS; form++) {
		const struct fsq_amounts *amounts = &dquot->form[form];

		row[form] = (struct amounts_row){
			.used_units = amounts->used,
			.soft_units = amounts->soft,
			.hard_units = amounts->hard,
			.grace_seconds = dquot_grace_left(has_grace ? amounts->expires : 0, now),
			.warnings = amounts->warnings,
		};
	}
}

bool row_is_unused(const struct row_style *style, const struct amounts_row row[])
{
	for (int form = 0; form < ROW_FORMS; form++)
		if (style->form[form] && row[form].used_units)
			return false;
	return true;
}

bool row_has_limits(const struct row_style *style, const struct amounts_row row[])
{
	for (int form = 0; form < ROW_FORMS; form++)
		if (style->form[form] && (row[form].soft_units || row[form].hard_units))
			return true;
	return false;
}
