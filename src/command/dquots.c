/* SPDX-License-Identifier: Apache-2.0 */
#include "dquots.h"

#include <errno.h>
#include <string.h>

#include "names.h"

struct guess {
	struct session *session;
	const struct fsq_filesystem *fs;
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
	int rc = fsq_kernel_get(&guess->fs->target, range->type, id, &dquot);

	guess->saw_zero |= id == 0;
	guess->answered |= rc == 0 || rc == -ENOENT;
	if (rc && rc != -ENOENT && rc != -ENOSYS && rc != -ESRCH)
		session_complain_bare(guess->session, 0, -rc, "XFS_GETQUOTA");
	if (rc == 0 && id >= range->lower && (!range->upper || id <= range->upper))
		guess->visit(&dquot, guess->arg);
}

bool dquots_each(struct session *session, const struct fsq_filesystem *fs,
		 const struct dquot_range *range,
		 void (*visit)(const struct fsq_dquot *dquot, void *arg), void *arg)
{
	struct guess guess = { session, fs, range, visit, arg, false, false };
	struct fsq_dquot dquot;
	uint32_t id = range->lower;
	int rc = fsq_kernel_get_next(&fs->target, range->type, id, &dquot);

	if (rc && session->native) {
		/* Nothing is guessed there: either there are none, or they cannot be had. */
		if (rc != -ENOENT)
			session_note(session, -rc, "cannot read %s quotas",
				     names_of_type(range->type));
		return rc == -ENOENT;
	}
	if (rc) {
		names_each(session, range->type, try_id, &guess);
		if (range->type == FSQ_PROJECT && range->zero_is_known && !guess.saw_zero)
			try_id(0, &guess);
		if (rc != -ENOENT && !guess.answered)
			session_note(session, -rc, "cannot read %s quotas",
				     names_of_type(range->type));
		return rc == -ENOENT || guess.answered;
	}
	while (rc == 0 && dquot.id >= id && (!range->upper || dquot.id <= range->upper)) {
		visit(&dquot, arg);
		if (dquot.id >= FSQ_ID_MAX)
			break;
		id = dquot.id + 1;
		rc = fsq_kernel_get_next(&fs->target, range->type, id, &dquot);
	}
	if (rc == 0 || rc == -ENOENT)
		return true;
	session_note(session, -rc, "cannot read the other %s quotas", names_of_type(range->type));
	return false;
}
