/* SPDX-License-Identifier: Apache-2.0 */
/* Quota records of users, groups and projects: visit all of a filesystem, and print them as rows. */
#ifndef FSQ_RECORDS_H
#define FSQ_RECORDS_H

#include "native/cli/options.h"
#include "quota/base/units.h"
#include "quota/fsquota.h"

struct record_row {
	enum fsq_type type;
	uint32_t id;
	const char *name;	/* or NULL */
	const char *shown_name; /* in a table, also "(no project)" */
	uint64_t used_bytes, used_inodes, used_realtime_bytes;
	/* 0: no limit */
	uint64_t soft_bytes, hard_bytes;
	uint64_t soft_inodes, hard_inodes;
	uint64_t soft_realtime_bytes, hard_realtime_bytes;
	/* or FIELD_NO_SECONDS */
	int64_t bytes_grace_seconds, inodes_grace_seconds, realtime_grace_seconds;
	double percent; /* of the limit that is nearer; below 0: no limit */
	const char *filesystem, *mountpoint;
};

/* clang-format off */
/* The limits in a row of @type, whose members of these names begin with @prefix. */
#define FIELDS_OF_SPACE(type, prefix)                                                             \
	{ "SOFT", "soft_bytes", FIELD_BYTES_LIMIT, .offset = offsetof(type, prefix soft_bytes),   \
	  "soft limit of space" },                                                                \
	{ "HARD", "hard_bytes", FIELD_BYTES_LIMIT, .offset = offsetof(type, prefix hard_bytes),   \
	  "hard limit of space" }
#define FIELDS_OF_INODES(type, prefix)                                                            \
	{ "ISOFT", "soft_inodes", FIELD_COUNT_LIMIT, .offset = offsetof(type, prefix soft_inodes), \
	  "soft limit of inodes" },                                                               \
	{ "IHARD", "hard_inodes", FIELD_COUNT_LIMIT, .offset = offsetof(type, prefix hard_inodes), \
	  "hard limit of inodes" }
#define FIELDS_OF_LIMITS(type, prefix) FIELDS_OF_SPACE(type, prefix), FIELDS_OF_INODES(type, prefix)
/* clang-format on */

/* Rows of report and quota. */
extern const struct row_fields record_rows;

/**
 * Choose the default columns of the table: those of the selected forms (-b, -i, -r; default -b). The table uses them
 * until the next call.
 *
 * @numeric  without a column for names
 * @first    columns before those, e.g. "TYPE,"
 */
void records_choose(struct session *session, const bool form[FSQ_FORMS], bool numeric,
		    const char *first);

/**
 * Make a row of a record.
 *
 * @path     its filesystem; NULL: the caller sets it
 */
struct record_row records_row(struct session *session, const struct path_entry *path,
			      enum fsq_type type, const struct fsq_dquot *dquot, bool numeric);

/**
 * Find the limit that stops a writer first.
 *
 * @soft, @hard  0: there is none
 * @grace    seconds that are left above the soft limit, or FIELD_NO_SECONDS
 * @return   the soft limit if its grace time is over, or there is no hard one; else the hard limit; 0: none
 */
static inline uint64_t first_limit(uint64_t soft, uint64_t hard, int64_t grace)
{
	return soft && (grace == 0 || !hard) ? soft : hard;
}

/** @return  use in percent of a limit; -1: there is none, or the use is not known */
static inline double percent_of_limit(uint64_t used, uint64_t limit)
{
	return limit && used != FIELD_NOT_KNOWN ? 100.0 * (double)used / (double)limit : -1;
}

/** @return  the first_limit() of one form of a record */
uint64_t records_first_limit(const struct fsq_dquot *dquot, enum fsq_form form);

/** @return  the use in percent of that limit, or -1 */
static inline double records_percent(const struct fsq_dquot *dquot, enum fsq_form form)
{
	return percent_of_limit(dquot->form[form].used, records_first_limit(dquot, form));
}

/** @return  seconds that are left until @expires (0: not running), or FIELD_NO_SECONDS */
int64_t records_grace_left(int64_t expires);

/** Write "project 42 (web)", or if @name is NULL "project 42". */
void records_write_account(struct writer *w, enum fsq_type type, uint32_t id, const char *name);

struct record_range {
	uint32_t lower;
	uint32_t upper; /* 0: no bound */
};

/* The kernel's; NGROUPS_MAX is the C library's, which may be 32. */
#define GROUPS_MAX 65536

/** @return  whether nothing is used, and there is no limit */
bool records_is_empty(const struct fsq_dquot *dquot);

/**
 * Call @visit for each record in the order of IDs. Skip empty ones, except ID 0: ext4 and f2fs keep an empty record
 * for a while after a mere query.
 *
 * @return   whether all were read; else an error was reported
 */
bool records_each(struct session *session, struct fsq_filesystem *fs, enum fsq_type type,
		  const struct record_range *range,
		  void (*visit)(const struct fsq_dquot *dquot, void *arg), void *arg);

/* --- dump.c: parse a line that dump has written --- */

struct dump_line {
	uint32_t id;
	struct fsq_limits limits;
};

/** @return  the device in a line "fs = DEVICE", which points into @text; NULL: the line is another one */
const char *dump_line_device(const char *text);

/**
 * Parse "ID BSOFT BHARD ISOFT IHARD [RTBSOFT RTBHARD]", all in plain digits.
 *
 * @return   whether the line has this form
 */
bool dump_line_parse(const char *text, struct dump_line *line);

#endif
