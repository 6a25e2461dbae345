/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Change quota records, or in a dry run find out what would change. Changes are shown as rows if the user chose a
 * format, and in a dry run otherwise as text.
 */
#ifndef FSQ_CHANGE_H
#define FSQ_CHANGE_H

#include "quota/fsquota.h"
#include "records.h"

/* The limits of space and inodes in a record; and grace times. */
extern const struct field limit_fields[], time_fields[];

/* A record before and after a change. */
struct changed_row {
	enum fsq_type type;
	uint32_t id;
	const char *name; /* or NULL */
	const char *device;
	const char *directory; /* the mount point; in resize the directory */
	const struct record_row *before, *after;
	enum row_change change;
	bool of_times; /* values are grace times, not limits */
};

/* Rows of changed limits, for limit, restore and resize; and of changed grace times, for timer. */
extern const struct row_fields changed_limits_rows, changed_times_rows;

/** @return  whether a command shows a row for each change */
bool change_is_shown(const struct session *session);

/** @return  ROW_CHANGED or ROW_UNCHANGED */
enum row_change change_word(bool changed);

/** @return  "unchanged" or "would-change" */
const char *change_action(enum row_change change);

/** @return  a row that has only these limits */
struct record_row change_values(const struct fsq_limits *limits);

/** @return  a row that has only these grace times: of ID 0 how long they are, of another ID the time that is left */
struct record_row change_times(uint32_t id, const struct fsq_timers *timers);

/** Write ", hard 1G -> 2G" for each limit of space and inodes that differs, with @separator first. */
void change_write_limits(struct writer *w, const char *separator, const struct record_row *before,
			 const struct record_row *after);

/** The same of grace times: ", grace 7d -> 3d". */
void change_write_times(struct writer *w, const char *separator, const struct record_row *before,
			const struct record_row *after);

/** Write "would-change project 42 (web), /srv". */
void change_write_subject(struct writer *w, const char *action, enum fsq_type type, uint32_t id,
			  const char *name, const char *directory);

/** Show how a dry run would change the limits of a directory's project. */
void change_show_limits(struct session *session, const char *directory, uint32_t id,
			const struct fsq_limits *before, const struct fsq_limits *after);

/**
 * Change a record of the current filesystem, as fsq_quota_set_limits() or fsq_quota_set_timers() does; in a dry run
 * only find out what would change.
 *
 * @return   0 or a negative errno, which the caller reports
 */
int change_limits(struct session *session, struct fsq_filesystem *fs, enum fsq_type type,
		  uint32_t id, const struct fsq_limits *limits);
int change_timers(struct session *session, struct fsq_filesystem *fs, enum fsq_type type,
		  uint32_t id, const struct fsq_timers *timers);

/** @return  what it means that more than the soft limit is in use. @expires  the end of the grace time, or 0 */
const char *change_effect_of_soft(int64_t expires);

/** Warn of a limit that is raised above the size of the filesystem. @space  that, in bytes; 0: it is not known */
void change_warn_of_space(struct session *session, const char *path,
			  const struct fsq_limits *before, const struct fsq_limits *after,
			  uint64_t space);

/** Warn of a directory that has another owner or mode than one that would be made; an assignment does not change them. */
void change_warn_of_owner(struct session *session, const struct fsq_assign_request *request);

/** Warn of limits that an assignment has made lower than they were, or than what is in use. */
void change_warn_of_assignment(struct session *session, const struct fsq_assign_request *request,
			       const struct fsq_assignment *assignment);

/** Log a change of limits on the current filesystem. @rc  its result: 0 or a negative errno */
void change_write_journal(struct session *session, struct fsq_filesystem *fs, enum fsq_type type,
			  uint32_t id, const struct fsq_limits *limits, int rc);

#endif
