/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>

#include "native/cli/options.h"
#include "native/cli/paths.h"
#include "native/cli/progress.h"
#include "quota/base/error.h"
#include "quota/base/id_set.h"
#include "quota/fsquota.h"
#include "quota/usage/project_tree.h"

struct find_options {
	bool orphans, null;
};

/* A file that carries an ID. */
struct found_row {
	const char *path;
	uint32_t id;
	bool show_id; /* in text */
	bool null;    /* the path alone, ended by NUL */
};

#define MEMBER(name) .offset = offsetof(struct found_row, name)

static const struct field found_fields[] = {
	{ "PATH", "path", FIELD_PATH, MEMBER(path), "the file or directory" },
	{ "ID", "id", FIELD_ID, MEMBER(id), "its project ID" },
	{ 0 },
};

static void write_found(struct writer *w, const void *arg)
{
	const struct found_row *row = arg;

	if (row->null) {
		write_bytes(w, row->path, strlen(row->path) + 1);
		return;
	}
	if (row->show_id) {
		write_number(w, row->id);
		write_char(w, ' ');
	}
	write_escaped(w, row->path);
	write_char(w, '\n');
}

static const struct row_fields found_rows = { found_fields, sizeof(struct found_row), "ID,PATH",
					      write_found };

struct find {
	struct session *session;
	const struct find_options *options;
	uint32_t id; /* 0: IDs that are not registered */
	struct fsq_id_set registered;
	bool no_memory, failed;
	uint64_t hidden; /* files whose ID is unknown */
	struct progress progress;
	uint64_t mounts;
};

/* --- registered projects --- */

static enum fsq_visit add_registered(uint32_t id, const char *word, void *arg)
{
	struct find *find = arg;

	(void)word;
	find->no_memory |= fsq_id_set_add(&find->registered, id) != 0;
	return find->no_memory ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

/* An unreadable projects file would make all files orphans, so fail. */
static bool read_registered(struct find *find)
{
	struct session *session = find->session;
	struct fsq_error err;

	if (fsq_projects_each(session->projects_file, add_registered, find, &err) &&
	    err.errnum != ENOENT)
		return session_errno(session, 0, err.errnum, err.path, "cannot read %s", err.path);
	if (session_read_names(session, &err))
		return session_errno(session, 0, err.errnum, err.path, "cannot read %s", err.path);
	fsq_project_names_each(session->names, add_registered, find);
	if (find->no_memory)
		session_no_memory(session);
	else
		fsq_id_set_sort(&find->registered);
	return !find->no_memory;
}

/* --- the walk --- */

static enum fsq_visit visit_file(const struct fsq_attributes *attributes, void *arg)
{
	struct find *find = arg;
	struct session *session = find->session;
	int errnum = attributes->project_errnum;
	const struct found_row row = {
		.path = attributes->path,
		.id = attributes->project_id,
		.show_id = find->options->orphans,
		.null = find->options->null,
	};

	if (session_is_stopped(session))
		return FSQ_VISIT_STOP;
	if (attributes->kind == FSQ_FILE_MOUNT)
		find->progress.options.mount_skipped(row.path, &find->progress);
	if (attributes->kind == FSQ_FILE_MOUNT || attributes->kind == FSQ_FILE_LEAVE)
		return FSQ_VISIT_CONTINUE;
	if (errnum == 0) {
		if (find->options->orphans
			    ? row.id != 0 && !fsq_id_set_has(&find->registered, row.id)
			    : row.id == find->id)
			tables_row(session, &row);
		return FSQ_VISIT_CONTINUE;
	}
	/* Ignore a file that is gone, or of a kind that has no ID here. */
	if (errnum == ENOENT && attributes->depth > 0)
		return FSQ_VISIT_CONTINUE;
	if (attributes->kind == FSQ_FILE_SPECIAL)
		find->hidden++;
	else
		session_error(session, 0,
			      attributes->depth > 0 ? FSQ_E_PARTIAL : fsq_error_kind_of(errnum),
			      errnum, row.path, "%s: cannot read the project ID", row.path);
	return FSQ_VISIT_CONTINUE;
}

static void walk_for_ids(struct find *find, const char *path)
{
	struct fsq_error err;

	if (fsq_attributes_each(path, FSQ_DEPTH_INFINITE, visit_file, find, &err))
		find->failed = !session_fail(find->session, &err);
	find->mounts += progress_take_mounts(&find->progress, find->session, path);
	session_report_stop(find->session, path);
}

/* --- the command --- */

/* @return whether the IDs to be found are known; else an error was reported */
static bool parse_project(struct find *find, const struct invocation *invocation)
{
	struct session *session = find->session;
	const char *word = invocation->operands[0];

	if (find->options->null && session_has_rows(session))
		session_usage_error(session,
				    "-0 ends paths: it goes with no columns and no other format");
	else if (find->options->orphans)
		return read_registered(find);
	else if (invocation->operand_count == 0)
		return options_some_operand(session, invocation, "project");
	else if (!names_to_id(session, FSQ_PROJECT, word, &find->id)) {
		if (!names_are_lost(session))
			session_error(session, 0, FSQ_E_NOT_FOUND, 0, NULL,
				      "cannot find project %s%s", word,
				      strchr(word, '/')
					      ? ": the ID or name comes first; fsquota id "
						"prints that of a directory"
					      : "");
	} else if (find->id == 0)
		session_usage_error(
			session,
			"\"%s\" is no project ID from 1 to %u; fsquota explain of a mount "
			"point shows what has none",
			word, FSQ_ID_MAX);
	else
		return true;
	return false;
}

static void run_find(struct session *session, const struct invocation *invocation)
{
	const struct find_options *options = invocation->options;
	struct find find = { .session = session, .options = options };
	int count = invocation->operand_count, first = options->orphans ? 0 : 1;

	if (parse_project(&find, invocation)) {
		progress_begin(&find.progress, session);
		for (int i = first; i < count; i++)
			walk_for_ids(&find, invocation->operands[i]);
		if (first >= count)
			paths_add_all_with_quota(session);
		for (size_t i = 0; i < session->path_count; i++)
			walk_for_ids(&find, session->paths[i].directory);
		session->table.count_key = "mounts_skipped";
		session->table.count = find.mounts;
		tables_end(session);
	}
	if (find.hidden && !find.failed)
		session_warn(session, NULL,
			     "%" PRIu64 " symbolic links and special files were passed over: this "
			     "kernel does not tell their IDs",
			     find.hidden);
	fsq_id_set_free(&find.registered);
}

#define FIELD(member) offsetof(struct find_options, member)

static const struct command_option find_options[] = {
	{ 0, "orphans", "what carries an ID that nobody registered, with the ID",
	  .field = FIELD(orphans) },
	{ '0', "null", "end each path with NUL, as xargs -0 reads them", .field = FIELD(null) },
	{ 0 },
};

const struct command find_command = {
	.name = "find",
	.group = GROUP_LOOK,
	.summary = "find files and directories that carry a project ID",
	.synopsis = "[OPTION]... ID|NAME [PATH]... | --orphans [PATH]...",
	.help = "Print what carries the project ID, in each PATH or on all filesystems that have\n"
		"quota.",
	.example = "find web /srv\n"
		   "find --orphans /srv",
	.options =
		(option_tables){ find_options, table_options, registry_options, help_option, NULL },
	.rows = &found_rows,
	.answers = ANSWER_MOUNTS,
	.operands = { { VALUE_PROJECT, "ID", false }, { VALUE_PATH, "PATH", true } },
	.options_size = sizeof(struct find_options),
	.run = run_find,
};
