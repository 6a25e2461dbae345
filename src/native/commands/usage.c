/* SPDX-License-Identifier: Apache-2.0 */
#include "quota/fsquota.h"

#include <errno.h>
#include <signal.h>

#include "native/cli/options.h"
#include "native/cli/progress.h"
#include "native/rows/projects.h"
#include "quota/usage/usage.h"

struct usage_options {
	struct quota_options types;
	enum { FALLBACK_NONE, FALLBACK_WALK } fallback;
};

static void show_directories(struct session *session, const struct invocation *invocation,
			     bool walk)
{
	struct fsq_cache *own = NULL;
	struct progress progress;
	bool stopped = false;

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
		row = listing_row(session, path, &usage, NULL);
		if (usage.source == FSQ_USAGE_WALK)
			row.mounts_skipped = mounts;
		/* Only the column AVAIL needs this call. */
		if (table_has_column(&session->style, "AVAIL"))
			listing_set_available(&row, listing_free_bytes(session, usage.mountpoint));
		tables_row(session, &row);
		listing_is_in_force(session, &row);
		listing_tell_of_size(session, path, &usage);
		fsq_usage_clear(&usage);
		stopped = walk && i + 1 < invocation->operand_count &&
			  !session_goes_on(session, invocation->operands[i + 1]);
	}
	fsq_cache_free(own);
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

	session->table.type = &user_check_rows;
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

static void command_usage(struct session *session, const struct invocation *invocation)
{
	const struct usage_options *options = invocation->options;
	enum fsq_type type = options_type(&options->types);
	bool walk = options->fallback == FALLBACK_WALK;
	sigset_t before;

	if (!options_check_type(session, &options->types))
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
	if (type != FSQ_PROJECT)
		show_accounts(session, invocation, type);
	else if (options_choose_project(session))
		projects_show_chosen(session, NULL, NULL);
	else
		show_directories(session, invocation, walk);
	tables_end(session);
	if (!walk)
		return;
	session_flush(session);
	restore_signals(&before);
}

static const struct command_option fallback_option[] = {
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
		   "usage -u\n"
		   "usage --name web --json",
	.options = (option_tables){ type_options, chosen_options, fallback_option, over_option,
				    table_options, progress_option, registry_options, help_option,
				    NULL },
	.operands = { { VALUE_REGISTERED, "DIR", true } },
	.options_size = sizeof(struct usage_options),
	.rows = &usage_rows,
	.flags = COMMAND_CONFIG | COMMAND_READS | COMMAND_QUICK,
	.run = command_usage,
};
