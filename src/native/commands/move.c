/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "native/cli/journal.h"
#include "native/cli/options.h"
#include "native/cli/progress.h"
#include "native/cli/suggest.h"
#include "native/cli/until.h"
#include "native/rows/change.h"
#include "quota/fsquota.h"
#include "quota/mounts/lookup.h"

struct move_options {
	bool rename;
};

/* Let a quota follow its directory. */
struct moved_row {
	const char *from, *path;
	uint32_t id;	  /* 0: only directories in it are registered */
	const char *name; /* or NULL */
	enum row_change change;
	uint64_t lines;
};

#define MEMBER(name) .offset = offsetof(struct moved_row, name)

static const struct field moved_fields[] = {
	{ "PATH", "path", FIELD_PATH, MEMBER(path), "where the directory is" },
	{ "FROM", "from", FIELD_TEXT, MEMBER(from), "where it was" },
	{ "ID", "id", FIELD_ID_OR_NONE, MEMBER(id), "project ID" },
	{ "NAME", "name", FIELD_TEXT, MEMBER(name), "name of the project" },
	{ "CHANGED", "changed", FIELD_CHANGE, MEMBER(change), "was, or would it be changed?" },
	{ "LINES", "lines", FIELD_COUNT, MEMBER(lines),
	  "lines of the projects file: its own, and those of directories in it" },
	{ 0 },
};

static void write_moved(struct writer *w, const void *arg)
{
	const struct moved_row *row = arg;

	if (row->id) {
		change_write_subject(w, "would-move", FSQ_PROJECT, row->id, row->name, row->from);
	} else {
		write_text(w, "would-move the projects in ");
		write_escaped(w, row->from);
	}
	write_text(w, " -> ");
	write_escaped(w, row->path);
	write_char(w, '\n');
}

static const struct row_fields moved_rows = { moved_fields, sizeof(struct moved_row),
					      "PATH,FROM,ID,NAME,CHANGED,LINES", write_moved };

/* @return   whether the quota has moved there already */
static bool is_registered(struct session *session, const char *path)
{
	char *real = fsq_lookup_gone(NULL, path);
	bool is = real && suggest_is_registered(session, real);

	free(real);
	return is;
}

static void report_failure(struct session *session, const struct fsq_move_request *request,
			   const struct fsq_error *err)
{
	const char *from = request->from, *to = request->to;
	struct fsq_error relative = *err;
	struct stat st;
	uint32_t id;

	if (err->kind == FSQ_E_NOT_FOUND && !strchr(from, '/') &&
	    fsq_lookup_stat(NULL, from, 0, &st, NULL) == -ENOENT &&
	    fsq_project_names_id(session_names(session), from, &id))
		session_error(session, ERROR_AT_PATH, err->kind, 0, from,
			      "is the name of a project: give its old path, which fsquota list "
			      "shows, and its new one");
	else if (strchr(from, '/') && !strchr(to, '/') &&
		 (err->errnum == ENOENT || err->errnum == EXDEV)) {
		relative.hint = FSQ_HINT_NONE;
		session_fail_hint(session, &relative,
				  "NEW is a path from here: write it in full, as OLD is");
	} else if (err->kind == FSQ_E_NOT_FOUND && !err->errnum && is_registered(session, to))
		session_fail_hint(session, err, "NEW is: the quota has moved there already");
	else
		session_fail_missing(
			session, err, to,
			"rename it with mv first; move registers it, and with "
			"--rename does both; to another filesystem: cp -a, then assign --like");
}

static void command_move(struct session *session, const struct invocation *invocation)
{
	const struct fsq_registry registry = session_registry(session);
	struct progress progress;
	struct fsq_move_request request = {
		.size = sizeof(request),
		.rename = ((const struct move_options *)invocation->options)->rename,
		.dry_run = session->dry_run,
		.registry = &registry,
		.options = &progress.options,
	};
	sigset_t signals_before;
	struct fsq_moved moved;
	struct fsq_error err;
	int rc;

	if (invocation->operand_count != 2) {
		options_refuse(
			session, invocation,
			invocation->operand_count < 2 ? "the old and the new path are wanted"
			: session->batch
				? "two paths are wanted; a word with a blank is one in a JSON array"
				: "two paths are wanted; one with a blank takes quotes");
		return;
	}
	request.from = invocation->operands[0];
	request.to = invocation->operands[1];
	progress_begin(&progress, session);
	block_termination_signals(&signals_before);
	rc = fsq_move(&request, &moved, &err);
	journal_write(session, &(struct journal_entry){ .type = FSQ_PROJECT,
							.id = rc ? 0 : moved.id,
							.directory = request.to,
							.from = request.from,
							.err = rc ? &err : NULL });
	if (rc) {
		report_failure(session, &request, &err);
		restore_signals(&signals_before);
		return;
	}
	if (!request.dry_run) {
		until_follow(session, request.from, request.to);
		session_note_change(session, request.from, MOVED_AWAY);
		session_note_change(session, request.to, LIMITS_SET);
	}
	if (change_is_shown(session)) {
		const struct moved_row row = {
			.from = request.from,
			.path = request.to,
			.id = moved.id,
			.name = moved.id ? names_of_id(session, FSQ_PROJECT, moved.id) : NULL,
			.change = ROW_CHANGED,
			.lines = moved.lines,
		};

		tables_row(session, &row);
		tables_end(session);
	}
}

static const struct command_option rename_option[] = {
	{ 0, "rename", "rename the directory, too",
	  .field = offsetof(struct move_options, rename) },
	{ 0 },
};

const struct command move_command = {
	.name = "move",
	.group = GROUP_DIRECTORY,
	.summary = "have a quota follow a directory that was renamed",
	.synopsis = "OLD NEW [--rename] [OPTION]...",
	.help = "Register NEW, which has been OLD, and the directories in it that have quotas of\n"
		"their own, under their new paths. Limits and name stay. Any error: nothing has\n"
		"changed.",
	.example = "move /srv/old /srv/new\n"
		   "move --rename /srv/old /srv/new",
	.options = (option_tables){ rename_option, registry_options, lock_option, dry_run_option,
				    table_options, help_option, NULL },
	.operands = { { VALUE_REGISTERED, "OLD", false }, { VALUE_DIRECTORY, "NEW", false } },
	.rows = &moved_rows,
	.options_size = sizeof(struct move_options),
	.flags = COMMAND_CONFIG,
	.run = command_move,
};
