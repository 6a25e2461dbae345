/* SPDX-License-Identifier: Apache-2.0 */
#include "change.h"

#include <stdio.h>

#include "journal.h"
#include "records.h"
#include "shared/errno_words.h"

/* --- rows --- */

/* clang-format off */
#define VALUE(name) .offset = offsetof(struct record_row, name)
#define LIMITS                                                                                   \
	{ "SOFT", "soft_bytes", FIELD_BYTES_LIMIT, VALUE(soft_bytes), "soft limit of space" },   \
	{ "HARD", "hard_bytes", FIELD_BYTES_LIMIT, VALUE(hard_bytes), "hard limit of space" },   \
	{ "ISOFT", "soft_inodes", FIELD_COUNT_LIMIT, VALUE(soft_inodes),                         \
	  "soft limit of inodes" },                                                              \
	{ "IHARD", "hard_inodes", FIELD_COUNT_LIMIT, VALUE(hard_inodes), "hard limit of inodes" }
/* clang-format on */

const struct field limit_fields[] = { LIMITS, { 0 } };

static const struct field all_limit_fields[] = {
	LIMITS,
	{ NULL, "soft_realtime_bytes", FIELD_BYTES_LIMIT, VALUE(soft_realtime_bytes) },
	{ NULL, "hard_realtime_bytes", FIELD_BYTES_LIMIT, VALUE(hard_realtime_bytes) },
	{ 0 },
};

static const struct field time_fields[] = {
	{ NULL, "bytes_grace_seconds", FIELD_SECONDS, VALUE(bytes_grace_seconds) },
	{ NULL, "inodes_grace_seconds", FIELD_SECONDS, VALUE(inodes_grace_seconds) },
	{ NULL, "realtime_grace_seconds", FIELD_SECONDS, VALUE(realtime_grace_seconds) },
	{ 0 },
};

/* clang-format off */
#define MEMBER(name) .offset = offsetof(struct changed_row, name)
#define CHANGED_FIELDS(values)                                                                    \
	{ "TYPE", "type", FIELD_WORD, MEMBER(type), "user, group or project",                     \
	  .words = account_types },                                                              \
	{ "ID", "id", FIELD_ID, MEMBER(id), "its ID" },                                           \
	{ "NAME", "name", FIELD_TEXT, MEMBER(name), "its name" },                                 \
	{ "CHANGED", "changed", FIELD_CHANGE, MEMBER(change), "was, or would it be changed?" },   \
	{ NULL, "before", FIELD_ROW, MEMBER(before), .members = values,                           \
	  .size = sizeof(struct record_row) },                                                 \
	{ NULL, "after", FIELD_ROW, MEMBER(after), .members = values,                             \
	  .size = sizeof(struct record_row) },                                                 \
	{ "FILESYSTEM", "filesystem", FIELD_TEXT, MEMBER(device), "device of the filesystem" },   \
	{ "MOUNTPOINT", "mountpoint", FIELD_TEXT, MEMBER(directory),                              \
	  "where it is mounted; of resize the directory" },                                       \
	{ 0 }
/* clang-format on */

static const struct field changed_limits[] = { CHANGED_FIELDS(all_limit_fields) };
static const struct field changed_times[] = { CHANGED_FIELDS(time_fields) };

static void write_changed_limits(struct writer *w, const void *row);
static void write_changed_times(struct writer *w, const void *row);

#define USUAL "TYPE,ID,NAME,CHANGED,MOUNTPOINT"

const struct row_fields changed_limits_rows = { changed_limits, sizeof(struct changed_row), USUAL,
						write_changed_limits };
const struct row_fields changed_times_rows = { changed_times, sizeof(struct changed_row), USUAL,
					       write_changed_times };

/* --- text --- */

const char *change_action(enum row_change change)
{
	return change == ROW_UNCHANGED ? "unchanged" : "would-change";
}

void change_write_subject(struct writer *w, const char *action, enum fsq_type type, uint32_t id,
			  const char *name, const char *directory)
{
	write_text(w, action);
	write_char(w, ' ');
	write_text(w, account_types[type]);
	write_char(w, ' ');
	write_number(w, id);
	if (name) {
		write_text(w, " (");
		write_escaped(w, name);
		write_char(w, ')');
	}
	if (directory) {
		write_text(w, ", ");
		write_escaped(w, directory);
	}
}

/* Print the values of @fields that differ, each behind its name. */
static void write_changes(struct writer *w, const char *separator, const struct field *fields,
			  const char *const *names, const struct record_row *before,
			  const struct record_row *after)
{
	for (size_t i = 0; fields[i].key; i++) {
		char was[FIELD_CELL], is[FIELD_CELL];
		const char *one, *other;

		if (field_compare(&fields[i], before, after, false) == 0)
			continue;
		one = field_cell(&fields[i], before, false, was);
		other = field_cell(&fields[i], after, false, is);
		write_text(w, separator);
		separator = ", ";
		write_text(w, names[i]);
		write_char(w, ' ');
		write_text(w, one ? one : "none");
		write_text(w, " -> ");
		write_text(w, other ? other : "none");
	}
}

static const char *const limit_names[] = { "soft",	  "hard",	   "soft-inodes",
					   "hard-inodes", "soft-realtime", "hard-realtime" };

void change_write_limits(struct writer *w, const char *separator, const struct record_row *before,
			 const struct record_row *after)
{
	write_changes(w, separator, limit_fields, limit_names, before, after);
}

static void write_changed(struct writer *w, const struct changed_row *row,
			  const struct field *fields, const char *const *names)
{
	change_write_subject(w, change_action(row->change), row->type, row->id, row->name,
			     row->directory);
	write_changes(w, ": ", fields, names, row->before, row->after);
	write_char(w, '\n');
}

static void write_changed_limits(struct writer *w, const void *row)
{
	write_changed(w, row, all_limit_fields, limit_names);
}

static void write_changed_times(struct writer *w, const void *row)
{
	static const char *const names[] = { "grace", "grace-inodes", "grace-realtime" };

	write_changed(w, row, time_fields, names);
}

/* --- changes --- */

bool change_is_shown(const struct session *session)
{
	return session->dry_run || session_has_rows(session);
}

enum row_change change_word(bool changed)
{
	return changed ? ROW_CHANGED : ROW_UNCHANGED;
}

struct record_row change_values(const struct fsq_limits *limits)
{
	struct fsq_dquot dquot = { 0 };
	int64_t now = 0;

	for (int form = 0; form < FSQ_FORMS; form++) {
		dquot.form[form].soft = limits->soft[form];
		dquot.form[form].hard = limits->hard[form];
	}
	return records_row(NULL, NULL, FSQ_PROJECT, &dquot, true, &now);
}

static void show(struct session *session, struct fsq_filesystem *fs, enum fsq_type type,
		 uint32_t id, bool changed, const struct record_row *before,
		 const struct record_row *after)
{
	const struct changed_row row = {
		.type = type,
		.id = id,
		.name = names_of_id(session, type, id),
		.device = fsq_filesystem_get_info(fs)->device,
		.directory = session->paths[session->current_path].directory,
		.before = before,
		.after = after,
		.change = change_word(changed),
	};

	tables_row(session, session->table, &row);
	session_flush_terminal(session);
}

void change_show_limits(struct session *session, const char *directory, uint32_t id,
			const struct fsq_limits *before, const struct fsq_limits *after)
{
	const struct record_row was = change_values(before), is = change_values(after);
	struct changed_row row = {
		.type = FSQ_PROJECT,
		.id = id,
		.name = names_of_id(session, FSQ_PROJECT, id),
		.directory = directory,
		.before = &was,
		.after = &is,
	};
	bool changed = false;

	for (int form = FSQ_BLOCKS; form <= FSQ_INODES; form++)
		changed |= before->soft[form] != after->soft[form] ||
			   before->hard[form] != after->hard[form];
	row.change = change_word(changed);
	write_changed_limits(session->out, &row);
}

void change_write_journal(const struct session *session, struct fsq_filesystem *fs,
			  enum fsq_type type, uint32_t id, const struct fsq_limits *limits, int rc)
{
	struct fsq_error err = { .kind = fsq_error_kind_of(-rc) };

	snprintf(err.message, sizeof(err.message), "%s", rc ? errno_words(-rc) : "");
	journal_write(session,
		      &(struct journal_entry){ .type = type,
					       .id = id,
					       .filesystem = fsq_filesystem_get_info(fs)->directory,
					       .after = limits,
					       .err = rc ? &err : NULL });
}

int change_limits(struct session *session, struct fsq_filesystem *fs, enum fsq_type type,
		  uint32_t id, const struct fsq_limits *limits)
{
	const struct fsq_limits none = { 0 };
	struct fsq_dquot before = { .id = id }, after = before, now;
	struct record_row was, is;
	bool changed = false;
	int64_t of_row = 0;
	int rc = 0;

	if (change_is_shown(session))
		rc = fsq_quota_plan_limits(fs, type, id, limits, &before, &after);
	if (!session->dry_run) {
		rc = fsq_quota_set_limits(fs, type, id, limits);
		change_write_journal(session, fs, type, id, limits, rc);
	}
	if (rc == 0 && change_is_shown(session) && !session->dry_run)
		rc = fsq_quota_plan_limits(fs, type, id, &none, &now, &after);
	if (rc || !change_is_shown(session))
		return rc;
	for (int form = 0; form < FSQ_FORMS; form++)
		changed |= before.form[form].soft != after.form[form].soft ||
			   before.form[form].hard != after.form[form].hard;
	was = records_row(session, NULL, type, &before, true, &of_row);
	is = records_row(session, NULL, type, &after, true, &of_row);
	show(session, fs, type, id, changed, &was, &is);
	return 0;
}

/* Of ID 0 how long they are, else what is left of them. */
static struct record_row times_of(uint32_t id, const struct fsq_timers *timers)
{
	int64_t seconds[FSQ_FORMS], now = 0;

	for (int form = 0; form < FSQ_FORMS; form++) {
		seconds[form] = timers->seconds[form];
		if (id)
			seconds[form] = records_grace_left(seconds[form], &now);
		else if (seconds[form] == 0)
			seconds[form] = FIELD_NO_SECONDS;
	}
	return (struct record_row){
		.bytes_grace_seconds = seconds[FSQ_BLOCKS],
		.inodes_grace_seconds = seconds[FSQ_INODES],
		.realtime_grace_seconds = seconds[FSQ_REALTIME],
	};
}

int change_timers(struct session *session, struct fsq_filesystem *fs, enum fsq_type type,
		  uint32_t id, const struct fsq_timers *timers)
{
	struct fsq_timers before = { 0 }, after = { 0 }, now;
	const struct fsq_timers none = { 0 };
	struct record_row was, is;
	bool changed = false;
	int rc = 0;

	if (change_is_shown(session))
		rc = fsq_quota_plan_timers(fs, type, id, timers, &before, &after);
	if (!session->dry_run) {
		rc = fsq_quota_set_timers(fs, type, id, timers);
		change_write_journal(session, fs, type, id, NULL, rc);
	}
	if (rc == 0 && change_is_shown(session) && !session->dry_run)
		rc = fsq_quota_plan_timers(fs, type, id, &none, &now, &after);
	if (rc || !change_is_shown(session))
		return rc;
	for (int form = 0; form < FSQ_FORMS; form++)
		changed |= before.seconds[form] != after.seconds[form];
	was = times_of(id, &before);
	is = times_of(id, &after);
	show(session, fs, type, id, changed, &was, &is);
	return 0;
}
