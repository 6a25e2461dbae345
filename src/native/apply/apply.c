/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "file.h"
#include "grace.h"
#include "native/cli/budgets.h"
#include "native/cli/journal.h"
#include "native/cli/marks.h"
#include "native/cli/options.h"
#include "native/cli/progress.h"
#include "native/cli/request.h"
#include "native/cli/until.h"
#include "native/rows/change.h"
#include "quota/directory/assign.h"
#include "quota/fsquota.h"
#include "quota/mounts/lookup.h"
#include "shared/array.h"
#include "shared/clock.h"
#include "shared/sort.h"
#include "watch.h"

/* The exit status of --exit-code when something was changed, or would be. */
#define STATUS_CHANGED 9

/* How long a directory is unwished before it is released. */
#define PRUNE_AFTER_SECONDS 60

/* How many directories a look at all takes before those that have appeared meanwhile. */
#define BETWEEN 20

/* When to look again at files that were being written. */
#define LOOK_AGAIN_MILLISECONDS 2000

struct apply_options {
	bool diff, exit_code, quiet, prune, watch, force;
	uint64_t prune_after; /* seconds; 0: the default */
};

/* A directory of the files. */
struct applied_row {
	const char *path;
	const char
		*action; /* "created", "changed", "unchanged", "unwished", "released" or "failed" */
	enum row_change change;
	uint32_t id;	  /* 0: not known */
	const char *file; /* NULL: no line asks for it any more */
	uint64_t line;
	const char
		*instead_of; /* with --diff: the file of a line that this one overrides, or NULL */
	uint64_t instead_of_line;
	const struct record_row *before, *after;	     /* or NULL */
	const struct record_row *grace_before, *grace_after; /* of a filesystem; or NULL */
	const char *over_budget;			     /* as in struct project_row */
	int64_t until; /* when its limits go back, milliseconds since 1970, or 0 */
	bool dry_run;
};

#define MEMBER(name) .offset = offsetof(struct applied_row, name)

static const struct field applied_fields[] = {
	{ "PATH", "path", FIELD_PATH, MEMBER(path), "the directory" },
	{ "ACTION", "action", FIELD_TEXT, MEMBER(action),
	  "created, changed, unchanged, unwished, released or failed" },
	{ NULL, "changed", FIELD_CHANGE, MEMBER(change) },
	{ "ID", "id", FIELD_ID_OR_NONE, MEMBER(id), "project ID" },
	{ "FILE", "file", FIELD_TEXT, MEMBER(file), "the file that says it" },
	{ "LINE", "line", FIELD_COUNT, MEMBER(line), "and the line in it", .is_id = true },
	{ NULL, "instead_of_file", FIELD_TEXT, MEMBER(instead_of),
	  "the file of a line that this one overrides", .optional = true },
	{ NULL, "instead_of_line", FIELD_COUNT, MEMBER(instead_of_line), "and the line in it",
	  .optional = true },
	{ NULL, "before", FIELD_ROW, MEMBER(before), .members = limit_fields,
	  .size = sizeof(struct record_row) },
	{ NULL, "after", FIELD_ROW, MEMBER(after), .members = limit_fields,
	  .size = sizeof(struct record_row) },
	{ NULL, "grace_before", FIELD_ROW, MEMBER(grace_before), .members = time_fields,
	  .size = sizeof(struct record_row), .optional = true },
	{ NULL, "grace_after", FIELD_ROW, MEMBER(grace_after), .members = time_fields,
	  .size = sizeof(struct record_row), .optional = true },
	{ NULL, "over_budget", FIELD_PATH, MEMBER(over_budget),
	  "the directory or filesystem whose budget the limit exceeds", .optional = true },
	{ NULL, "until", FIELD_TIME, MEMBER(until),
	  "when limits go back that the line does not change before", .optional = true },
	{ 0 },
};

static void write_applied(struct writer *w, const void *arg)
{
	static const char *const would[][2] = { { "created", "would-create" },
						{ "changed", "would-change" },
						{ "released", "would-release" } };
	const struct applied_row *row = arg;
	const char *word = row->action;
	char date[UNTIL_DATE];

	for (size_t i = 0; row->dry_run && i < sizeof(would) / sizeof(would[0]); i++)
		if (strcmp(word, would[i][0]) == 0)
			word = would[i][1];
	write_left(w, word, row->dry_run ? sizeof("would-release") : sizeof("unchanged"));
	write_escaped(w, row->path);
	if (row->before && row->after)
		change_write_limits(w, ", ", row->before, row->after);
	if (row->grace_before && row->grace_after)
		change_write_times(w, ", ", row->grace_before, row->grace_after);
	if (row->instead_of)
		write_format(w, ", instead of %s, line %u", row->instead_of,
			     (unsigned int)row->instead_of_line);
	if (row->until)
		write_format(w, ", whose limits go back on %s",
			     until_date(date, row->until / 1000));
	write_char(w, '\n');
}

static const struct row_fields applied_rows = { applied_fields, sizeof(struct applied_row),
						"ACTION,PATH,ID,FILE,LINE", write_applied };

struct apply {
	struct session *session;
	const struct apply_options *options;
	struct progress progress;
	bool changed;
	bool marked;		   /* marks were added */
	bool quiet;		   /* of what is unchanged */
	struct reported *reported; /* with --watch, see reported_add() */
	bool has_default;	   /* the lines are those of /etc/fsquota.d */
	/* With --watch: */
	struct apply_texts last;     /* the files, when all of them were right */
	bool was_written;	     /* a file was being written */
	struct apply_marks unwished; /* no line names them any more; not released yet */
	struct apply_watch *watch;   /* NULL while only some directories are looked at */
	int64_t wake;	    /* when to look again, in milliseconds; 0: when something changes */
	struct until until; /* limits that go back */
	int64_t when;	    /* those of the current entry do, in seconds since 1970; or 0 */
	size_t budgets;	    /* of fsquota.conf, the first ones of the session */
};

/* With --watch only a signal ends it, otherwise also a failure. */
static bool goes_on(struct apply *apply, const char *next)
{
	return apply->reported ? !is_signal_pending(NULL) : session_goes_on(apply->session, next);
}

/* A row of a line. */
static struct applied_row row_of_entry(const struct apply *apply, const struct apply_entry *entry,
				       const char *action, bool changed)
{
	const bool overrides = apply->options->diff && entry->instead_of;

	return (struct applied_row){
		.path = entry->request.directory,
		.action = action,
		.change = change_word(changed),
		.file = entry->file,
		.line = entry->line,
		.instead_of = overrides ? entry->instead_of : NULL,
		.instead_of_line = overrides ? entry->instead_of_line : FIELD_NOT_KNOWN,
		.dry_run = apply->session->dry_run,
	};
}

/* A row of a directory that no line names any more. */
static struct applied_row row_of_mark(const struct apply *apply, const struct apply_mark *mark,
				      const char *action, bool changed)
{
	return (struct applied_row){
		.path = mark->directory,
		.action = action,
		.change = change_word(changed),
		.id = mark->id,
		.line = FIELD_NOT_KNOWN,
		.instead_of_line = FIELD_NOT_KNOWN,
		.dry_run = apply->session->dry_run,
	};
}

/* What a line has done. The first three are those of enum fsq_change. */
enum action {
	UNCHANGED = FSQ_UNCHANGED,
	CHANGED = FSQ_CHANGED,
	CREATED = FSQ_CREATED,
	FAILED,
};

static void show_applied(struct apply *apply, const struct apply_entry *entry, enum action action,
			 const struct fsq_assignment *assignment)
{
	static const char *const words[] = {
		[UNCHANGED] = "unchanged",
		[CHANGED] = "changed",
		[CREATED] = "created",
		[FAILED] = "failed",
	};
	struct session *session = apply->session;
	struct record_row before, after;
	struct fsq_limits was, is;
	struct applied_row row =
		row_of_entry(apply, entry, words[action], action == CHANGED || action == CREATED);

	if (assignment) {
		row.id = fsq_assignment_id(assignment);
		row.over_budget = budgets_where(fsq_assignment_over_budget(assignment), row.path);
	}
	row.until = 1000 * apply->when;
	if (assignment && apply->options->diff) {
		fsq_assignment_limits(assignment, &was, &is);
		before = change_values(&was);
		after = change_values(&is);
		row.before = &before;
		row.after = &after;
	}
	tables_row(session, &row);
	/* Flush rows of lines that take long; asking for the terminal is a system call each. */
	if (assignment)
		session_flush_terminal(session);
}

/* A directory that a pattern matches, as it was marked when it got its quota. */
struct renamed {
	const struct fsq_mount_points *points;
	const char *pattern;
	uint32_t id;
	char *from;
	size_t count;
};

static enum fsq_visit find_renamed(uint32_t id, const char *directory, void *arg)
{
	struct renamed *renamed = arg;
	struct stat st;
	int rc;

	if (id != renamed->id || fnmatch(renamed->pattern, directory, FNM_PATHNAME | FNM_PERIOD))
		return FSQ_VISIT_CONTINUE;
	rc = fsq_lookup_stat(renamed->points, directory, O_NOFOLLOW, &st, NULL);
	if (rc ? rc != -ENOENT && rc != -ENOTDIR : S_ISDIR(st.st_mode))
		return FSQ_VISIT_CONTINUE;
	free(renamed->from);
	renamed->from = strdup(directory);
	renamed->count++;
	return FSQ_VISIT_CONTINUE;
}

/*
 * A directory carries the ID of another one. If that does not exist any more and the same pattern matched it,
 * the directory was renamed, or its owner pretends so: the limits are the same either way.
 *
 * @return   whether its quota has followed, or would in a dry run
 */
static bool follow_rename(struct apply *apply, const struct apply_entry *entry)
{
	const struct fsq_usage_request asked = { .size = sizeof(asked),
						 .path = entry->request.directory,
						 .options = entry->request.options };
	struct renamed renamed = { .points = session_mounts(apply->session),
				   .pattern = entry->pattern };
	struct fsq_move_request request = { .size = sizeof(request),
					    .to = entry->request.directory,
					    .dry_run = entry->request.dry_run,
					    .registry = entry->request.registry,
					    .options = entry->request.options };
	struct fsq_usage usage;
	struct fsq_moved moved;
	bool followed = false;

	if (!renamed.points || fsq_usage_get(&usage, &asked, NULL))
		return false;
	renamed.id = usage.id;
	fsq_usage_clear(&usage);
	if (fsq_projects_each(apply->session->projects_file, find_renamed, &renamed, NULL) == 0 &&
	    renamed.count == 1 && renamed.from) {
		request.from = renamed.from;
		followed = fsq_move(&request, &moved, NULL) == 0;
	}
	if (followed && !request.dry_run) {
		until_follow(apply->session, renamed.from, request.to);
		apply_marks_follow(apply->session, moved.id, renamed.from, request.to);
		journal_write(apply->session, &(struct journal_entry){ .type = FSQ_PROJECT,
								       .id = moved.id,
								       .directory = request.to,
								       .from = renamed.from });
	}
	free(renamed.from);
	return followed;
}

struct noting {
	struct apply *apply;
	const char *directory;
};

static int note_assigned(void *arg, uint32_t id, struct fsq_error *err)
{
	const struct noting *noting = arg;

	return apply_marks_add(noting->apply->session, id, noting->directory,
			       &noting->apply->marked, err);
}

static void report_missing(struct session *session, const struct apply_entry *entry,
			   const struct fsq_error *err)
{
	char *hint = NULL;

	if (asprintf(&hint,
		     "%s, line %u: the word mkdir in it makes it, mkdir -p what is above it; or "
		     "take the line out",
		     entry->file, (unsigned int)entry->line) < 0)
		hint = NULL;
	session_fail_missing(session, err, entry->request.directory, hint);
	free(hint);
}

/* @noted    the path that is noted. @return whether to go on */
static bool assign_entry(struct apply *apply, struct apply_entry *entry, const char *noted)
{
	struct noting noting = { apply, noted };
	const struct fsq_assign_note note = { note_assigned, &noting };
	struct fsq_assignment *assignment;
	struct fsq_error err;
	enum fsq_change change;
	bool moved = false;
	int rc = fsq_assign_noted(&assignment, &entry->request, &note, &err);

	if (rc == FSQ_E_CONFLICT && entry->pattern && follow_rename(apply, entry)) {
		moved = true;
		apply->changed = true;
		if (entry->request.dry_run) {
			show_applied(apply, entry, CHANGED, NULL);
			return true;
		}
		rc = fsq_assign_noted(&assignment, &entry->request, &note, &err);
	}
	progress_take_mounts(&apply->progress, apply->session, entry->request.directory);
	if (rc && reported_add(apply->reported, entry->request.directory)) {
		assign_write_journal(apply->session, &entry->request, NULL, &err);
		show_applied(apply, entry, FAILED, NULL);
		report_missing(apply->session, entry, &err);
	}
	if (rc)
		return err.errnum != EINTR;
	reported_remove(apply->reported, entry->request.directory);
	assign_write_journal(apply->session, &entry->request, assignment, NULL);
	change = fsq_assignment_change(assignment);
	if (moved && change == FSQ_UNCHANGED)
		change = FSQ_CHANGED;
	apply->changed |= change != FSQ_UNCHANGED;
	if (change != FSQ_UNCHANGED || !apply->quiet)
		show_applied(apply, entry, (enum action)change, assignment);
	if (change != FSQ_UNCHANGED && fsq_assignment_enforcement(assignment) == FSQ_NOT_ENFORCED)
		session_warn_not_enforced(apply->session, entry->request.directory);
	assign_warn_of_store(apply->session, &entry->request, assignment);
	change_warn_of_assignment(apply->session, &entry->request, assignment);
	budgets_warn(apply->session, entry->request.directory,
		     fsq_assignment_over_budget(assignment));
	fsq_assignment_free(assignment);
	return true;
}

/* @return   when limits of it go back that resize --until has set, if that is not over; or 0 */
static int64_t goes_back(struct apply *apply, const struct fsq_assign_request *request)
{
	struct session *session = apply->session;
	const struct fsq_usage_request asked = { .size = sizeof(asked),
						 .path = request->directory,
						 .options = request->options };
	const struct until_line *line;
	struct fsq_usage usage;

	if (apply->until.count == 0 || fsq_usage_get(&usage, &asked, NULL))
		return 0;
	line = until_find_at(session, &apply->until, usage.id, request->directory);
	fsq_usage_clear(&usage);
	return line && line->when > time(NULL) ? line->when : 0;
}

static bool assign_and_note(struct apply *apply, const struct apply_entry *named)
{
	struct apply_entry copy = *named, *entry = &copy;
	/* Afterwards there may be no memory. */
	char *noted = fsq_lookup_gone(apply->session->mounts, entry->request.directory);
	bool going_on;

	if (!noted && errno == ENOMEM)
		return session_no_memory(apply->session);
	apply->when = goes_back(apply, &entry->request);
	if (apply->when) {
		entry->request.limits.mask = 0;
		entry->request.unlimited = false;
		entry->request.hard_percent = entry->request.soft_percent = 0;
	}
	/* A path that leads nowhere fails. */
	going_on = assign_entry(apply, entry, noted ? noted : entry->request.directory);
	apply->when = 0;
	free(noted);
	return going_on;
}

/* @return   whether to go on */
static bool set_grace(struct apply *apply, const struct apply_entry *entry)
{
	struct session *session = apply->session;
	struct fsq_timers before, after;
	struct record_row was, is;
	struct fsq_error err;
	const int rc = apply_grace_set(session, entry, &before, &after, &err);
	const bool changed = rc == 0 && apply_grace_differs(&before, &after);
	struct applied_row row = row_of_entry(apply, entry,
					      rc	? "failed"
					      : changed ? "changed"
							: "unchanged",
					      changed);
	char why[2 * PATH_MAX];

	if (rc)
		snprintf(why, sizeof(why), "%s: %s", err.path, err.message);
	if (rc && !reported_add(apply->reported, why))
		return err.errnum != EINTR;
	if (rc || changed)
		journal_write(session, &(struct journal_entry){ .type = FSQ_PROJECT,
								.filesystem = row.path,
								.err = rc ? &err : NULL });
	if (rc) {
		tables_row(session, &row);
		session_fail(session, &err);
		return err.errnum != EINTR;
	}
	apply->changed |= changed;
	if (apply->options->diff) {
		was = change_times(0, &before);
		is = change_times(0, &after);
		row.grace_before = &was;
		row.grace_after = &is;
	}
	if (changed || !apply->quiet)
		tables_row(session, &row);
	return true;
}

/* Before limits are set, which are exceeded for so long. */
static void apply_graces(struct apply *apply, struct apply_list *list)
{
	bool going_on = list->graces.count && apply_list_identify_graces(apply->session, list);

	for (size_t i = 0; i < list->graces.count && going_on; i++)
		going_on = goes_on(apply, list->graces.list[i].request.directory) &&
			   set_grace(apply, &list->graces.list[i]);
}

static void look_between(struct apply *apply, struct apply_list *list);

static void apply_entries(struct apply *apply, struct apply_list *list)
{
	struct fsq_registry registry;
	bool going_on = true;

	apply->progress.options.mounts = session_mounts(apply->session);
	if (!apply->progress.options.mounts || !session_keep_registry(apply->session))
		return;
	until_free(&apply->until);
	apply->until = (struct until){ 0 };
	if (!until_read(apply->session, &apply->until, false))
		return;
	registry = session_registry(apply->session);
	for (size_t i = 0; i < list->directories.count && going_on; i++) {
		struct apply_entry *entry = &list->directories.list[i];

		if (!entry->request.directory)
			continue;
		if (i % BETWEEN == BETWEEN - 1)
			look_between(apply, list);
		entry->request.registry = &registry;
		entry->request.options = &apply->progress.options;
		entry->request.dry_run = apply->session->dry_run;
		entry->request.budgets = apply->session->budgets;
		entry->request.budget_count = apply->session->budget_count;
		entry->request.over_budget = apply->options->force;
		if (fsq_assigned_has(registry.assigned, &entry->request)) {
			if (!apply->quiet)
				show_applied(apply, entry, UNCHANGED, NULL);
			if (!apply->reported && (entry->request.mode || entry->request.owner) &&
			    session_has_person(apply->session))
				change_warn_of_owner(apply->session, &entry->request);
			continue;
		}
		/* Its program sets limits last when it takes the directory, and removes them first when it gives it up. */
		if (entry->registered &&
		    !fsq_assigned_has_limits(registry.assigned, &entry->request))
			continue;
		/* Only before the first change, since it costs calls: it does its work once. */
		going_on = apply_list_identify(apply->session, list);
		if (going_on && entry->request.directory)
			going_on = goes_on(apply, entry->request.directory) &&
				   assign_and_note(apply, entry);
	}
}

static int compare_marks_by_identity(const void *one, const void *other)
{
	const struct apply_mark *a = *(struct apply_mark *const *)one;
	const struct apply_mark *b = *(struct apply_mark *const *)other;

	return compare_numbers(a->dev, b->dev) ?: compare_numbers(a->ino, b->ino);
}

/* Is it not there, or is something else in its place? @rc  of fsq_lookup() */
static bool is_gone(int rc)
{
	return rc == -ENOENT || rc == -ENOTDIR || rc == -ELOOP || rc == -EXDEV;
}

/*
 * Find the directory of a line that did not exist when the lines were read.
 *
 * @return   1, 0: none, or a negative errno
 */
static int identify(struct session *session, const struct apply_entry *entry,
		    struct apply_mark *key)
{
	struct stat st;
	int rc;

	*key = (struct apply_mark){ .dev = entry->dev, .ino = entry->ino };
	if (entry->ino)
		return 1;
	rc = fsq_lookup_stat(session_mounts(session), entry->request.directory, O_NOFOLLOW, &st,
			     NULL);
	if (rc)
		return is_gone(rc) ? 0 : rc;
	key->dev = st.st_dev;
	key->ino = st.st_ino;
	return 1;
}

static bool is_matched(const struct apply_list *list, const char *directory)
{
	for (size_t i = 0; i < list->patterns.count; i++)
		if (fnmatch(list->patterns.list[i].pattern, directory, FNM_PATHNAME | FNM_PERIOD) ==
		    0)
			return true;
	return false;
}

/* A directory can have several marks: with different IDs, or by different paths. */
static bool compare_marks(struct session *session, struct apply_marks *marks,
			  const struct apply_list *list)
{
	struct apply_mark **there = reallocarray(NULL, marks->count + 1, sizeof(*there));
	bool all = false;
	size_t count = 0;
	struct stat st;

	if (!there)
		return session_no_memory(session);
	for (size_t i = 0; i < marks->count; i++) {
		struct apply_mark *mark = &marks->list[i];
		int rc;

		/* The pattern may have missed the directory because of an error. */
		mark->is_wanted = is_matched(list, mark->directory);
		if (mark->is_wanted)
			continue;
		rc = fsq_lookup_stat(session_mounts(session), mark->directory, O_NOFOLLOW, &st,
				     NULL);
		if (rc) {
			if (!is_gone(rc) && mark->is_registered &&
			    reported_add(list->reported, mark->directory))
				session_errno(session, ERROR_AT_PATH, -rc, mark->directory,
					      "cannot be looked at, so it is not released");
			continue;
		}
		mark->is_there = true;
		mark->dev = st.st_dev;
		mark->ino = st.st_ino;
		there[count++] = mark;
	}
	array_sort(there, count, sizeof(*there), compare_marks_by_identity);
	for (size_t i = 0; i < list->directories.count; i++) {
		const struct apply_entry *entry = &list->directories.list[i];
		const char *directory = entry->request.directory;
		struct apply_mark key, *wanted = &key, **found;
		int rc = directory ? identify(session, entry, &key) : 0;

		/* This directory cannot be examined, so any mark may be its own: release nothing. */
		all |= rc < 0;
		if (rc < 0 && reported_add(list->reported, directory))
			session_errno(session, ERROR_AT_PATH, -rc, directory,
				      "cannot be looked at, so nothing is released");
		found = rc <= 0 ? NULL
				: array_search(&wanted, there, count, sizeof(*there),
					       compare_marks_by_identity);
		if (!found)
			continue;
		while (found > there && compare_marks_by_identity(found - 1, &wanted) == 0)
			found--;
		for (; found < there + count && compare_marks_by_identity(found, &wanted) == 0;
		     found++)
			(*found)->is_wanted = true;
	}
	for (size_t i = 0; i < marks->count && all; i++)
		marks->list[i].is_wanted = true;
	free(there);
	return true;
}

/* Release a directory that no line asks for any more. @return whether to go on */
static bool release_marked(struct apply *apply, struct apply_mark *mark,
			   const struct fsq_registry *registry)
{
	struct session *session = apply->session;
	const struct fsq_release_request request = {
		.size = sizeof(request),
		.directory = mark->directory,
		.dry_run = session->dry_run,
		.registry = registry,
		.options = &apply->progress.options,
	};
	struct fsq_released released;
	struct record_row before;
	const struct record_row none = change_values(&(const struct fsq_limits){ 0 });
	struct fsq_error err;
	int rc = fsq_release(&request, &released, &err);
	struct applied_row row = row_of_mark(apply, mark, rc ? "failed" : "released", rc == 0);

	progress_take_mounts(&apply->progress, session, mark->directory);
	journal_write(session, &(struct journal_entry){
				       .type = FSQ_PROJECT,
				       .id = mark->id,
				       .directory = mark->directory,
				       .before = released.limits_off ? &released.limits : NULL,
				       .err = rc ? &err : NULL });
	if (rc) {
		session_fail(session, &err);
	} else {
		apply->changed = true;
		mark->is_done = !session->dry_run;
		if (session->dry_run && released.limits_off)
			budgets_plan_release(session, mark->directory,
					     released.limits.hard[FSQ_BLOCKS]);
	}
	if (rc == 0 && apply->options->diff && released.limits_off) {
		before = change_values(&released.limits);
		row.before = &before;
		row.after = &none;
	}
	tables_row(session, &row);
	session_flush_terminal(session);
	return rc == 0 || err.errnum != EINTR;
}

/*
 * With --watch nothing is released before it was unwished for a while: a file that is replaced may be gone for a moment.
 *
 * @return   whether there was memory for those to wait for; mark->is_wanted is set for them
 */
static bool wait_for_unwished(struct apply *apply, struct apply_marks *marks)
{
	const int64_t now = clock_milliseconds(CLOCK_MONOTONIC);
	const uint64_t seconds = apply->options->prune_after;
	const int64_t after = (int64_t)(seconds ? seconds : PRUNE_AFTER_SECONDS) * 1000;
	struct apply_marks unwished = { 0 };

	for (size_t i = 0; i < marks->count && !unwished.no_memory; i++) {
		struct apply_mark *mark = &marks->list[i], *waits;
		const struct applied_row row = row_of_mark(apply, mark, "unwished", false);
		const struct apply_mark *known =
			apply_marks_find(&apply->unwished, mark->id, mark->directory);
		const int64_t since = known ? known->since : now;

		if (!mark->is_registered || !mark->is_there || mark->is_wanted ||
		    (known && now - since >= after))
			continue;
		mark->is_wanted = true;
		if (!known)
			tables_row(apply->session, &row);
		if (!apply->wake || since + after < apply->wake)
			apply->wake = since + after;
		waits = apply_marks_keep(&unwished, mark->id, mark->directory);
		if (waits)
			waits->since = since;
	}
	apply_marks_free(&apply->unwished);
	apply->unwished = unwished;
	return !unwished.no_memory || session_no_memory(apply->session);
}

/*
 * Release first: a directory around it may get a quota instead. Leave a missing directory to prune, which
 * knows whether it may come back.
 */
static bool release_unwanted(struct apply *apply, struct apply_list *list)
{
	const struct fsq_registry registry = session_registry(apply->session);
	struct apply_marks marks = { 0 };
	bool going_on = apply_list_identify(apply->session, list) &&
			apply_marks_read(apply->session, &marks) &&
			compare_marks(apply->session, &marks, list) &&
			(!apply->options->watch || wait_for_unwished(apply, &marks));
	bool any = false;

	apply->progress.options.mounts = apply->session->mounts;
	for (size_t i = 0; i < marks.count && going_on; i++) {
		struct apply_mark *mark = &marks.list[i];

		if (!mark->is_registered)
			mark->is_done = !apply->session->dry_run;
		else if (mark->is_there && !mark->is_wanted)
			going_on = goes_on(apply, mark->directory) &&
				   release_marked(apply, mark, &registry);
		any |= mark->is_done;
	}
	if (any)
		apply_marks_forget(apply->session, &marks);
	apply_marks_free(&marks);
	return going_on;
}

/* Without --prune: who took a line out may believe that its quota goes. */
static void tell_of_unwanted(struct apply *apply, struct apply_list *list)
{
	struct apply_marks marks = { 0 };
	size_t count = 0;

	if (apply_list_identify(apply->session, list) && apply_marks_read(apply->session, &marks) &&
	    compare_marks(apply->session, &marks, list))
		for (size_t i = 0; i < marks.count; i++)
			count += marks.list[i].is_registered && marks.list[i].is_there &&
				 !marks.list[i].is_wanted;
	if (count)
		session_warn(
			apply->session, NULL,
			"directories that apply has assigned, and no line names any more: %zu; "
			"--prune releases them",
			count);
	apply_marks_free(&marks);
}

/* --prune with one of several files would release what the others name. */
static bool may_prune(struct session *session, const struct invocation *invocation)
{
	struct stat st;

	for (int i = 0; i < invocation->operand_count; i++)
		if (strcmp(invocation->operands[i], "-") == 0 ||
		    (stat(invocation->operands[i], &st) == 0 && !S_ISDIR(st.st_mode)))
			return session_usage_error(
				session,
				"--prune goes with directories of files, not with %s: "
				"what only another file names would be released",
				invocation->operands[i]);
	return true;
}

static bool may_stay(struct session *session, const struct invocation *invocation)
{
	const struct apply_options *options = invocation->options;

	if (session->batch)
		return session_usage_error(session, "--watch is for no request: it does not end");
	if (session->dry_run || options->exit_code)
		return session_usage_error(session,
					   "--watch does not go with --dry-run and --exit-code");
	for (int i = 0; i < invocation->operand_count; i++)
		if (strcmp(invocation->operands[i], "-") == 0)
			return session_usage_error(session, "--watch cannot watch standard input");
	return true;
}

/* Do what the lines say. @return  whether they are right; else nothing was done */
static bool apply_lines(struct apply *apply, struct apply_list *list,
			const struct apply_texts *texts, bool prune)
{
	bool good = apply->has_default || apply_read_budgets(apply->session);
	const size_t budgets = apply->session->budget_count;

	for (size_t i = 0; i < texts->count; i++)
		good &= apply_list_parse(apply->session, list, &texts->list[i]);
	if (good && !apply->has_default && apply->session->budget_count > budgets &&
	    reported_add(apply->reported, APPLY_DIRECTORY))
		session_warn(apply->session, NULL,
			     "a budget in these lines is only for this run: in " APPLY_DIRECTORY
			     " it lasts");
	good = good && apply_list_settle(apply->session, list);
	if (good)
		apply_graces(apply, list);
	if (good && (!prune || release_unwanted(apply, list)))
		apply_entries(apply, list);
	if (good && !prune && apply->has_default && !apply->options->watch &&
	    session_has_person(apply->session))
		tell_of_unwanted(apply, list);
	if (apply->marked && !prune)
		apply_marks_tidy(apply->session);
	apply->marked = false;
	return good;
}

/* Nothing is released for files that are not there, or that are not read. */
static bool may_release(struct apply *apply, const struct apply_texts *texts)
{
	if (!apply->options->prune)
		return false;
	if (texts->empty && reported_add(apply->reported, texts->empty))
		session_warn(apply->session, texts->empty,
			     "has no file *.conf, so nothing is released; an empty one means "
			     "that nothing is wished");
	if (!texts->empty && texts->count)
		return !texts->being_written;
	return false;
}

static bool read_texts(struct apply *apply, struct apply_texts *texts, char *const *files,
		       int count, const struct apply_reading *reading)
{
	bool good = true;

	for (int i = 0; i < count; i++)
		good &= apply_texts_read(apply->session, texts, files[i], reading);
	return good;
}

/* @return   a list for which the same is watched and reported */
static struct apply_list empty_list(const struct apply_list *list)
{
	return (struct apply_list){ .reported = list->reported,
				    .wrong = list->wrong,
				    .looked_in = list->looked_in,
				    .looker = list->looker };
}

static void restart_list(struct apply_list *list)
{
	apply_list_free(list);
	*list = empty_list(list);
}

/*
 * Look at all once. Where files cannot be read, or are wrong, all lines count as they were when they were right the last
 * time; those of a file that is being written, too. Then nothing is released.
 *
 * @return   whether the list says what the lines do
 */
static bool look(struct apply *apply, struct apply_list *list, char *const *files, int count)
{
	const struct apply_reading reading = { .at_once = true,
					       .tell = apply->was_written,
					       .reported = list->wrong,
					       .last = &apply->last };
	struct apply_texts texts = { 0 };
	const bool all_read = read_texts(apply, &texts, files, count, &reading);
	const bool complete = all_read && !texts.being_written;
	bool good = false;

	/* Most are written in a moment. Of the end nothing may tell. */
	apply->was_written = texts.being_written;
	apply->wake = complete ? 0 : clock_milliseconds(CLOCK_MONOTONIC) + LOOK_AGAIN_MILLISECONDS;

	session_forget_budgets(apply->session, apply->budgets);
	if (all_read || apply->last.count == 0)
		good = apply_lines(apply, list, &texts, complete && may_release(apply, &texts));
	if (good && all_read) {
		if (complete)
			reported_clear(list->wrong);
		apply_texts_free(&apply->last);
		apply->last = texts;
		return true;
	}
	apply_texts_free(&texts);
	if (good || apply->last.count == 0)
		return good;
	restart_list(list);
	session_forget_budgets(apply->session, apply->budgets);
	return apply_lines(apply, list, &apply->last, false);
}

/*
 * Look at the directories that have appeared.
 *
 * @return   whether that was enough; else all must be looked at
 */
static bool look_at_some(struct apply *apply, struct apply_watch *watch,
			 const struct apply_list *list)
{
	for (size_t i = 0; i < watch->appeared_count; i++) {
		struct apply_list some = empty_list(list);
		const char *path = watch->appeared[i];
		bool good;

		apply_watch_follow_one(watch, list, path);
		good = apply_list_reach(apply->session, list, path, &some);
		if (good && some.directories.count)
			apply_entries(apply, &some);
		apply_list_free(&some);
		if (!good)
			return false;
	}
	return true;
}

/* Look at the lines with that word. */
static void look_at_registered(struct apply *apply, const struct apply_list *list)
{
	struct apply_list some = empty_list(list);

	if (apply_list_registered(apply->session, list, &some))
		apply_entries(apply, &some);
	apply_list_free(&some);
}

/* Directories that appear while all are looked at do not wait for the end of that. */
static void look_between(struct apply *apply, struct apply_list *list)
{
	struct apply_watch *watch = apply->watch;

	if (!watch || !apply_watch_ask(watch))
		return;
	apply->watch = NULL;
	watch->pending |=
		!apply_list_locate(apply->session, list) || !look_at_some(apply, watch, list);
	apply->watch = watch;
}

/*
 * Keep running. A directory that appears is looked at alone; all are when lines or mounts change, when events were lost,
 * and now and then, since nothing tells that somebody has changed an ID. A failure is reported once, until it has gone.
 */
static void stay(struct apply *apply, char *const *files, int count)
{
	struct session *session = apply->session;
	struct apply_watch watch;
	struct reported reported = { 0 }, wrong = { 0 };
	struct apply_list list = { .reported = &reported,
				   .wrong = &wrong,
				   .looked_in = apply_watch_add,
				   .looker = &watch };
	bool going_on = apply_watch_begin(&watch, session), ready = false, good = false;

	apply->budgets = session->budget_count;
	apply->reported = &reported;
	while (going_on) {
		bool again = false;

		if (watch.all || apply_watch_remounted(&watch))
			session_forget_mounts(session);
		if (!watch.all && good)
			watch.all = !look_at_some(apply, &watch, &list);
		if (!watch.all && good && watch.at_registered)
			look_at_registered(apply, &list);
		if (watch.all) {
			for (int i = 0; i < count && !ready; i++)
				config_tell_of_others(session, files[i]);
			restart_list(&list);
			apply_watch_files(&watch, files, count);
			reported_begin(&reported);
			apply->watch = &watch;
			good = look(apply, &list, files, count);
			apply->watch = NULL;
			if (good)
				reported_end(&reported);
			watch.wake = apply->wake;
			again = apply_watch_follow(&watch, &list);
			good = good && apply_list_rest(session, &list);
		}
		if (session->mounts)
			fsq_mount_points_let_go(session->mounts);
		session_forget_registry(session);
		session_flush(session);
		apply->quiet = true;
		if (session->out->errnum)
			break;
		if (!again && !ready) {
			session_notify("READY=1");
			ready = true;
		}
		going_on = apply_watch_wait(&watch);
	}
	apply_watch_end(&watch);
	apply_list_free(&list);
	apply_texts_free(&apply->last);
	apply_marks_free(&apply->unwished);
	reported_clear(&reported);
	reported_clear(&wrong);
}

static void apply_once(struct apply *apply, char *const *files, int count, bool named)
{
	const struct apply_reading reading = { 0 };
	struct apply_texts texts = { 0 };
	struct apply_list list = { 0 };

	if (read_texts(apply, &texts, files, count, &reading)) {
		/* With --prune it is warned of anyway. */
		if (texts.empty && !apply->options->prune && named)
			session_warn(apply->session, texts.empty,
				     "there is no file *.conf in it, and no other is read, see "
				     "fsquota.d(5)");
		for (int i = 0; i < count; i++)
			config_tell_of_others(apply->session, files[i]);
		if (apply_lines(apply, &list, &texts, may_release(apply, &texts)))
			tables_end(apply->session);
	}
	/* What it prints refers to the texts. */
	session_flush(apply->session);
	apply_list_free(&list);
	apply_texts_free(&texts);
}

/* As by "fsquota apply < FILE", which needs the operand "-". */
static void tell_of_unread_input(struct session *session)
{
	struct stat st;
	int bytes = 0;

	if (session->batch || fstat(STDIN_FILENO, &st))
		return;
	if (S_ISREG(st.st_mode))
		bytes = lseek(STDIN_FILENO, 0, SEEK_CUR) < st.st_size;
	else if (S_ISFIFO(st.st_mode) && ioctl(STDIN_FILENO, FIONREAD, &bytes))
		bytes = 0;
	if (bytes)
		session_warn(session, NULL,
			     "the lines are those of " APPLY_DIRECTORY
			     ", and standard input is not read: fsquota apply - reads it");
}

static void command_apply(struct session *session, const struct invocation *invocation)
{
	const struct apply_options *options = invocation->options;
	struct apply apply = { .session = session,
			       .options = options,
			       .quiet = options->quiet,
			       .has_default = invocation->operand_count == 0 };
	static char directory[] = APPLY_DIRECTORY;
	char *const usual[] = { directory };
	const bool named = invocation->operand_count > 0;
	char *const *files = named ? invocation->operands : usual;
	int count = named ? invocation->operand_count : 1;
	sigset_t signals_before;

	if (options->prune_after && !(options->watch && options->prune)) {
		session_usage_error(session, "--prune-after goes with --watch and --prune");
		return;
	}
	if ((options->watch && !may_stay(session, invocation)) ||
	    (options->prune && !may_prune(session, invocation)))
		return;
	if (options->watch && session->style.format == TABLE_JSON)
		session->style.format = TABLE_JSON_LINES;
	progress_begin(&apply.progress, session);
	block_termination_signals(&signals_before);
	if (options->watch)
		stay(&apply, files, count);
	else
		apply_once(&apply, files, count, named);
	if (!named && !options->watch)
		tell_of_unread_input(session);
	session_flush(session);
	restore_signals(&signals_before);
	if (session->status == 0 && apply.changed && options->exit_code)
		session->status = STATUS_CHANGED;
	until_free(&apply.until);
}

#define FIELD(member) offsetof(struct apply_options, member)

static const struct command_option own_options[] = {
	{ 0, "diff", "show the limits before and after", .field = FIELD(diff) },
	{ 'q', "quiet", "do not print what is unchanged", .field = FIELD(quiet) },
	{ 0, "prune", "release what apply has assigned and no line wants", .field = FIELD(prune) },
	{ 0, "prune-after", "with --watch, after S seconds without a line: 60", .kind = VALUE_TIME,
	  .argument = "S", .positive = true, .field = FIELD(prune_after) },
	{ 0, "watch", "stay, and look again when directories or lines change",
	  .field = FIELD(watch) },
	{ 0, "force", "also where a limit does not fit in a budget", .field = FIELD(force) },
	{ 0, "exit-code", "9 where something was changed, or would be", .field = FIELD(exit_code) },
	{ 0 },
};

const struct command apply_command = {
	.name = "apply",
	.group = GROUP_NODE,
	.summary = "give directories the quotas that files say",
	.synopsis = "[OPTION]... [FILE|DIR|-]...",
	.help = "Assign what the lines of FILE, of DIR/*.conf, or of standard input (-) say:\n"
		"  /srv/web hard=10G soft=9G hard-inodes=10000 name=web mkdir mode=0750 owner=www\n"
		"  /srv/users/* hard=1G\n"
		"Without one: of " APPLY_DIRECTORY
		". See fsquota.d(5). A wrong line: nothing is done.",
	.example = "apply --dry-run --diff\n"
		   "apply --prune /etc/fsquota.d",
	.options = (option_tables){ dry_run_option, own_options, registry_options, lock_option,
				    progress_option, table_options, help_option, NULL },
	.operands = { { VALUE_FILE, "FILE", true } },
	.rows = &applied_rows,
	.options_size = sizeof(struct apply_options),
	.flags = COMMAND_CONFIG,
	.run = command_apply,
};
