/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stddef.h>
#include <stdio.h>

#include "native/cli/journal.h"
#include "native/cli/options.h"
#include "native/rows/change.h"
#include "quota/fsquota.h"
#include "shared/errno_words.h"

/* A leftover of a directory that is gone. */
struct leftover_row {
	const char *action; /* "removed", "would-remove" or "kept" */
	const char *kind;   /* "directory", "line", "limits" or "name" */
	const char *reason; /* why it is kept; else NULL */
	uint32_t id;
	const char *name, *directory, *mountpoint; /* or NULL */
	uint64_t inodes;			   /* that have the ID, where it is used */
	enum row_change change;
	const char *sentence; /* kind or reason, for people */
};

#define MEMBER(name) .offset = offsetof(struct leftover_row, name)

static const struct field leftover_fields[] = {
	{ "ACTION", "action", FIELD_TEXT, MEMBER(action), "removed, would-remove or kept" },
	{ "KIND", "kind", FIELD_TEXT, MEMBER(kind), "what it is: directory, line, limits or name" },
	{ "REASON", "reason", FIELD_TEXT, MEMBER(reason), "why it is kept" },
	{ "ID", "id", FIELD_ID, MEMBER(id), "project ID" },
	{ "NAME", "name", FIELD_TEXT, MEMBER(name), "name of the project" },
	{ "DIRECTORY", "directory", FIELD_TEXT, MEMBER(directory), "the registered directory" },
	{ "MOUNTPOINT", "mountpoint", FIELD_TEXT, MEMBER(mountpoint),
	  "where the filesystem is mounted" },
	{ "INODES", "inodes", FIELD_COUNT, MEMBER(inodes), "inodes that have the ID" },
	{ NULL, "changed", FIELD_CHANGE, MEMBER(change) },
	{ 0 },
};

static void write_leftover(struct writer *w, const void *arg)
{
	const struct leftover_row *row = arg;

	change_write_subject(w, row->action, FSQ_PROJECT, row->id, row->name, row->directory);
	if (!row->directory && row->mountpoint) {
		write_text(w, " on ");
		write_escaped(w, row->mountpoint);
	}
	write_format(w, ": %s\n", row->sentence);
}

static const struct row_fields leftover_rows = { leftover_fields, sizeof(struct leftover_row),
						 "ACTION,KIND,REASON,ID,NAME,DIRECTORY,MOUNTPOINT",
						 write_leftover };

struct prune {
	struct session *session;
	bool quiet, all;
};

struct prune_options {
	bool all, pods, quiet;
	struct fsq_id_range range;
};

static const struct {
	const char *word, *sentence;
} kinds[] = {
	[FSQ_LEFTOVER_DIRECTORY] = { "directory", "the directory is gone" },
	[FSQ_LEFTOVER_LINE] = { "line", "the directory has neither the ID nor a limit" },
	[FSQ_LEFTOVER_LIMITS] = { "limits", "limits without files" },
	[FSQ_LEFTOVER_NAME] = { "name", "a name without files, limits and directories" },
}, reasons[] = {
	[FSQ_NOT_KEPT] = { NULL, NULL },
	[FSQ_KEPT_UNMOUNTED] = { "unmounted",
				 "gone, or its filesystem is not mounted: --all removes it" },
	[FSQ_KEPT_AWAITED] = { "unmounted",
			       "gone, or its filesystem is not mounted, which fstab has: mount it, "
			       "or take that line out of fstab" },
	[FSQ_KEPT_USED] = { "used", "gone, but files elsewhere or open ones have the ID; if it was "
				    "renamed: fsquota move OLD NEW; fsquota find ID shows files" },
	[FSQ_KEPT_POD] = { "pod", "gone, but kubelet knows the pod" },
	[FSQ_KEPT_UNPROVEN] = { "unproven",
				"its filesystem may be unmounted, since this one has no limits "
				"of the ID: --all removes it" },
	[FSQ_KEPT_ELSEWHERE] = { "elsewhere", "gone, but another filesystem has the ID" },
	[FSQ_KEPT_UNREADABLE] = { "unreadable", NULL },
	[FSQ_KEPT_UNREGISTERED] = { "unregistered",
				    "limits without files, which may be set in advance: "
				    "--id-range or --all removes them" },
};

static const char *sentence_of(const struct prune *prune, const struct fsq_leftover *leftover,
			       char *text, size_t size)
{
	/* --all does not ask which. */
	if (prune->all && leftover->kept == FSQ_NOT_KEPT &&
	    leftover->kind == FSQ_LEFTOVER_DIRECTORY)
		return "the directory is gone, or its filesystem is not mounted";
	if (leftover->kept == FSQ_NOT_KEPT)
		return kinds[leftover->kind].sentence;
	if (leftover->kept == FSQ_KEPT_UNREADABLE) {
		snprintf(text, size, "cannot be looked at: %s", errno_words(leftover->errnum));
		return text;
	}
	if (leftover->kind == FSQ_LEFTOVER_LINE && leftover->kept != FSQ_KEPT_AWAITED)
		return "the directory has neither the ID nor a limit, or its filesystem is not "
		       "mounted";
	return reasons[leftover->kept].sentence;
}

static enum fsq_visit show_leftover(const struct fsq_leftover *leftover, void *arg)
{
	struct prune *prune = arg;
	struct session *session = prune->session;
	const char *reason = reasons[leftover->kept].word;
	char text[128];
	const struct leftover_row row = {
		.action = reason	     ? "kept"
			  : session->dry_run ? "would-remove"
					     : "removed",
		.kind = kinds[leftover->kind].word,
		.reason = reason,
		.id = leftover->id,
		.name = leftover->name
				? leftover->name
				: fsq_project_names_name(session_names(session), leftover->id),
		.directory = leftover->directory,
		.mountpoint = leftover->mountpoint,
		.inodes = leftover->inodes,
		.change = change_word(!reason),
		.sentence = sentence_of(prune, leftover, text, sizeof(text)),
	};

	if (!reason)
		journal_write(session, &(struct journal_entry){ .type = FSQ_PROJECT,
								.id = row.id,
								.name = row.name,
								.directory = row.directory,
								.filesystem = row.mountpoint });
	if (!reason || !prune->quiet)
		tables_row(session, &row);
	session_flush_terminal(session);
	return FSQ_VISIT_CONTINUE;
}

static void command_prune(struct session *session, const struct invocation *invocation)
{
	const struct prune_options *options = invocation->options;
	const struct fsq_registry registry = session_registry(session);
	const struct fsq_call_options call = { .size = sizeof(call),
					       .is_cancelled = is_signal_pending };
	const struct fsq_prune_request request = {
		.size = sizeof(request),
		.paths = (const char *const *)invocation->operands,
		.path_count = (size_t)invocation->operand_count,
		.range = options->range.first ? options->range : session->range,
		.all = options->all,
		.unregistered = options->range.first != 0,
		.pods = options->pods,
		.dry_run = session->dry_run,
		.registry = &registry,
		.options = &call,
	};
	struct prune prune = { session, options->quiet, options->all };
	struct fsq_error err, of_names;
	sigset_t signals_before;
	bool nameless;

	/* Read the names before prune removes some. */
	nameless = !session->names_read && session_read_names(session, &of_names);
	block_termination_signals(&signals_before);
	if (fsq_prune(&request, show_leftover, &prune, &err))
		session_fail(session, &err);
	else if (nameless)
		session_errno(session, 0, of_names.errnum, of_names.path, "cannot read %s",
			      of_names.path);
	tables_end(session);
	session_flush(session);
	restore_signals(&signals_before);
}

#define FIELD(member) offsetof(struct prune_options, member)

static const struct command_option own_options[] = {
	{ 0, "all", "also what is kept, and IDs chosen by hand", .field = FIELD(all) },
	{ 0, "pods", "only volumes that kubelet made for pods", .field = FIELD(pods) },
	{ 'q', "quiet", "only what is removed", .field = FIELD(quiet) },
	{ 0, "id-range", "also limits and names of these IDs that no line has",
	  .kind = VALUE_NUMBER, .argument = "A-B", .choices_text = "1-100000",
	  .field = FIELD(range), .range = true },
	{ 0 },
};

const struct command prune_command = {
	.name = "prune",
	.group = GROUP_NODE,
	.summary = "remove what directories that are gone have left",
	.synopsis = "[OPTION]... [PATH...]",
	.help = "Remove the lines, names and limits of directories that are gone: on the\n"
		"filesystems of PATH, or on all. Kept is what may come back: a line whose\n"
		"filesystem may not be mounted, an ID that files have, a volume of a pod that\n"
		"kubelet knows.",
	.example = "prune --dry-run\n"
		   "prune /srv",
	.options = (option_tables){ own_options, dry_run_option, registry_options, lock_option,
				    table_options, help_option, NULL },
	.operands = { { VALUE_PATH, "PATH", true } },
	.rows = &leftover_rows,
	.options_size = sizeof(struct prune_options),
	.flags = COMMAND_CONFIG,
	.run = command_prune,
};
