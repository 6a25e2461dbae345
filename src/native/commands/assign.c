/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "native/cli/budgets.h"
#include "native/cli/marks.h"
#include "native/cli/options.h"
#include "native/cli/progress.h"
#include "native/cli/request.h"
#include "native/cli/suggest.h"
#include "native/cli/until.h"
#include "native/rows/change.h"
#include "native/rows/projects.h"
#include "quota/base/error.h"
#include "quota/directory/assign.h"
#include "quota/base/pod_path.h"
#include "quota/limits/limits.h"
#include "quota/mounts/lookup.h"

/* The name that it has or would get, in @usual if that is a new one; or NULL. */
static const char *name_of_assignment(struct session *session,
				      const struct fsq_assign_request *request, uint32_t id,
				      char usual[FSQ_USUAL_NAME])
{
	const char *name = request->name ? request->name : names_of_id(session, FSQ_PROJECT, id);
	uint32_t other;

	if (name || session->no_register || !session->dry_run)
		return name;
	fsq_usual_name(usual, id);
	return fsq_project_names_id(session_names(session), usual, &other) ? NULL : usual;
}

/* Print the ID, or what a dry run would change; in another format the whole row. @return  whether it was written */
static bool show_assignment(struct session *session, const struct fsq_assignment *assignment,
			    const struct fsq_assign_request *request, uint64_t mounts)
{
	uint32_t id = fsq_assignment_id(assignment);
	struct listing_change change = {
		.directory = request->directory,
		.id = id,
		.changed = fsq_assignment_change(assignment) != FSQ_UNCHANGED,
		.enforced = fsq_assignment_enforcement(assignment) == FSQ_ENFORCED,
		.walked = true,
		.mounts_skipped = mounts,
		.special = fsq_assignment_special(assignment),
		.over = fsq_assignment_over_budget(assignment),
	};
	struct record_row was, is;
	struct fsq_limits before;
	char usual[FSQ_USUAL_NAME];

	if (session->dry_run || session_has_rows(session)) {
		session_forget_names(session);
		fsq_assignment_limits(assignment, &before, &change.limits);
		change.name = name_of_assignment(session, request, id, usual);
	}
	if (!session_has_rows(session) && session->dry_run) {
		change_write_subject(session->out, change.changed ? "would-assign" : "unchanged",
				     FSQ_PROJECT, id, change.name, request->directory);
		was = change_values(&before);
		is = change_values(&change.limits);
		change_write_limits(session->out, ": ", &was, &is);
		write_char(session->out, '\n');
	} else if (!session_has_rows(session)) {
		write_format(session->out, "%u\n", id);
	} else if (!listing_show_change(session, &change)) {
		return false;
	}
	if (session->dry_run)
		return true;
	if (!session_flush_unless_stopped(session))
		return session_errno(session, 0, EINTR, NULL, "cannot write the output");
	return session->status == 0;
}

/* --- the command --- */

struct assign_options {
	struct fsq_assign_request request; /* first, for its words */
	const char *like;
};

/* Copy the limits of a registered directory that is gone, as after mv(1) to another filesystem. */
static bool take_limits_of_gone(struct session *session, const char *like,
				struct fsq_limits *limits)
{
	const struct fsq_registry registry = session_registry(session);
	const struct fsq_release_request request = {
		.size = sizeof(request), .directory = like, .dry_run = true, .registry = &registry
	};
	struct fsq_released released;

	if (fsq_release(&request, &released, NULL) || !released.limits_off)
		return false;
	*limits = released.limits;
	return true;
}

/* What is copied may be what resize --until has set for a while. */
static void warn_of_until(struct session *session, const char *like, uint32_t id)
{
	struct until until = { 0 };
	const struct until_line *line = NULL;
	char date[UNTIL_DATE];

	if (until_read_silently(session, &until))
		line = until_find_at(session, &until, id, like);
	if (line)
		session_warn(session, like, "its limits go back on %s, the copied ones stay",
			     until_date(date, line->when));
	until_free(&until);
}

/* Copy the limits of another directory, except for those that are given. */
static bool take_limits_of(struct session *session, const char *like,
			   struct fsq_assign_request *request)
{
	struct fsq_limits *limits = &request->limits, given = *limits;
	struct fsq_usage usage = { .source = FSQ_USAGE_QUOTA };
	struct fsq_error err;
	bool is_quota;
	int rc;

	if (request->unlimited)
		return session_usage_error(session, "--like does not go with --unlimited");
	rc = session_usage(session, like, &usage, &err);
	if (rc == 0)
		*limits = (struct fsq_limits){
			.soft = { fsq_limit_blocks_up(usage.soft_bytes), usage.soft_inodes },
			.hard = { fsq_limit_blocks_up(usage.hard_bytes), usage.hard_inodes },
		};
	else if (err.errnum == ENOENT && take_limits_of_gone(session, like, limits))
		rc = 0;
	/* Counting files does not find limits, so do not advise it. */
	if (rc && err.hint == FSQ_HINT_MOUNT_OR_COUNT)
		err.hint = FSQ_HINT_MOUNT_WITH_QUOTA;
	else if (rc && err.hint == FSQ_HINT_ASSIGN_OR_COUNT)
		err.hint = FSQ_HINT_NONE;
	if (rc)
		return session_fail_missing(session, &err, like,
					    "--like takes a directory that has a quota, or had "
					    "one: fsquota list shows them");
	is_quota = usage.source == FSQ_USAGE_QUOTA;
	if (rc == 0 && usage.id)
		warn_of_until(session, like, usage.id);
	fsq_usage_clear(&usage);
	/* The size of a tmpfs is no quota. */
	if (!is_quota)
		return session_error(session, ERROR_AT_PATH, FSQ_E_NOT_FOUND, 0, like,
				     "belongs to no project");
	limits->mask = FSQ_SOFT(FSQ_BLOCKS) | FSQ_HARD(FSQ_BLOCKS) | FSQ_SOFT(FSQ_INODES) |
		       FSQ_HARD(FSQ_INODES);
	for (int form = FSQ_BLOCKS; form <= FSQ_INODES; form++) {
		if (given.mask & FSQ_SOFT(form))
			limits->soft[form] = given.soft[form];
		if (given.mask & FSQ_HARD(form))
			limits->hard[form] = given.hard[form];
	}
	return true;
}

/* Options that the lines of apply have, too. */
static bool take_request_word(struct session *session, const struct command_option *option,
			      void *to, const char *value)
{
	return assign_request_set(session, &(struct word_origin){ 0 }, to, option->name, value);
}

/* What resize --until has set does not go back any more. */
static void forget_until(struct session *session, const char *directory,
			 const struct fsq_assignment *assignment)
{
	struct fsq_limits before, after;
	struct stat st;

	fsq_assignment_limits(assignment, &before, &after);
	if (!fsq_limits_are_same(&before, &after) &&
	    fsq_lookup_stat(NULL, directory, 0, &st, NULL) == 0)
		until_forget(session, fsq_assignment_id(assignment), st.st_dev, &after);
}

/* Who knows other quotas takes it for a part of the outer one. */
static void warn_of_outer(struct session *session, const char *directory, uint32_t id)
{
	char *outer = suggest_directory_above(session, id, directory);

	if (outer)
		session_warn(session, directory,
			     "leaves project %u of %s: it counts there no more, and those limits "
			     "do not hold in it",
			     id, outer);
	free(outer);
}

/* Who has forgotten --hard believes that there is one. */
static void warn_without_limits(struct session *session, const struct fsq_assign_request *request,
				const struct fsq_assignment *assignment)
{
	struct fsq_limits before, after;
	bool limited = false;

	fsq_assignment_limits(assignment, &before, &after);
	for (int form = FSQ_BLOCKS; form <= FSQ_INODES; form++)
		limited |= !fsq_limit_is_none(after.soft[form]) ||
			   !fsq_limit_is_none(after.hard[form]);
	if (fsq_assignment_change(assignment) == FSQ_CREATED && !limited && !request->unlimited &&
	    !request->keep_limits && session_has_person(session))
		session_warn(session, request->directory,
			     "is counted, without a limit: --hard SIZE sets one");
}

/* @return   whether it is assigned, and was shown */
static bool assign_and_show(struct session *session, const struct fsq_assign_request *request,
			    bool like, struct progress *progress)
{
	struct fsq_assignment *assignment;
	uint64_t mounts;
	struct fsq_error err;
	bool shown;
	int rc = fsq_assign(&assignment, request, &err);

	mounts = progress_take_mounts(progress, session, request->directory);
	assign_write_journal(session, request, rc ? NULL : assignment, &err);
	if (rc)
		return session_fail_missing(
			session, &err, request->directory,
			suggest_missing(request->directory,
					like ? "--like takes only limits: cp -a copies what is in "
					       "it, --mkdir makes it empty"
					     : "--mkdir makes it"));
	if (!request->dry_run && fsq_assignment_change(assignment) == FSQ_CREATED)
		apply_marks_forget_one(session, fsq_assignment_id(assignment), request->directory);
	shown = show_assignment(session, assignment, request, mounts);
	if (shown)
		assign_warn_of_store(session, request, assignment);
	if (shown)
		change_warn_of_assignment(session, request, assignment);
	if (shown)
		budgets_warn(session, request->directory, fsq_assignment_over_budget(assignment));
	if (shown && !request->dry_run) {
		if (fsq_assignment_change(assignment) != FSQ_UNCHANGED)
			session_note_change(session, request->directory, LIMITS_SET);
		if (fsq_assignment_change(assignment) == FSQ_CHANGED)
			forget_until(session, request->directory, assignment);
		if (fsq_assignment_change(assignment) == FSQ_CREATED)
			warn_of_outer(session, request->directory,
				      fsq_assignment_outer(assignment));
		warn_without_limits(session, request, assignment);
		/* Warn of limits that have no effect. */
		if (fsq_assignment_enforcement(assignment) == FSQ_NOT_ENFORCED)
			session_warn_not_enforced(session, request->directory);
	} else if (!shown && !request->dry_run && fsq_assignment_rollback(assignment, &err)) {
		/* Without the ID the caller cannot use the quota. */
		session_fail(session, &err);
	}
	fsq_assignment_free(assignment);
	return shown;
}

/* Such as hard=10G, as a line of fsquota.d(5) has it, or bhard=10G of limit. @return  the option, or NULL */
static const char *option_of_limit(const char *word)
{
	static const char *const options[][2] = {
		{ "hard", "hard" },
		{ "bhard", "hard" },
		{ "soft", "soft" },
		{ "bsoft", "soft" },
		{ "hard-inodes", "hard-inodes" },
		{ "ihard", "hard-inodes" },
		{ "soft-inodes", "soft-inodes" },
		{ "isoft", "soft-inodes" },
	};
	const size_t length = strcspn(word, "=");

	for (size_t i = 0; word[length] && i < sizeof(options) / sizeof(options[0]); i++)
		if (strlen(options[i][0]) == length && strncmp(word, options[i][0], length) == 0)
			return options[i][1];
	return NULL;
}

/* Check all operands before the first change: they must be directories, and no sizes. */
static bool look_at_operands(struct session *session, const struct invocation *invocation,
			     const struct fsq_assign_request *request)
{
	const bool many = invocation->operand_count > 1;
	struct fsq_error err;
	struct stat st;
	uint64_t bytes;

	for (int i = 0; i < invocation->operand_count; i++) {
		const char *word = invocation->operands[i], *option = option_of_limit(word);
		/* A directory that is to be made may be a number. */
		const size_t digits = strspn(word, "0123456789.");
		bool is_size = fsq_parse_bytes(word, &bytes) == 0
				       ? !request->make || word[strspn(word, "0123456789")]
				       : digits > 0 && (strcmp(word + digits, "%") == 0 ||
							(word[digits] &&
							 strchr("kmgtpeKMGTPE", word[digits]) &&
							 strcasecmp(word + digits + 1, "b") == 0));

		if ((!is_size && !option && (!many || request->make)) ||
		    fsq_lookup_stat(NULL, word, O_NOFOLLOW, &st, NULL) != -ENOENT)
			continue;
		if (is_size)
			session_usage_error(session,
					    "there is no directory %s; did you mean --hard %s?",
					    word, word);
		else if (option)
			session_usage_error(session,
					    "there is no directory %s; did you mean --%s %s?", word,
					    option, strchr(word, '=') + 1);
		else if (fsq_fail_errno(&err, ENOENT, word, "cannot open"))
			session_fail_missing(session, &err, word,
					     suggest_missing(word, "--mkdir makes it"));
		return false;
	}
	return true;
}

static void command_assign(struct session *session, const struct invocation *invocation)
{
	const struct fsq_registry registry = session_registry(session);
	const struct assign_options *options = invocation->options;
	struct fsq_assign_request request = options->request;
	struct progress progress;
	sigset_t signals_before;
	bool good = true;

	request.size = sizeof(request);
	request.dry_run = session->dry_run;
	request.registry = &registry;
	request.options = &progress.options;
	if (!request.range.first)
		request.range = session->range;
	if (!options_some_operand(session, invocation, "directory"))
		return;
	if (invocation->operand_count > 1 && request.id) {
		session_usage_error(session, "--id goes with one directory");
		return;
	}
	if (request.keep_limits &&
	    (request.limits.mask || request.hard_percent || request.soft_percent ||
	     request.unlimited || options->like || request.make || session->no_register)) {
		session_usage_error(session,
				    "--keep-limits goes with no limit, --mkdir or --no-register");
		return;
	}
	if (!assign_request_check(session, &(struct word_origin){ 0 }, &request) ||
	    (options->like && !take_limits_of(session, options->like, &request)) ||
	    !look_at_operands(session, invocation, &request))
		return;
	request.budgets = session->budgets;
	request.budget_count = session->budget_count;
	progress_begin(&progress, session);
	block_termination_signals(&signals_before);
	for (int i = 0; i < invocation->operand_count && good; i++) {
		request.directory = invocation->operands[i];
		good = (i == 0 || session_goes_on(session, request.directory)) &&
		       assign_and_show(session, &request, options->like, &progress);
	}
	if (session->table.started)
		tables_end(session);
	session_flush_unless_stopped(session);
	/* A signal that has cancelled it takes effect now; one that came too late is ignored. */
	if (!good || request.dry_run)
		restore_signals(&signals_before);
}

#define FIELD(member) offsetof(struct assign_options, member)

static const struct command_option limit_options[] = {
	{ 0, "hard", "at most so much: 500M, 1.5G, 10% of the filesystem", .kind = VALUE_SIZE,
	  .argument = "SIZE", .take = take_request_word },
	{ 0, "soft", "more only for the grace time: 9G, 90% of --hard", .kind = VALUE_SIZE,
	  .argument = "SIZE", .take = take_request_word },
	{ 0, "hard-inodes", "at most so many files and directories", .kind = VALUE_NUMBER,
	  .argument = "N", .take = take_request_word },
	{ 0, "soft-inodes", "more than this only for the grace time", .kind = VALUE_NUMBER,
	  .argument = "N", .take = take_request_word },
	{ 0, "like", "the limits of this directory, where none is given", .kind = VALUE_REGISTERED,
	  .argument = "OTHER", .field = FIELD(like) },
	{ 0, "unlimited", "only count; the default for a new project", .take = take_request_word },
	{ 0, "keep-limits", "only register the project that DIR carries",
	  .field = FIELD(request.keep_limits) },
	{ 0, "name", "join the project of that name, or make it", .kind = VALUE_PROJECT,
	  .argument = "NAME", .take = take_request_word },
	{ 0, "id", "insist on this ID", .kind = VALUE_ID, .argument = "ID",
	  .take = take_request_word },
	{ 0, "id-range", "choose from these, not those of fsquota.conf(5)", .kind = VALUE_NUMBER,
	  .argument = "A-B", .choices_text = "1048577-2000000", .field = FIELD(request.range),
	  .range = true },
	{ 0, "around", "registered directories in DIR stay with their projects",
	  .take = take_request_word },
	{ 0, "mkdir", "make DIR if it is not there", .take = take_request_word },
	{ 0, "mode", "its mode, such as 0750", .kind = VALUE_NUMBER, .argument = "MODE",
	  .take = take_request_word },
	{ 0, "owner", "its owner, USER or USER:GROUP", .kind = VALUE_OWNER, .argument = "OWNER",
	  .take = take_request_word },
	{ 0, "no-register", "write nothing to the files",
	  .session_field = offsetof(struct session, no_register) },
	{ 0 },
};

static const struct command_option more_options[] = {
	{ 0, "require-enforced", "fail where the limits would stop nobody",
	  .field = FIELD(request.require_enforced) },
	{ 0, "force", "also where the limit does not fit in a budget",
	  .field = FIELD(request.over_budget) },
	{ 0 },
};

const struct command assign_command = {
	.name = "assign",
	.group = GROUP_DIRECTORY,
	.summary = "put a quota on a directory, all or nothing",
	.synopsis = "DIR... [--hard SIZE] [--soft SIZE] [OPTION]...",
	.help = "Give DIR and all that is in it an unused project ID with limits, register both,\n"
		"and print the ID. Any error: nothing has changed. Again: only limits change.",
	.example = "assign /srv/web --hard 10G\n"
		   "assign --mkdir --owner www-data /srv/new --soft 9G --hard 10G",
	.options = (option_tables){ limit_options, registry_options, lock_option, more_options,
				    dry_run_option, progress_option, table_options, help_option,
				    NULL },
	.operands = { { VALUE_DIRECTORY, "DIR", true } },
	.rows = &usage_rows,
	.options_size = sizeof(struct assign_options),
	.flags = COMMAND_CONFIG | COMMAND_BUDGETS,
	.run = command_assign,
};
