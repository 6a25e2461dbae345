/* SPDX-License-Identifier: Apache-2.0 */
#include "quota/fsquota.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "native/cli/options.h"
#include "native/cli/progress.h"
#include "native/cli/until.h"
#include "native/rows/projects.h"
#include "native/usage/brief.h"
#include "quota/mounts/lookup.h"
#include "quota/usage/rename.h"
#include "quota/usage/usage.h"

/* Nearer to a limit than this, who logs in is told. In percent. */
#define BRIEF_OVER 90

struct usage_options {
	struct quota_options types;
	enum { FALLBACK_NONE, FALLBACK_WALK } fallback;
	bool brief;
};

/* When the limits of a directory go back: milliseconds since 1970, or 0. */
static int64_t find_until(struct session *session, const struct until *until, const char *path,
			  uint32_t id)
{
	const struct until_line *line = until_find_at(session, until, id, path);

	return line ? 1000 * line->when : 0;
}

/* @until    lines of resize --until, or NULL */
static void show_directories(struct session *session, const struct invocation *invocation,
			     bool walk, const struct until *until)
{
	struct fsq_cache *own = NULL;
	struct progress progress;
	bool stopped = false, at_least = false;

	progress_begin(&progress, session);
	/* Without memory for the cache it only takes longer. */
	if (!session->cache && invocation->operand_count > 1)
		fsq_cache_new(&own, NULL);
	for (int i = 0; i < invocation->operand_count && !stopped; i++) {
		const char *path = invocation->operands[i];
		struct fsq_usage usage;
		struct project_row row;
		struct fsq_error err;
		const struct fsq_usage_request request = {
			.size = sizeof(request),
			.path = path,
			.projects_file = session->projects_file,
			.walk = walk,
			.options = &progress.options,
		};
		int rc = fsq_usage_get_cached(&usage, &request, own ? own : session->cache, &err);
		uint64_t mounts = progress_take_mounts(&progress, session, path);

		if (rc) {
			session_fail(session, &err);
			stopped = err.errnum == EINTR;
			continue;
		}
		row = listing_row(session, path, &usage);
		if (usage.source == FSQ_USAGE_WALK)
			row.mounts_skipped = mounts;
		row.until = find_until(session, until, path, row.id);
		/* Only the column AVAIL needs this call. */
		if (table_has_column(&session->style, "AVAIL"))
			listing_set_available(&row, listing_free_bytes(session, usage.mountpoint));
		tables_row(session, &row);
		listing_is_in_force(session, &row);
		listing_tell_of_size(session, path, &usage);
		at_least |= row.bytes_at_least || row.inodes_at_least;
		fsq_usage_clear(&usage);
		stopped = walk && i + 1 < invocation->operand_count &&
			  !session_goes_on(session, invocation->operands[i + 1]);
	}
	fsq_cache_free(own);
	if (at_least && session_has_person(session))
		session_warn(
			session, NULL,
			">= is \"at least\": all of the limit that stops first is used, soft or "
			"hard, and only root sees the rest");
}

/* Of users or groups: those that were chosen, or the caller's own. */
static void show_accounts(struct session *session, const struct invocation *invocation,
			  enum fsq_type type)
{
	struct projects projects = {
		.session = session,
		.type = type,
		.want_available = table_has_column(&session->style, "AVAIL"),
		.want_in_force = true,
	};
	bool found = false;

	table_use(&session->table, &session->style, &user_check_rows);
	for (int i = 0; i < invocation->operand_count; i++)
		projects_add_path(&projects, invocation->operands[i], false);
	if (options_choose_project(session))
		found = projects_collect_chosen(&projects);
	else if (invocation->operand_count == 0 || projects.scopes.count)
		found = projects_collect_own(&projects);
	for (size_t i = 0; found && i < projects.count; i++) {
		const struct project_row row = projects_row(&projects, &projects.all[i]);

		tables_row(session, &row);
		projects_is_in_force(&projects, &projects.all[i], &row);
	}
	projects_free(&projects);
}

/* Say of two directories whether files can be renamed from one to the other: mv(1) copies them without a word. */
static void tell_of_renames(struct session *session, char *const *directories)
{
	static const char *const why[] = {
		[FSQ_RENAME_OTHER_FILESYSTEM] = "they are on two filesystems",
		[FSQ_RENAME_OTHER_MOUNT] = "each is on a mount of its own",
		[FSQ_RENAME_OTHER_PROJECT] = "each has a project of its own",
	};
	const char *from = directories[0], *to = directories[1];
	struct fsq_renames renames;
	struct writer *w = session->out;

	if (fsq_rename_between(from, to, &renames, NULL) || renames.there == FSQ_RENAME_UNKNOWN)
		return;
	if (renames.there != FSQ_RENAME_YES && renames.back == FSQ_RENAME_YES) {
		from = directories[1];
		to = directories[0];
	}
	write_text(w, renames.there && renames.back ? "Neither rename(2) nor link(2) works between "
						    : "Files can be renamed and linked from ");
	write_escaped(w, from);
	write_text(w, renames.there && renames.back ? " and " : " to ");
	write_escaped(w, to);
	if (renames.there && renames.back)
		write_format(w, ": %s; mv(1) copies", why[renames.there]);
	else if (renames.there || renames.back) {
		write_text(w, ", but not back: ");
		write_escaped(w, from);
		write_format(w, " takes only files of its project %u",
			     renames.there ? renames.id_to : renames.id_from);
	} else {
		write_text(w, " and back");
	}
	write_text(w, ".\n");
}

/* @return   whether it was the sentence that was wanted */
static bool show_brief(struct session *session, const struct invocation *invocation)
{
	const struct usage_options *options = invocation->options;
	const char *home = getenv("HOME");
	bool is_own = invocation->operand_count == 0;

	if (!options->brief)
		return false;
	if (session_has_rows(session) || session->batch || options->fallback ||
	    options_type_count(&options->types) || options_choose_project(session))
		session_usage_error(session,
				    "--brief is a sentence about directories, and no row%s",
				    session->batch ? " of batch" : "");
	else if (!is_own || (home && home[0]))
		brief_show(session, is_own ? &home : (const char *const *)invocation->operands,
			   is_own ? 1 : (size_t)invocation->operand_count,
			   session->style.has_over ? session->style.over : BRIEF_OVER);
	return true;
}

static void command_usage(struct session *session, const struct invocation *invocation)
{
	const struct usage_options *options = invocation->options;
	enum fsq_type type = options_type(&options->types);
	bool walk = options->fallback == FALLBACK_WALK;
	struct until until = { 0 };
	sigset_t before;

	if (!options_check_type(session, &options->types) || show_brief(session, invocation))
		return;
	if ((type == FSQ_PROJECT || invocation->operand_count || session->at.count) &&
	    !options_directories_or_project(session, invocation))
		return;
	if (type != FSQ_PROJECT && walk) {
		session_usage_error(session, "--fallback goes with projects");
		return;
	}
	if (walk) {
		session_wait(session);
		block_interrupts(&before);
	}
	if (type == FSQ_PROJECT && session->style.format == TABLE_TEXT &&
	    session->style.column_count == 0)
		session->table.type = &shown_usage_rows;
	if (type != FSQ_PROJECT)
		show_accounts(session, invocation, type);
	else if (options_choose_project(session))
		projects_show_chosen(session, NULL, NULL);
	else
		show_directories(session, invocation, walk, until_read_shown(session, &until));
	until_free(&until);
	tables_end(session);
	if (type == FSQ_PROJECT && invocation->operand_count == 2 &&
	    session->style.format == TABLE_TEXT && !session_has_rows(session))
		tell_of_renames(session, invocation->operands);
	if (!walk)
		return;
	session_flush(session);
	restore_signals(&before);
}

static const struct command_option own_options[] = {
	{ 0, "brief",
	  "a sentence where 90% of a limit are used, or --over,\n"
	  "and nothing else; status 0, whatever happens",
	  .field = offsetof(struct usage_options, brief) },
	{ 0, "fallback",
	  "where no quota applies: walk (count as du does), or\n"
	  "none (an error, the default)",
	  .kind = VALUE_CHOICE, .argument = "HOW", .choices = "none walk",
	  .choices_text = "walk or none", .field = offsetof(struct usage_options, fallback) },
	{ 0 },
};

const struct command usage_command = {
	.name = "usage",
	.group = GROUP_DIRECTORY,
	.summary = "show how much of its quota a directory uses",
	.synopsis = "[OPTION]... DIR... | --id ID --at PATH | --name NAME | -u [PATH]...",
	.help = "Show the project of each DIR, its use and its limits, in constant time and with\n"
		"deleted files that are still open. With -u or -g your own user or groups, on\n"
		"the filesystem of each PATH or on all.",
	.example = "usage /srv/web\n"
		   "usage --name web --json",
	.options = (option_tables){ type_options, chosen_options, own_options, over_option,
				    table_options, progress_option, registry_options, help_option,
				    NULL },
	.operands = { { VALUE_REGISTERED, "DIR", true } },
	.options_size = sizeof(struct usage_options),
	.rows = &usage_rows,
	.flags = COMMAND_CONFIG | COMMAND_READS | COMMAND_QUICK,
	.run = command_usage,
};
