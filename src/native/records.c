/* SPDX-License-Identifier: Apache-2.0 */
#include "records.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* clang-format off */
#define MEMBER(name) .offset = offsetof(struct record_row, name)
#define FIELDS(realtime)                                                                          \
	{ "TYPE", "type", FIELD_WORD, MEMBER(type), "user, group or project",                     \
	  .words = account_types },                                                              \
	{ "ID", "id", FIELD_ID, MEMBER(id), "ID of the user, group or project" },                 \
	{ "NAME", "name", FIELD_TEXT, MEMBER(name), "its name" },                                 \
	{ "USED", "used_bytes", FIELD_BYTES, MEMBER(used_bytes), "space in use" },                \
	{ "SOFT", "soft_bytes", FIELD_BYTES_LIMIT, MEMBER(soft_bytes), "soft limit of space" },   \
	{ "HARD", "hard_bytes", FIELD_BYTES_LIMIT, MEMBER(hard_bytes), "hard limit of space" },   \
	{ "GRACE", "bytes_grace_seconds", FIELD_SECONDS, MEMBER(bytes_grace_seconds),             \
	  "time left above the soft limit of space" },                                            \
	{ "USE%", NULL, FIELD_PERCENT, MEMBER(percent),                                           \
	  "use of the limit that is nearer, of space or inodes" },                                \
	{ "IUSED", "used_inodes", FIELD_COUNT, MEMBER(used_inodes), "inodes in use" },            \
	{ "ISOFT", "soft_inodes", FIELD_COUNT_LIMIT, MEMBER(soft_inodes),                         \
	  "soft limit of inodes" },                                                               \
	{ "IHARD", "hard_inodes", FIELD_COUNT_LIMIT, MEMBER(hard_inodes),                         \
	  "hard limit of inodes" },                                                               \
	{ "IGRACE", "inodes_grace_seconds", FIELD_SECONDS, MEMBER(inodes_grace_seconds),          \
	  "time left above the soft limit of inodes" },                                           \
	{ "RUSED", realtime("used"), FIELD_BYTES, MEMBER(used_realtime_bytes),                    \
	  "realtime space in use", .sometimes = true },                                                              \
	{ "RSOFT", realtime("soft"), FIELD_BYTES_LIMIT, MEMBER(soft_realtime_bytes),              \
	  "soft limit of realtime space", .sometimes = true },                                                       \
	{ "RHARD", realtime("hard"), FIELD_BYTES_LIMIT, MEMBER(hard_realtime_bytes),              \
	  "hard limit of realtime space", .sometimes = true },                                                       \
	{ "RGRACE", realtime_grace_##realtime, FIELD_SECONDS, MEMBER(realtime_grace_seconds),     \
	  "time left above the soft limit of realtime space", .sometimes = true },                                   \
	{ "FILESYSTEM", "filesystem", FIELD_TEXT, MEMBER(filesystem),                             \
	  "device of the filesystem" },                                                           \
	{ "MOUNTPOINT", "mountpoint", FIELD_TEXT, MEMBER(mountpoint),                             \
	  "where the filesystem is mounted" },                                                    \
	{ 0 }
#define hidden(what) NULL
#define shown(what) what "_realtime_bytes"
#define realtime_grace_hidden NULL
#define realtime_grace_shown "realtime_grace_seconds"
/* clang-format on */

static const struct field fields[] = { FIELDS(hidden) };
static const struct field realtime_fields[] = { FIELDS(shown) };

const struct row_fields record_rows = { fields, sizeof(struct record_row),
					.usual = "ID,NAME,USED,SOFT,HARD,GRACE,MOUNTPOINT" };
const struct row_fields realtime_record_rows = {
	realtime_fields, sizeof(struct record_row),
	.usual = "ID,NAME,RUSED,RSOFT,RHARD,RGRACE,MOUNTPOINT"
};

void records_choose(struct table *table, const bool form[FSQ_FORMS], bool numeric,
		    const char *first)
{
	static const char *const columns[FSQ_FORMS] = {
		[FSQ_BLOCKS] = "USED,SOFT,HARD,GRACE,",
		[FSQ_INODES] = "IUSED,ISOFT,IHARD,IGRACE,",
		[FSQ_REALTIME] = "RUSED,RSOFT,RHARD,RGRACE,",
	};
	static struct row_fields rows;
	static char usual[160];
	bool none = !form[FSQ_BLOCKS] && !form[FSQ_INODES] && !form[FSQ_REALTIME];
	char *at = stpcpy(usual, first);

	at = stpcpy(at, numeric ? "ID," : "ID,NAME,");
	for (int i = 0; i < FSQ_FORMS; i++)
		if (form[i] || (none && i == FSQ_BLOCKS))
			at = stpcpy(at, columns[i]);
	strcpy(at, "MOUNTPOINT");
	rows = form[FSQ_REALTIME] ? realtime_record_rows : record_rows;
	rows.usual = usual;
	table->type = &rows;
}

int64_t records_grace_left(int64_t expires, int64_t *now)
{
	if (!expires)
		return FIELD_NO_SECONDS;
	if (!*now)
		*now = time(NULL);
	return expires > *now ? expires - *now : 0;
}

static uint64_t limit_bytes(uint64_t blocks)
{
	return fsq_limit_is_none(blocks) ? 0 : fsq_limit_bytes(blocks);
}

static uint64_t used_bytes(uint64_t blocks)
{
	return blocks > UINT64_MAX / FSQ_BASIC_BLOCK ? UINT64_MAX : blocks * FSQ_BASIC_BLOCK;
}

static double percent_of(const struct fsq_amounts *amounts)
{
	uint64_t limit = amounts->hard ? amounts->hard : amounts->soft;

	return limit && !fsq_limit_is_none(limit) ? 100.0 * (double)amounts->used / (double)limit
						  : -1;
}

struct record_row records_row(struct session *session, const struct path_entry *path,
			      enum fsq_type type, const struct fsq_dquot *dquot, bool numeric,
			      int64_t *now)
{
	const struct fsq_amounts *space = &dquot->form[FSQ_BLOCKS];
	const struct fsq_amounts *inodes = &dquot->form[FSQ_INODES];
	const struct fsq_amounts *realtime = &dquot->form[FSQ_REALTIME];
	/* The record of ID 0 keeps how long the grace times are, and has none of its own. */
	bool timed = dquot->id != 0;
	double of_space = percent_of(space), of_inodes = percent_of(inodes);

	return (struct record_row){
		.type = type,
		.id = dquot->id,
		.name = numeric ? NULL : names_of_id(session, type, dquot->id),
		.used_bytes = used_bytes(space->used),
		.soft_bytes = limit_bytes(space->soft),
		.hard_bytes = limit_bytes(space->hard),
		.bytes_grace_seconds =
			timed ? records_grace_left(space->expires, now) : FIELD_NO_SECONDS,
		.used_inodes = inodes->used,
		.soft_inodes = inodes->soft,
		.hard_inodes = inodes->hard,
		.inodes_grace_seconds =
			timed ? records_grace_left(inodes->expires, now) : FIELD_NO_SECONDS,
		.used_realtime_bytes = used_bytes(realtime->used),
		.soft_realtime_bytes = limit_bytes(realtime->soft),
		.hard_realtime_bytes = limit_bytes(realtime->hard),
		.realtime_grace_seconds =
			timed ? records_grace_left(realtime->expires, now) : FIELD_NO_SECONDS,
		.percent = of_space > of_inodes ? of_space : of_inodes,
		.filesystem = path ? path->info->device : NULL,
		.mountpoint = path ? path->directory : NULL,
	};
}

bool records_each(struct session *session, struct fsq_filesystem *fs, enum fsq_type type,
		  const struct record_range *range,
		  void (*visit)(const struct fsq_dquot *dquot, void *arg), void *arg)
{
	struct fsq_dquot dquot;
	uint32_t id = range->lower;
	int rc = fsq_quota_get_next(fs, type, id, &dquot);

	while (rc == 0 && dquot.id >= id && (!range->upper || dquot.id <= range->upper)) {
		visit(&dquot, arg);
		if (dquot.id >= FSQ_ID_MAX)
			break;
		id = dquot.id + 1;
		rc = fsq_quota_get_next(fs, type, id, &dquot);
	}
	if (rc == 0 || rc == -ENOENT)
		return true;
	session_errno(session, session_flag_of(type), -rc, NULL, "cannot read %s%s quotas",
		      id > range->lower ? "the other " : "", account_types[type]);
	return false;
}
