/* SPDX-License-Identifier: Apache-2.0 */
#include "change.h"

#include "dquots.h"
#include "names.h"
#include "output/renderer.h"

bool change_is_shown(const struct session *session)
{
	return session->native && (session->json || session->dry_run);
}

enum row_change change_word(bool changed)
{
	return changed ? ROW_CHANGED : ROW_UNCHANGED;
}

static uint64_t bytes_of(uint64_t blocks)
{
	return fsq_limit_is_none(blocks) ? 0 : fsq_limit_bytes(blocks);
}

struct applied_limits change_limits_row(const struct fsq_limits *limits)
{
	return (struct applied_limits){
		.soft_bytes = bytes_of(limits->soft[FSQ_BLOCKS]),
		.hard_bytes = bytes_of(limits->hard[FSQ_BLOCKS]),
		.soft_inodes = limits->soft[FSQ_INODES],
		.hard_inodes = limits->hard[FSQ_INODES],
	};
}

static void show(struct session *session, struct fsq_filesystem *fs, enum fsq_type type,
		 uint32_t id, struct changed_quota_row *row)
{
	row->owner = (struct owner_row){ (enum row_type)type, id, names_of_id(session, type, id) };
	row->device = fsq_filesystem_get_info(fs)->device;
	row->directory = session->paths[session->current_path].directory;
	row->would = session->dry_run;
	session->render->changed_quota_row(session->out, row);
	session_flush_terminal(session);
}

static void show_records(struct session *session, struct fsq_filesystem *fs, enum fsq_type type,
			 struct changed_quota_row *row, const struct fsq_dquot *before,
			 const struct fsq_dquot *after)
{
	int64_t now = 0;

	dquot_to_row(session, before, &now, row->before);
	dquot_to_row(session, after, &now, row->after);
	show(session, fs, type, before->id, row);
}

void change_show_limits(struct session *session, const char *directory, uint32_t id,
			const struct fsq_limits *before, const struct fsq_limits *after)
{
	struct changed_quota_row row = {
		.what = CHANGED_LIMITS,
		.owner = { ROW_PROJECT, id, names_of_id(session, FSQ_PROJECT, id) },
		.directory = directory,
		.would = true,
	};
	bool changed = false;

	for (int form = FSQ_BLOCKS; form <= FSQ_INODES; form++) {
		row.before[form].soft_units = before->soft[form];
		row.before[form].hard_units = before->hard[form];
		row.after[form].soft_units = after->soft[form];
		row.after[form].hard_units = after->hard[form];
		changed |= before->soft[form] != after->soft[form] ||
			   before->hard[form] != after->hard[form];
	}
	row.change = change_word(changed);
	session->render->changed_quota_row(session->out, &row);
}

int change_limits(struct session *session, struct fsq_filesystem *fs, enum fsq_type type,
		  uint32_t id, const struct fsq_limits *limits)
{
	struct changed_quota_row row = { .what = CHANGED_LIMITS };
	const struct fsq_limits none = { 0 };
	struct fsq_dquot before = { .id = id }, after = before, now;
	bool changed = false;
	int rc;

	if (!change_is_shown(session))
		return fsq_quota_set_limits(fs, type, id, limits);
	rc = fsq_quota_plan_limits(fs, type, id, limits, &before, &after);
	if (!session->dry_run) {
		rc = fsq_quota_set_limits(fs, type, id, limits);
		if (rc == 0)
			rc = fsq_quota_plan_limits(fs, type, id, &none, &now, &after);
	}
	if (rc)
		return rc;
	for (int form = 0; form < FSQ_FORMS; form++)
		changed |= before.form[form].soft != after.form[form].soft ||
			   before.form[form].hard != after.form[form].hard;
	row.change = change_word(changed);
	show_records(session, fs, type, &row, &before, &after);
	return 0;
}

/* Of ID 0 how long they are, else what is left of them. */
static void timers_to_row(uint32_t id, const struct fsq_timers *timers, struct amounts_row row[])
{
	int64_t now = 0;

	for (int form = 0; form < FSQ_FORMS; form++) {
		int64_t seconds = timers->seconds[form];

		row[form].grace_seconds = id		 ? dquot_grace_left(seconds, &now)
					  : seconds == 0 ? ROW_NO_GRACE
							 : seconds;
	}
}

int change_timers(struct session *session, struct fsq_filesystem *fs, enum fsq_type type,
		  uint32_t id, const struct fsq_timers *timers)
{
	struct changed_quota_row row = { .what = CHANGED_GRACE };
	struct fsq_timers before = { 0 }, after = { 0 }, now;
	const struct fsq_timers none = { 0 };
	bool changed = false;
	int rc;

	if (!change_is_shown(session))
		return fsq_quota_set_timers(fs, type, id, timers);
	rc = fsq_quota_plan_timers(fs, type, id, timers, &before, &after);
	if (!session->dry_run) {
		rc = fsq_quota_set_timers(fs, type, id, timers);
		if (rc == 0)
			rc = fsq_quota_plan_timers(fs, type, id, &none, &now, &after);
	}
	if (rc)
		return rc;
	for (int form = 0; form < FSQ_FORMS; form++)
		changed |= before.seconds[form] != after.seconds[form];
	row.change = change_word(changed);
	timers_to_row(id, &before, row.before);
	timers_to_row(id, &after, row.after);
	show(session, fs, type, id, &row);
	return 0;
}

int change_warnings(struct session *session, struct fsq_filesystem *fs, enum fsq_type type,
		    uint32_t id, const bool set[FSQ_FORMS], uint16_t warnings)
{
	struct changed_quota_row row = { .what = CHANGED_WARNINGS };
	struct fsq_dquot before = { .id = id }, after = before;
	bool changed = false;
	int rc;

	if (!change_is_shown(session))
		return fsq_quota_set_warnings(fs, type, id, set, warnings);
	rc = fsq_quota_plan_warnings(fs, type, id, set, warnings, &before, &after);
	if (!session->dry_run) {
		rc = fsq_quota_set_warnings(fs, type, id, set, warnings);
		if (rc == 0)
			rc = fsq_quota_get(fs, type, id, &after);
	}
	if (rc)
		return rc;
	for (int form = 0; form < FSQ_FORMS; form++)
		changed |= before.form[form].warnings != after.form[form].warnings;
	row.change = change_word(changed);
	show_records(session, fs, type, &row, &before, &after);
	return 0;
}
