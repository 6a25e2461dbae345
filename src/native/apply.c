/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "apply_file.h"
#include "apply_marks.h"
#include "assign.h"
#include "change.h"
#include "command.h"
#include "options.h"
#include "progress.h"
#include "quota/fsquota.h"

#define APPLY_DIRECTORY "/etc/fsquota.d"

/* The exit status of --exit-code, where something was changed, or would be. */
#define STATUS_CHANGED 9

struct apply_options {
	bool diff, exit_code, quiet, prune;
};

/* A directory of the files. */
struct applied_row {
	const char *path;
	const char *action; /* "created", "changed", "unchanged", "released" or "failed" */
	enum row_change change;
	uint32_t id;	  /* 0: not known */
	const char *file; /* NULL: none wants it any more */
	uint64_t line;
	const struct record_row *before, *after; /* or NULL */
};

#define MEMBER(name) .offset = offsetof(struct applied_row, name)

static const struct field applied_fields[] = {
	{ "PATH", "path", FIELD_PATH, MEMBER(path), "the directory" },
	{ "ACTION", "action", FIELD_TEXT, MEMBER(action),
	  "created, changed, unchanged, released or failed" },
	{ NULL, "changed", FIELD_CHANGE, MEMBER(change) },
	{ "ID", "id", FIELD_ID_OR_NONE, MEMBER(id), "project ID" },
	{ "FILE", "file", FIELD_TEXT, MEMBER(file), "the file that says it" },
	{ "LINE", "line", FIELD_COUNT, MEMBER(line), "and the line in it" },
	{ NULL, "before", FIELD_ROW, MEMBER(before), .members = limit_fields,
	  .size = sizeof(struct record_row) },
	{ NULL, "after", FIELD_ROW, MEMBER(after), .members = limit_fields,
	  .size = sizeof(struct record_row) },
	{ 0 },
};

static void write_applied(struct writer *w, const void *arg)
{
	const struct applied_row *row = arg;

	write_left(w, row->action, sizeof("unchanged"));
	write_escaped(w, row->path);
	if (row->before && row->after)
		change_write_limits(w, ", ", row->before, row->after);
	write_char(w, '\n');
}

static const struct row_fields applied_rows = { applied_fields, sizeof(struct applied_row),
						"ACTION,PATH,ID,FILE,LINE", write_applied };

struct apply {
	struct session *session;
	struct table table;
	const struct apply_options *options;
	struct fsq_assigned *assigned;
	struct fsq_assign_plan *plan; /* of a dry run */
	struct progress progress;
	bool changed;
};

static void show(struct apply *apply, const struct apply_entry *entry, const char *action,
		 const struct fsq_assignment *assignment)
{
	struct session *session = apply->session;
	struct record_row before, after;
	struct fsq_limits was, is;
	struct applied_row row = {
		.path = entry->request.directory,
		.action = action,
		.change = change_word(action[0] == 'c'),
		.id = assignment ? fsq_assignment_id(assignment) : 0,
		.file = entry->file,
		.line = entry->line,
	};

	if (assignment && apply->options->diff) {
		fsq_assignment_limits(assignment, &was, &is);
		before = change_values(&was);
		after = change_values(&is);
		row.before = &before;
		row.after = &after;
	}
	tables_row(session, &apply->table, &row);
	/* Flush rows of lines that take long; asking for the terminal is a system call each. */
	if (assignment)
		session_flush_terminal(session);
}

/* @return   whether to go on */
static bool assign(struct apply *apply, struct apply_entry *entry)
{
	static const char *const actions[] = {
		[FSQ_UNCHANGED] = "unchanged",
		[FSQ_CHANGED] = "changed",
		[FSQ_CREATED] = "created",
	};
	struct fsq_assignment *assignment;
	struct fsq_error err;
	enum fsq_change change;
	int rc = fsq_assign(&assignment, &entry->request, &err);

	progress_clear(&apply->progress);
	progress_take_mounts(&apply->progress, apply->session, entry->request.directory);
	if (rc) {
		show(apply, entry, "failed", NULL);
		session_fail(apply->session, &err);
		return err.errnum != EINTR;
	}
	change = fsq_assignment_change(assignment);
	apply->changed |= change != FSQ_UNCHANGED;
	if (change != FSQ_UNCHANGED || !apply->options->quiet)
		show(apply, entry, actions[change], assignment);
	if (change == FSQ_CREATED && !entry->request.dry_run)
		apply_marks_add(apply->session, fsq_assignment_id(assignment),
				entry->request.directory);
	if (change != FSQ_UNCHANGED)
		assign_warn_of_enforcement(apply->session, &entry->request, assignment);
	assign_warn_of_store(apply->session, &entry->request, assignment);
	fsq_assignment_free(assignment);
	return true;
}

static void apply_entries(struct apply *apply, struct apply_list *list)
{
	const struct fsq_registry registry = session_registry(apply->session);
	bool going_on = true;
	struct fsq_error err;

	if ((apply->session->dry_run && fsq_assign_plan_new(&apply->plan, &err)) ||
	    fsq_assigned_open(&apply->assigned, &registry, &err)) {
		session_fail(apply->session, &err);
		return;
	}
	for (size_t i = 0; i < list->count && going_on; i++) {
		struct apply_entry *entry = &list->entries[i];

		if (!entry->request.directory)
			continue;
		entry->request.registry = &registry;
		entry->request.options = &apply->progress.options;
		entry->request.dry_run = apply->session->dry_run;
		entry->request.plan = apply->plan;
		if (fsq_assigned_has(apply->assigned, &entry->request)) {
			if (!apply->options->quiet)
				show(apply, entry, "unchanged", NULL);
			continue;
		}
		/* Before the first change: where all is as it should be, it would only cost calls. */
		going_on = apply_list_identify(apply->session, list);
		if (going_on && entry->request.directory)
			going_on = assign(apply, entry);
	}
	fsq_assigned_close(apply->assigned);
}

/* Release a directory that no line wants any more. @return  whether to go on */
static bool release(struct apply *apply, struct apply_mark *mark,
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
	struct applied_row row = {
		.path = mark->directory,
		.action = "released",
		.change = ROW_CHANGED,
		.id = mark->id,
		.line = FIELD_NOT_KNOWN,
	};
	struct fsq_released released;
	struct record_row before;
	const struct record_row none = change_values(&(const struct fsq_limits){ 0 });
	struct fsq_error err;
	int rc = fsq_release(&request, &released, &err);

	progress_clear(&apply->progress);
	progress_take_mounts(&apply->progress, session, mark->directory);
	if (rc) {
		row.action = "failed";
		row.change = ROW_UNCHANGED;
		session_fail(session, &err);
	} else {
		apply->changed = true;
		mark->is_done = !session->dry_run;
	}
	if (rc == 0 && apply->options->diff && released.limits_off) {
		before = change_values(&released.limits);
		row.before = &before;
		row.after = &none;
	}
	tables_row(session, &apply->table, &row);
	session_flush_terminal(session);
	return rc == 0 || err.errnum != EINTR;
}

/*
 * Before the others: a directory around it may get a quota instead. One that is not there is left to prune, which
 * knows whether it may come back.
 */
static bool release_unwanted(struct apply *apply, struct apply_list *list)
{
	const struct fsq_registry registry = session_registry(apply->session);
	struct apply_marks marks = { 0 };
	bool going_on = apply_list_identify(apply->session, list) &&
			apply_marks_read(apply->session, &marks);
	bool any = false;

	for (size_t i = 0; i < marks.count && going_on; i++) {
		struct apply_mark *mark = &marks.list[i];

		if (!mark->is_registered)
			mark->is_done = !apply->session->dry_run;
		else if (!apply_mark_is_wanted(mark, list) && access(mark->directory, F_OK) == 0)
			going_on = release(apply, mark, &registry);
		any |= mark->is_done;
	}
	if (any)
		apply_marks_forget(apply->session, &marks);
	apply_marks_free(&marks);
	return going_on;
}

static void command_apply(struct session *session, const struct invocation *invocation)
{
	struct apply apply = { .session = session, .options = invocation->options };
	struct apply_list list = { 0 };
	sigset_t signals_before;
	bool good = true;

	if (invocation->operand_count == 0)
		good = apply_list_read(session, &list, APPLY_DIRECTORY);
	for (int i = 0; i < invocation->operand_count; i++)
		good &= apply_list_read(session, &list, invocation->operands[i]);
	if (good && apply_list_settle(session, &list)) {
		apply.table = tables_begin(session, "apply");
		block_termination_signals(&signals_before);
		progress_begin(&apply.progress, session);
		if (!apply.options->prune || release_unwanted(&apply, &list))
			apply_entries(&apply, &list);
		tables_end(session, &apply.table);
		session_flush(session);
		restore_signals(&signals_before);
		if (session->status == 0 && apply.changed && apply.options->exit_code)
			session->status = STATUS_CHANGED;
	}
	fsq_assign_plan_free(apply.plan);
	apply_list_free(&list);
}

#define FIELD(member) offsetof(struct apply_options, member)

static const struct command_option own_options[] = {
	{ 0, "diff", "show the limits before and after", .field = FIELD(diff) },
	{ 'q', "quiet", "do not print what is unchanged", .field = FIELD(quiet) },
	{ 0, "prune", "release what apply has assigned and no line wants any more",
	  .field = FIELD(prune) },
	{ 0, "exit-code", "9 where something was changed, or would be", .field = FIELD(exit_code) },
	{ 0 },
};

const struct command apply_command = {
	.name = "apply",
	.summary = "give directories the quotas that files say",
	.synopsis = "[OPTION]... [FILE|DIR|-]...",
	.help = "Assign what the lines of FILE, of DIR/*.conf, or of standard input (-) say:\n"
		"  /srv/web hard=10G soft=9G hard-inodes=10000 name=web mkdir mode=0750 owner=www\n"
		"  /srv/users/* hard=1G\n"
		"Without one: of " APPLY_DIRECTORY
		". See fsquota.d(5). A wrong line: nothing is done.",
	.options = (option_tables){ dry_run_option, own_options, registry_options, lock_option,
				    progress_option, table_options, help_option, NULL },
	.operands = { { VALUE_FILE, "FILE", true } },
	.rows = &applied_rows,
	.options_size = sizeof(struct apply_options),
	.flags = COMMAND_CONFIG,
	.run = command_apply,
};
