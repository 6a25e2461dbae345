/* SPDX-License-Identifier: Apache-2.0 */
#include "quota/fsquota.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "assign_request.h"
#include "command.h"
#include "listing.h"
#include "options.h"
#include "progress.h"

/* How long a pipe may be full before signals are looked at, in milliseconds. */
#define WRITE_POLL_MS 100

struct assign_options {
	struct fsq_assign_request request;
	bool has_range;
};

/* The words that lines of apply have, too. */
static bool take_word(struct session *session, const struct command_option *option, void *to,
		      const char *value)
{
	struct assign_options *options = to;
	char why[ASSIGN_WHY];

	if (assign_request_set(session, &options->request, option->name, value, why))
		return true;
	session_usage_error(session, "%s", why);
	return false;
}

static bool take_id_range(struct session *session, const struct command_option *option, void *to,
			  const char *text)
{
	struct assign_options *options = to;

	(void)option;
	return options->has_range =
		       options_id_range(session, text, "1048577-2000000", &options->request.range);
}

/* @return   false when the options contradict each other; an error was reported */
static bool make_request(struct session *session, const struct invocation *invocation,
			 struct fsq_assign_request *request)
{
	const struct assign_options *options = invocation->options;
	char why[ASSIGN_WHY];

	*request = options->request;
	request->size = sizeof(*request);
	request->dry_run = session->dry_run;
	if (!options_some_operand(session, invocation, "directory"))
		return false;
	if (!options->has_range)
		request->range = session->range;
	if (invocation->operand_count > 1 && request->id) {
		session_usage_error(session, "--id goes with one directory");
		return false;
	}
	if (assign_request_check(request, why))
		return true;
	session_usage_error(session, "%s", why);
	return false;
}

/* Wait until output can be written: a signal ends the wait for a full pipe. */
static bool can_write(struct session *session)
{
	struct pollfd output = { .fd = session->out->fd, .events = POLLOUT };

	while (output.fd >= 0 && poll(&output, 1, WRITE_POLL_MS) == 0) {
		if (is_signal_pending(NULL)) {
			session_errno(session, 0, EINTR, NULL, "cannot write the output");
			return false;
		}
	}
	return true;
}

/* @return   whether it was written */
static bool show_row(struct session *session, struct table *table,
		     const struct fsq_assignment *assignment,
		     const struct fsq_assign_request *request, uint64_t mounts)
{
	uint32_t id = fsq_assignment_id(assignment), other;
	struct listing_change change = {
		.directory = request->directory,
		.id = id,
		.name = request->name,
		.changed = fsq_assignment_change(assignment) != FSQ_UNCHANGED,
		.enforced = fsq_assignment_enforcement(assignment) == FSQ_ENFORCED,
		.walked = true,
		.mounts_skipped = mounts,
	};
	struct fsq_limits before;
	char name[32];

	session_forget_names(session);
	fsq_assignment_limits(assignment, &before, &change.limits);
	snprintf(name, sizeof(name), "volume%u", id);
	if (!change.name && !session->no_register && session->dry_run &&
	    !fsq_project_names_id(session_names(session), name, &other))
		change.name = name;
	return listing_show_change(session, table, &change);
}

/* Print the ID; in another format the whole row. @return  whether it was written */
static bool show(struct session *session, struct table *table,
		 const struct fsq_assignment *assignment, const struct fsq_assign_request *request,
		 uint64_t mounts)
{
	if (session->style.format == TABLE_TEXT && session->style.column_count == 0) {
		write_number(session->out, fsq_assignment_id(assignment));
		write_char(session->out, '\n');
	} else if (!show_row(session, table, assignment, request, mounts)) {
		return false;
	}
	if (session->dry_run)
		return true;
	if (!can_write(session))
		return false;
	session_flush(session);
	return session->status == 0;
}

/* Warn of limits that have no effect. */
static void warn(struct session *session, const struct fsq_assignment *assignment,
		 const struct fsq_assign_request *request)
{
	const struct fsq_limits *limits = &request->limits;
	uint64_t hard = limits->mask & FSQ_HARD(FSQ_BLOCKS) ? limits->hard[FSQ_BLOCKS] : 0;
	uint64_t space = fsq_assignment_space(assignment);

	assign_request_warn_of_enforcement(session, request, assignment);
	if (space && hard > space / FSQ_BASIC_BLOCK)
		session_warn(session, request->directory,
			     "the limit, %" PRIu64 " bytes, is above the size of the "
			     "filesystem, %" PRIu64 " bytes",
			     hard * FSQ_BASIC_BLOCK, space);
}

/* @return   whether it is assigned, and was shown */
static bool assign(struct session *session, const struct fsq_assign_request *request,
		   struct table *table, struct progress *progress)
{
	struct fsq_assignment *assignment;
	struct fsq_error err;
	uint64_t mounts;
	bool shown;
	int rc = fsq_assign(&assignment, request, &err);

	progress_clear(progress);
	mounts = progress_take_mounts(progress, session, request->directory);
	if (rc) {
		session_fail(session, &err);
		return false;
	}
	shown = show(session, table, assignment, request, mounts);
	if (shown)
		assign_request_warn_of_store(session, request, assignment);
	if (shown && !request->dry_run)
		warn(session, assignment, request);
	else if (!shown && !request->dry_run && fsq_assignment_rollback(assignment, &err))
		/* Without the ID the caller cannot use the quota. */
		session_fail(session, &err);
	fsq_assignment_free(assignment);
	return shown;
}

/* Before anything is done, all of several directories are there, and none is a size. */
static bool look_at_operands(struct session *session, const struct invocation *invocation,
			     const struct fsq_assign_request *request)
{
	const bool many = invocation->operand_count > 1;
	uint64_t bytes;

	for (int i = 0; i < invocation->operand_count && !request->make; i++) {
		const char *word = invocation->operands[i];
		bool is_size = fsq_parse_bytes(word, &bytes) == 0;

		if ((!many && !is_size) || access(word, F_OK) == 0 || errno != ENOENT)
			continue;
		if (is_size)
			session_usage_error(session,
					    "there is no directory %s; did you mean --hard %s?",
					    word, word);
		else
			session_error(session, *word ? ERROR_AT_PATH : 0, FSQ_E_NOT_FOUND, ENOENT,
				      word, "cannot open");
		return false;
	}
	return true;
}

static void command_assign(struct session *session, const struct invocation *invocation)
{
	struct table table = tables_begin(session, "assign");
	const struct fsq_registry registry = session_registry(session);
	struct fsq_assign_request request;
	struct progress progress;
	sigset_t signals_before;
	bool good = true;

	if (!make_request(session, invocation, &request) ||
	    !look_at_operands(session, invocation, &request))
		return;
	progress_begin(&progress, session);
	request.registry = &registry;
	request.options = &progress.options;
	if (request.dry_run && fsq_assign_plan_new(&request.plan, NULL)) {
		session_errno(session, 0, ENOMEM, NULL, "cannot go on");
		return;
	}
	block_termination_signals(&signals_before);
	for (int i = 0; i < invocation->operand_count && good; i++) {
		request.directory = invocation->operands[i];
		good = assign(session, &request, &table, &progress);
	}
	if (table.started)
		tables_end(session, &table);
	fsq_assign_plan_free(request.plan);
	/* A signal that has cancelled it takes effect now; one that came too late is ignored. */
	if (!good || request.dry_run)
		restore_signals(&signals_before);
}

#define FIELD(member) offsetof(struct assign_options, member)

static const struct command_option limit_options[] = {
	{ 0, "hard", "at most so much: 500M, 1.5G, 10% of the filesystem", .kind = VALUE_SIZE,
	  .argument = "SIZE", .take = take_word },
	{ 0, "soft", "more only for the grace time: 9G, 90% of --hard", .kind = VALUE_SIZE,
	  .argument = "SIZE", .take = take_word },
	{ 0, "hard-inodes", "at most so many files and directories", .kind = VALUE_NUMBER,
	  .argument = "N", .take = take_word },
	{ 0, "soft-inodes", "more than this only for the grace time", .kind = VALUE_NUMBER,
	  .argument = "N", .take = take_word },
	{ 0, "unlimited", "only count; the default for a new project", .take = take_word },
	{ 0, "name", "join the project of that name, or make it", .kind = VALUE_PROJECT,
	  .argument = "NAME", .take = take_word },
	{ 0, "id", "insist on this ID", .kind = VALUE_ID, .argument = "ID", .take = take_word },
	{ 0, "id-range", "choose from these, instead of /etc/fsquota.conf's", .kind = VALUE_ID,
	  .argument = "A-B", .take = take_id_range },
	{ 0, "mkdir", "make DIR if it is not there", .take = take_word },
	{ 0, "mode", "its mode, such as 0750", .kind = VALUE_NUMBER, .argument = "MODE",
	  .take = take_word },
	{ 0, "owner", "its owner, USER or USER:GROUP", .kind = VALUE_NUMBER, .argument = "OWNER",
	  .take = take_word },
	{ 0, "no-register", "write nothing to the files",
	  .session_field = offsetof(struct session, no_register) },
	{ 0 },
};

static const struct command_option more_options[] = {
	{ 0, "require-enforced", "fail where the limits would stop nobody",
	  .field = FIELD(request.require_enforced) },
	{ 0 },
};

const struct command assign_command = {
	.name = "assign",
	.summary = "put a quota on a directory, all or nothing",
	.synopsis = "DIR... [--hard SIZE] [--soft SIZE] [OPTION]...",
	.help = "Choose an unused project ID, set its limits, give it to DIR and all that is\n"
		"in it, register both, and print the ID. Any error: nothing has changed.\n"
		"Again on the same DIR: the same ID; limits that are given are changed.",
	.options = (option_tables){ limit_options, registry_options, lock_option, more_options,
				    dry_run_option, progress_option, table_options, help_option,
				    NULL },
	.operands = { { VALUE_DIRECTORY, "DIR", true } },
	.rows = &usage_rows,
	.options_size = sizeof(struct assign_options),
	.flags = COMMAND_CONFIG,
	.run = command_assign,
};
