/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "watch.h"

/* @return   -ENODEV: it is just being unmounted, which the mount table will tell */
static int open_place(struct watch *watch, const struct watch_place *place,
		      struct fsq_filesystem **fs)
{
	struct fsq_error err;

	if (watch_place_open(place, fs, &err) == 0)
		return 0;
	if (err.errnum == ENOMEM)
		session_fail(watch->session, &err);
	return -ENODEV;
}

/* Once for each filesystem: it would be told at every interval. */
static void tell_failure(struct watch *watch, struct watch_place *place, enum fsq_type type,
			 int errnum)
{
	if (place->told_failure || errnum == ENODEV || errnum == ENOTBLK)
		return;
	place->told_failure = true;
	session_errno(watch->session, session_flag_of(type), errnum, place->directory,
		      "%s: cannot read %s quotas", place->directory, account_types[type]);
}

static void poll_type(struct watch *watch, struct watch_place *place, struct fsq_filesystem *fs,
		      enum fsq_type type, enum watch_judgement judgement)
{
	struct fsq_dquot dquot;
	uint32_t id = 1; /* what belongs to nobody, or to root, has no limits */
	int rc;

	while ((rc = fsq_quota_get_next(fs, type, id, &dquot)) == 0 && dquot.id >= id) {
		watch_ids_judge(&watch->ids, place, type, &dquot, judgement);
		if (dquot.id >= FSQ_ID_MAX)
			break;
		id = dquot.id + 1;
	}
	if (rc && rc != -ENOENT)
		tell_failure(watch, place, type, -rc);
}

void watch_poll_place(struct watch *watch, struct watch_place *place,
		      enum watch_judgement judgement)
{
	struct fsq_filesystem *fs;

	if (open_place(watch, place, &fs))
		return;
	for (int type = 0; type < FSQ_TYPES; type++)
		if (place->type[type])
			poll_type(watch, place, fs, (enum fsq_type)type, judgement);
	fsq_filesystem_close(fs);
}

static bool is_above(const struct watch_id *id)
{
	return id->form[FSQ_BLOCKS].told || id->form[FSQ_INODES].told;
}

static void poll_id(struct watch *watch, const struct watch_id *id, enum watch_judgement judgement)
{
	struct fsq_dquot dquot = { .id = id->id };
	struct watch_place *place = id->place;
	enum fsq_type type = id->type;
	struct fsq_filesystem *fs;
	int rc;

	if (open_place(watch, place, &fs))
		return;
	rc = fsq_quota_get(fs, type, dquot.id, &dquot);
	fsq_filesystem_close(fs);
	/* Else its use and limits are gone: there are zeros. */
	if (rc && rc != -ENOENT)
		tell_failure(watch, place, type, -rc);
	else
		watch_ids_judge(&watch->ids, place, type, &dquot, judgement);
}

/* @pass     only those that it has not seen; 0: all */
static void poll_ids(struct watch *watch, unsigned int pass, enum watch_judgement judgement)
{
	struct watch_id *next;

	for (struct watch_id *id = watch->ids.all; id; id = next) {
		next = id->next;
		if (is_above(id) && (!pass || id->pass != pass))
			poll_id(watch, id, judgement);
	}
}

void watch_poll_all(struct watch *watch, enum watch_judgement judgement)
{
	watch->ids.pass++;
	for (size_t i = 0; i < watch->places.count; i++)
		watch_poll_place(watch, watch->places.all[i], judgement);
	poll_ids(watch, watch->ids.pass, judgement);
}

void watch_poll_known(struct watch *watch)
{
	poll_ids(watch, 0, WATCH_KERNEL);
}

bool watch_knows_any(const struct watch *watch)
{
	for (const struct watch_id *id = watch->ids.all; id; id = id->next)
		if (is_above(id))
			return true;
	return false;
}
