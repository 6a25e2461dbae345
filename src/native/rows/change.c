/* SPDX-License-Identifier: Apache-2.0 */
#include "change.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "native/cli/finding_words.h"
#include "native/cli/journal.h"
#include "native/cli/suggest.h"
#include "native/cli/until.h"
#include "quota/base/error.h"
#include "quota/base/units.h"
#include "quota/directory/assign.h"
#include "quota/limits/limits.h"
#include "quota/mounts/filesystem.h"
#include "quota/mounts/lookup.h"
#include "shared/errno_words.h"

/* --- rows --- */

#define VALUE(name) .offset = offsetof(struct record_row, name)
#define LIMITS FIELDS_OF_LIMITS(struct record_row, )

const struct field limit_fields[] = { LIMITS, { 0 } };

static const struct field all_limit_fields[] = {
	LIMITS,
	{ NULL, "soft_realtime_bytes", FIELD_BYTES_LIMIT, VALUE(soft_realtime_bytes) },
	{ NULL, "hard_realtime_bytes", FIELD_BYTES_LIMIT, VALUE(hard_realtime_bytes) },
	{ 0 },
};

const struct field time_fields[] = {
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

static void write_changed(struct writer *w, const void *arg);

#define USUAL "TYPE,ID,NAME,CHANGED,MOUNTPOINT"

const struct row_fields changed_limits_rows = { changed_limits, sizeof(struct changed_row), USUAL,
						write_changed };
const struct row_fields changed_times_rows = { changed_times, sizeof(struct changed_row), USUAL,
					       write_changed };

/* --- text --- */

const char *change_action(enum row_change change)
{
	return change == ROW_UNCHANGED ? "unchanged" : "would-change";
}

void change_write_subject(struct writer *w, const char *action, enum fsq_type type, uint32_t id,
			  const char *name, const char *directory)
{
	write_format(w, "%s ", action);
	records_write_account(w, type, id, name);
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
		if (one && other && strcmp(one, other) == 0) {
			one = field_cell(&fields[i], before, true, was);
			other = field_cell(&fields[i], after, true, is);
		}
		write_format(w, "%s%s %s -> %s", separator, names[i], one ? one : "none",
			     other ? other : "none");
		separator = ", ";
	}
}

static const char *const limit_names[] = { "soft",	  "hard",	   "soft-inodes",
					   "hard-inodes", "soft-realtime", "hard-realtime" };

static const char *const time_names[] = { "grace", "grace-inodes", "grace-realtime" };

void change_write_limits(struct writer *w, const char *separator, const struct record_row *before,
			 const struct record_row *after)
{
	write_changes(w, separator, limit_fields, limit_names, before, after);
}

void change_write_times(struct writer *w, const char *separator, const struct record_row *before,
			const struct record_row *after)
{
	write_changes(w, separator, time_fields, time_names, before, after);
}

static void write_changed(struct writer *w, const void *arg)
{
	const struct changed_row *row = arg;

	change_write_subject(w, change_action(row->change), row->type, row->id, row->name,
			     row->directory);
	write_changes(w, ": ", row->of_times ? time_fields : all_limit_fields,
		      row->of_times ? time_names : limit_names, row->before, row->after);
	write_char(w, '\n');
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

	for (int form = 0; form < FSQ_FORMS; form++) {
		dquot.form[form].soft = limits->soft[form];
		dquot.form[form].hard = limits->hard[form];
	}
	return records_row(NULL, NULL, FSQ_PROJECT, &dquot, true);
}

struct record_row change_times(uint32_t id, const struct fsq_timers *timers)
{
	int64_t seconds[FSQ_FORMS];

	for (int form = 0; form < FSQ_FORMS; form++) {
		seconds[form] = timers->seconds[form];
		if (id)
			seconds[form] = records_grace_left(seconds[form]);
		else if (seconds[form] == 0)
			seconds[form] = FIELD_NO_SECONDS;
	}
	return (struct record_row){
		.bytes_grace_seconds = seconds[FSQ_BLOCKS],
		.inodes_grace_seconds = seconds[FSQ_INODES],
		.realtime_grace_seconds = seconds[FSQ_REALTIME],
	};
}

/* --- limits that may surprise --- */

/* A limit before and after a change, 0 for none, and what is in use. */
struct limit_change {
	enum fsq_form form;
	bool hard;
	int64_t expires; /* the grace time, if this limit or its hard one changes; or 0 */
	uint64_t before, after, used;
};

static bool is_over(int64_t expires)
{
	return expires && expires <= time(NULL);
}

const char *change_effect_of_soft(int64_t expires)
{
	return is_over(expires) ? "the grace time is over, and nothing can be written"
				: "the grace time runs";
}

static void put_amount(char cell[FIELD_CELL], enum fsq_form form, uint64_t value, bool exact)
{
	if (form == FSQ_INODES)
		snprintf(cell, FIELD_CELL, "%" PRIu64, value);
	else if (exact)
		snprintf(cell, FIELD_CELL, "%" PRIu64 " bytes", value * FSQ_BASIC_BLOCK);
	else
		field_size(cell, value * FSQ_BASIC_BLOCK);
}

#define WARNING_SIZE 256
/* 4096 bytes, in basic blocks */
#define LIMIT_BLOCK 8

/* Write that it is lower than before, or lower than the use. @return  whether it is */
static bool describe_lower(char text[WARNING_SIZE], const struct limit_change *limit)
{
	static const char *const forms[] = { "space", "inodes", "realtime space" };
	const char *what = limit->hard ? "hard" : "soft", *form = forms[limit->form];
	/* The kernel rounds limits of space up to a block. */
	const uint64_t block = limit->form == FSQ_INODES ? 1 : LIMIT_BLOCK;
	const uint64_t least = (limit->after + block - 1) / block * block;
	const bool lowered = limit->after && least < limit->before,
		   below = limit->after && limit->after < limit->used &&
			   (limit->after != limit->before || is_over(limit->expires));
	const char *effect = !limit->hard		 ? change_effect_of_soft(limit->expires)
			     : limit->form == FSQ_INODES ? "no file can be made from now on"
							 : "writing fails from now on";
	char was[FIELD_CELL], is[FIELD_CELL], used[FIELD_CELL];
	bool same = true;

	for (int exact = 0; exact < 2 && same; exact++) {
		put_amount(was, limit->form, limit->before, exact);
		put_amount(is, limit->form, limit->after, exact);
		put_amount(used, limit->form, limit->used, exact);
		same = strcmp(is, lowered ? was : "") == 0 || strcmp(is, below ? used : "") == 0;
	}
	if (lowered && below)
		snprintf(text, WARNING_SIZE,
			 "the %s limit of %s is lowered from %s to %s, below the %s in use: %s",
			 what, form, was, is, used, effect);
	else if (lowered)
		snprintf(text, WARNING_SIZE, "the %s limit of %s is lowered from %s to %s", what,
			 form, was, is);
	else if (below)
		snprintf(text, WARNING_SIZE, "the %s limit of %s, %s, is below the %s in use: %s",
			 what, form, is, used, effect);
	return lowered || below;
}

/*
 * Warn of limits that are lower than before, or that have changed and are lower than what is in use.
 *
 * @path     begins the line; NULL: the current filesystem
 * @who      follows @path, or ""
 * @dquot    the use; zeros: do not compare it with the limits
 */
static void warn_of_limits(struct session *session, const char *path, const char *who,
			   const struct fsq_limits *before, const struct fsq_limits *after,
			   const struct fsq_dquot *dquot)
{
	char text[2 * FSQ_FORMS * WARNING_SIZE] = "", one[WARNING_SIZE];

	for (int i = 0; i < 2 * FSQ_FORMS; i++) {
		const int form = i / 2;
		const bool hard = i % 2 == 0;
		const uint64_t *was = hard ? before->hard : before->soft;
		const uint64_t *is = hard ? after->hard : after->soft;
		const uint64_t used = dquot->form[form].used;
		/* Where the use is above the hard limit, the soft one does not matter. */
		const bool is_full = after->hard[form] && used > after->hard[form];
		const bool changes = before->hard[form] != after->hard[form] ||
				     before->soft[form] != after->soft[form];
		const struct limit_change limit = {
			.form = (enum fsq_form)form,
			.hard = hard,
			.expires = changes && !hard ? dquot->form[form].expires : 0,
			.before = fsq_limit_or_0(was[form]),
			.after = fsq_limit_or_0(is[form]),
			.used = is_full && !hard ? 0 : used,
		};

		if (!describe_lower(one, &limit))
			continue;
		strcat(text, text[0] ? "; " : who);
		strcat(text, one);
	}
	if (text[0])
		session_warn(session, path, "%s", text);
}

/* ext4 and f2fs let a grace time begin anew when limits are set. */
static void forget_old_grace(const struct fsq_filesystem *fs, struct fsq_dquot *dquot)
{
	for (int form = 0; form < FSQ_FORMS && !fsq_filesystem_get_info(fs)->is_xfs; form++)
		dquot->form[form].expires = 0;
}

void change_warn_of_space(struct session *session, const char *path,
			  const struct fsq_limits *before, const struct fsq_limits *after,
			  uint64_t space)
{
	const uint64_t hard = after->hard[FSQ_BLOCKS];
	char limit[FIELD_CELL], size[FIELD_CELL];

	if (space && !fsq_limit_is_none(hard) &&
	    (hard > before->hard[FSQ_BLOCKS] || fsq_limit_is_none(before->hard[FSQ_BLOCKS])) &&
	    hard > space / FSQ_BASIC_BLOCK)
		session_warn(session, path, "the limit of %s is more than the filesystem has, %s",
			     field_size(limit, hard * FSQ_BASIC_BLOCK), field_size(size, space));
}

/* A pattern of the shell has it, too. */
static bool is_of_fsck(const char *directory)
{
	static const char name[] = "lost+found";
	size_t size = strlen(directory), length = sizeof(name) - 1;

	while (size && directory[size - 1] == '/')
		size--;
	return size >= length && memcmp(directory + size - length, name, length) == 0 &&
	       (size == length || directory[size - length - 1] == '/');
}

/* A directory that joins a project may change the limits of those that are in it. */
static void warn_of_joined(struct session *session, const char *directory, uint32_t id,
			   const struct fsq_limits *before, const struct fsq_limits *after)
{
	const struct record_row was = change_values(before), is = change_values(after);
	static struct writer w;
	struct text text = { 0 };
	char *first, *real, *self;

	if (fsq_limits_are_none(before) || fsq_limits_are_same(before, after))
		return;
	first = suggest_directory_of(session, id);
	real = fsq_lookup_gone(NULL, directory);
	self = real ? quote_for_shell(real) : NULL;
	/* One that was made anew is no other. */
	if (!first || !self || strcmp(first, self) == 0)
		goto out;
	writer_start_text(&w, &text);
	change_write_limits(&w, "", &was, &is);
	if (writer_flush(&w) == 0)
		session_warn(session, directory,
			     "joins project %u of %s, whose limits change: %.*s", id, first,
			     (int)text.used, text.bytes);
	free(text.bytes);
out:
	free(first);
	free(real);
	free(self);
}

void change_warn_of_owner(struct session *session, const struct fsq_assign_request *request)
{
	struct stat st;

	if (!request->make || (!request->mode && !request->owner && !request->group) ||
	    fsq_lookup_stat(request->options ? request->options->mounts : NULL, request->directory,
			    0, &st, NULL))
		return;
	if ((request->mode && (st.st_mode & 07777) != request->mode) ||
	    (request->owner && st.st_uid != request->owner) ||
	    (request->group && st.st_gid != request->group))
		session_warn(session, request->directory,
			     "was there, and keeps its owner and mode: chown(1) and chmod(1) "
			     "change them");
}

void change_warn_of_assignment(struct session *session, const struct fsq_assign_request *request,
			       const struct fsq_assignment *assignment)
{
	const bool enforced = fsq_assignment_enforcement(assignment) != FSQ_NOT_ENFORCED;
	const enum fsq_change change = fsq_assignment_change(assignment);
	struct fsq_limits before, after;
	struct fsq_dquot dquot = { 0 };
	struct fsq_filesystem *fs;
	bool limited = false;

	if (fsq_assignment_elsewhere(assignment))
		session_warn(session, request->directory,
			     "is not what was registered: files elsewhere (%" PRIu64
			     ") have its ID and share its limit: if it was renamed, rmdir it, and "
			     "then fsquota move OLD NEW; if it is mounted here, name it by its own "
			     "path",
			     fsq_assignment_elsewhere(assignment));
	/* Of a line that is applied again and again only a person is told. */
	if (change != FSQ_UNCHANGED || (request->make && session_has_person(session)))
		change_warn_of_owner(session, request);
	if (change == FSQ_CREATED && is_of_fsck(request->directory))
		session_warn(session, request->directory,
			     "is where fsck puts what it finds, which counts there from now on; "
			     "fsquota release takes that off");
	if (change == FSQ_UNCHANGED || !enforced)
		return;
	fsq_assignment_limits(assignment, &before, &after);
	change_warn_of_space(session, request->directory, &before, &after,
			     fsq_assignment_space(assignment));
	if (change == FSQ_CREATED)
		warn_of_joined(session, request->directory, fsq_assignment_id(assignment), &before,
			       &after);
	/* The limits that a project has are new for a directory that joins it. */
	for (int form = FSQ_BLOCKS; form <= FSQ_INODES; form++) {
		if (change == FSQ_CREATED && before.soft[form] == after.soft[form])
			before.soft[form] = 0;
		if (change == FSQ_CREATED && before.hard[form] == after.hard[form])
			before.hard[form] = 0;
		limited |= !fsq_limit_is_none(after.soft[form]) ||
			   !fsq_limit_is_none(after.hard[form]);
	}
	if (limited && (request->dry_run || fsq_assignment_may_be_full(assignment)) &&
	    fsq_filesystem_open(&fs, request->directory, NULL, FSQ_OPEN_NO_TAG, NULL) == 0) {
		if (fsq_quota_get(fs, FSQ_PROJECT, fsq_assignment_id(assignment), &dquot))
			dquot = (struct fsq_dquot){ 0 };
		forget_old_grace(fs, &dquot);
		fsq_filesystem_close(fs);
	}
	warn_of_limits(session, request->directory, "", &before, &after, &dquot);
}

/* Warn of what change_limits() has done. @dquot  the record before */
static void warn_of_change(struct session *session, struct fsq_filesystem *fs, enum fsq_type type,
			   const struct fsq_dquot *dquot, const struct fsq_limits *limits)
{
	struct fsq_limits before = { 0 }, after = { 0 };
	struct fsq_dquot now = *dquot;
	struct fsq_state state;
	char who[40];

	/* ID 0 is not limited: its limits are the defaults of XFS. */
	if (dquot->id == 0 || fsq_quota_state(fs, type, &state) || !state.enforced[type])
		return;
	for (int form = 0; form < FSQ_FORMS; form++) {
		before.soft[form] = dquot->form[form].soft;
		before.hard[form] = dquot->form[form].hard;
		after.soft[form] =
			limits->mask & FSQ_SOFT(form) ? limits->soft[form] : before.soft[form];
		after.hard[form] =
			limits->mask & FSQ_HARD(form) ? limits->hard[form] : before.hard[form];
	}
	snprintf(who, sizeof(who), "%s %u: ", account_types[type], dquot->id);
	forget_old_grace(fs, &now);
	warn_of_limits(session, NULL, who, &before, &after, &now);
}

static void show_changed_record(struct session *session, struct fsq_filesystem *fs,
				enum fsq_type type, uint32_t id, bool changed,
				const struct record_row *before, const struct record_row *after)
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
		.of_times = session->rows == &changed_times_rows,
	};

	tables_row(session, &row);
	session_flush_terminal(session);
}

void change_show_limits(struct session *session, const char *directory, uint32_t id,
			const struct fsq_limits *before, const struct fsq_limits *after)
{
	const struct record_row was = change_values(before), is = change_values(after);
	const struct changed_row row = {
		.type = FSQ_PROJECT,
		.id = id,
		.name = names_of_id(session, FSQ_PROJECT, id),
		.directory = directory,
		.before = &was,
		.after = &is,
		.change = change_word(!fsq_limits_are_same(before, after)),
	};

	write_changed(session->out, &row);
}

void change_write_journal(struct session *session, struct fsq_filesystem *fs, enum fsq_type type,
			  uint32_t id, const struct fsq_limits *limits, int rc)
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

/* What resize --until has set does not go back any more. @before  the limits that were there */
static void forget_until(struct session *session, struct fsq_filesystem *fs,
			 const struct fsq_dquot *before)
{
	const struct fsq_limits was = fsq_limits_of(before);
	struct fsq_dquot dquot;
	struct fsq_limits is;

	if (fsq_quota_get(fs, FSQ_PROJECT, before->id, &dquot))
		return;
	is = fsq_limits_of(&dquot);
	if (!fsq_limits_are_same(&was, &is))
		until_forget(session, before->id, fsq_filesystem_get_info(fs)->dev, &is);
}

int change_limits(struct session *session, struct fsq_filesystem *fs, enum fsq_type type,
		  uint32_t id, const struct fsq_limits *limits)
{
	const struct fsq_limits none = { 0 };
	struct fsq_dquot before = { .id = id }, after = before, now = before;
	struct record_row was, is;
	const bool is_known = fsq_quota_get(fs, type, id, &now) == 0;
	bool changed = false;
	int rc = 0;

	if (change_is_shown(session))
		rc = fsq_quota_plan_limits(fs, type, id, limits, &before, &after);
	if (!session->dry_run) {
		rc = fsq_quota_set_limits(fs, type, id, limits);
		change_write_journal(session, fs, type, id, limits, rc);
	}
	if (rc == 0 && is_known)
		warn_of_change(session, fs, type, &now, limits);
	if (rc == 0 && type == FSQ_PROJECT && !session->dry_run)
		forget_until(session, fs, &now);
	if (rc == 0 && change_is_shown(session) && !session->dry_run)
		rc = fsq_quota_plan_limits(fs, type, id, &none, &now, &after);
	if (rc || !change_is_shown(session))
		return rc;
	for (int form = 0; form < FSQ_FORMS; form++)
		changed |= before.form[form].soft != after.form[form].soft ||
			   before.form[form].hard != after.form[form].hard;
	was = records_row(session, NULL, type, &before, true);
	is = records_row(session, NULL, type, &after, true);
	show_changed_record(session, fs, type, id, changed, &was, &is);
	return 0;
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
	was = change_times(id, &before);
	is = change_times(id, &after);
	show_changed_record(session, fs, type, id, changed, &was, &is);
	return 0;
}
