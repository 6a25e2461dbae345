/* SPDX-License-Identifier: Apache-2.0 */
#include "quota/fsquota.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "listing.h"
#include "names.h"
#include "options.h"
#include "progress.h"
#include "signals.h"

/* How long a pipe may be full before signals are looked at, in milliseconds. */
#define WRITE_POLL_MS 100

struct assign_options {
	struct fsq_assign_request request;
	bool has_range;
	const char *mode, *owner;
};

/* "90%": a part of something else. @return  whether it is one; else @text may be a size */
static bool take_percent(struct assign_options *options, bool hard, const char *text)
{
	size_t digits = strspn(text, "0123456789");
	uint64_t percent = digits < 4 ? strtoul(text, NULL, 10) : 0;

	if (strcmp(text + digits, "%") != 0 || percent < 1 || percent > 100)
		return false;
	*(hard ? &options->request.hard_percent : &options->request.soft_percent) =
		(unsigned int)percent;
	return true;
}

/* --hard, --soft, --hard-inodes and --soft-inodes. */
static bool take_limit(struct session *session, const struct command_option *option, void *to,
		       const char *text)
{
	struct assign_options *options = to;
	struct fsq_limits *limits = &options->request.limits;
	bool hard = option->name[0] == 'h';
	enum fsq_form form = option->kind == VALUE_NUMBER ? FSQ_INODES : FSQ_BLOCKS;
	uint64_t value;
	int rc;

	if (form == FSQ_BLOCKS && take_percent(options, hard, text))
		return true;
	rc = form == FSQ_INODES ? fsq_parse_positive(text, &value) : fsq_parse_bytes(text, &value);

	if (rc == -ERANGE)
		session_usage_error(session, "\"%s\" is too large for a limit", text);
	else if (rc)
		session_usage_error(session, "\"%s\" is no %s", text,
				    form == FSQ_INODES ? "number of inodes, such as 10000"
						       : "size, such as 500M or 10G");
	if (rc)
		return false;
	if (form != FSQ_INODES)
		value = fsq_limit_blocks_up(value);
	(hard ? limits->hard : limits->soft)[form] = value;
	limits->mask |= hard ? FSQ_HARD(form) : FSQ_SOFT(form);
	return true;
}

static bool take_name(struct session *session, const struct command_option *option, void *to,
		      const char *name)
{
	struct assign_options *options = to;

	(void)option;
	options->request.name = name;
	if (fsq_project_name_is_valid(name))
		return true;
	session_usage_error(session, "\"%s\" cannot be the name of a project", name);
	return false;
}

static bool take_id(struct session *session, const struct command_option *option, void *to,
		    const char *text)
{
	struct assign_options *options = to;

	(void)option;
	return options_parse_id(session, text, &options->request.id);
}

static bool take_id_range(struct session *session, const struct command_option *option, void *to,
			  const char *text)
{
	struct assign_options *options = to;

	(void)option;
	options->has_range = fsq_parse_id_range(text, &options->request.range) == 0;
	if (!options->has_range)
		session_usage_error(session,
				    "\"%s\" is no range of project IDs, such as 1048577-2000000",
				    text);
	return options->has_range;
}

/* USER, USER:GROUP or :GROUP, by name or number. */
static bool parse_owner(struct session *session, const char *text,
			struct fsq_assign_request *request)
{
	const char *colon = strchr(text, ':');
	char *user = colon ? strndup(text, (size_t)(colon - text)) : strdup(text);
	bool good = user && (!*user || names_to_id(session, FSQ_USER, user, &request->owner)) &&
		    (!colon || names_to_id(session, FSQ_GROUP, colon + 1, &request->group));

	free(user);
	if (!good)
		session_usage_error(session, "there is no user or group \"%s\"", text);
	return good;
}

static bool parse_making(struct session *session, const struct assign_options *options,
			 struct fsq_assign_request *request)
{
	char *end;

	request->owner = geteuid();
	request->group = getegid();
	if ((options->mode || options->owner) && !request->make) {
		session_usage_error(session, "--mode and --owner go with --mkdir");
		return false;
	}
	if (options->mode) {
		request->mode = (mode_t)strtoul(options->mode, &end, 8);
		if (*end || end == options->mode || strlen(options->mode) > 4 || !request->mode) {
			session_usage_error(session, "\"%s\" is no mode, such as 0750",
					    options->mode);
			return false;
		}
	}
	return !options->owner || parse_owner(session, options->owner, request);
}

/* @return   false when the options contradict each other; an error was reported */
static bool make_request(struct session *session, const struct invocation *invocation,
			 struct fsq_assign_request *request)
{
	const struct assign_options *options = invocation->options;

	*request = options->request;
	request->size = sizeof(*request);
	if (!options_some_operand(session, invocation, "directory"))
		return false;
	if (invocation->operand_count > 1 && request->id) {
		session_usage_error(session, "--id goes with one directory");
		return false;
	}
	if (request->unlimited &&
	    (request->limits.mask || request->hard_percent || request->soft_percent)) {
		session_usage_error(session, "--unlimited does not go with other limits");
		return false;
	}
	if (!options->has_range)
		request->range = session->range;
	return parse_making(session, options, request);
}

/* Wait until output can be written: a signal ends the wait for a full pipe. */
static bool can_write(struct session *session)
{
	struct pollfd output = { .fd = session->out->fd, .events = POLLOUT };

	while (poll(&output, 1, WRITE_POLL_MS) == 0) {
		if (is_signal_pending(NULL)) {
			session_errno(session, 0, EINTR, NULL, "cannot write the output");
			return false;
		}
	}
	return true;
}

/* What is printed: of one directory an object, of several an array. */
struct assign_output {
	struct project_style style;
	struct project_output *rows; /* with --json, from the first row on */
	bool many;
};

/* @return   whether it was written */
static bool show_row(struct session *session, struct assign_output *output,
		     const struct fsq_assignment *assignment, const char *directory)
{
	const struct fsq_usage_request request = {
		.size = sizeof(request),
		.path = directory,
		.projects_file = session->projects_file,
	};
	struct project_row row;
	struct fsq_usage usage;
	struct fsq_error err;

	if (fsq_usage_get(&usage, &request, &err)) {
		session_fail(session, &err);
		return false;
	}
	if (!output->rows)
		output->rows = listing_begin(session, &output->style, "assign", !output->many);
	if (output->rows) {
		row = listing_row(session, directory, &usage);
		row.enforced &= fsq_assignment_enforcement(assignment) == FSQ_ENFORCED;
		listing_add(session, output->rows, &row);
		if (!output->many) {
			listing_end(session, output->rows);
			output->rows = NULL;
		}
	}
	fsq_usage_clear(&usage);
	return true;
}

/* Print the ID; with --json the whole row. @return  whether it was written */
static bool show(struct session *session, struct assign_output *output,
		 const struct fsq_assignment *assignment, const char *directory)
{
	if (session->json && !show_row(session, output, assignment, directory))
		return false;
	if (!session->json)
		session->render->only_id(session->out, "assign", directory,
					 fsq_assignment_id(assignment));
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

	if (limits->mask && fsq_assignment_enforcement(assignment) == FSQ_NOT_ENFORCED)
		session_warn(session, request->directory,
			     "%s: limits are not enforced on this filesystem: they stop nobody",
			     request->directory);
	if (limits->mask && fsq_assignment_enforcement(assignment) == FSQ_ENFORCED_BUT_FOR_ROOT)
		session_warn(session, request->directory,
			     "%s: can be written by root alone, who passes every limit on "
			     "this filesystem",
			     request->directory);
	if (space && hard > space / FSQ_BASIC_BLOCK)
		session_warn(session, request->directory,
			     "%s: the limit, %" PRIu64 " bytes, is above the size of the "
			     "filesystem, %" PRIu64 " bytes",
			     request->directory, hard * FSQ_BASIC_BLOCK, space);
}

/* @return   whether it is assigned, and was shown */
static bool assign(struct session *session, const struct fsq_assign_request *request,
		   struct assign_output *output, struct progress *progress)
{
	struct fsq_assignment *assignment;
	struct fsq_error err;
	bool shown = true;
	int rc = fsq_assign(&assignment, request, &err);

	progress_clear(progress);
	if (rc) {
		session_fail(session, &err);
		return false;
	}
	if (request->dry_run && output->many)
		session->render->id_row(session->out, request->directory,
					fsq_assignment_id(assignment));
	else if (request->dry_run)
		session->render->only_id(session->out, "assign", request->directory,
					 fsq_assignment_id(assignment));
	else
		shown = show(session, output, assignment, request->directory);
	if (shown && !request->dry_run)
		warn(session, assignment, request);
	else if (!shown && fsq_assignment_rollback(assignment, &err))
		/* Without the ID the caller cannot use the quota. */
		session_fail(session, &err);
	/* One alone is freed with the process, without system calls. */
	if (!shown || output->many)
		fsq_assignment_free(assignment);
	return shown;
}

static void command_assign(struct session *session, const struct invocation *invocation)
{
	struct assign_output output = { .many = invocation->operand_count > 1 };
	const struct fsq_registry registry = session_registry(session);
	struct fsq_assign_request request;
	struct progress progress;
	sigset_t signals_before;
	bool good = true;

	if (!make_request(session, invocation, &request))
		return;
	progress_begin(&progress, session);
	request.registry = &registry;
	request.options = &progress.options;
	block_termination_signals(&signals_before);
	if (request.dry_run && output.many)
		render_begin(session->render, session->out, "assign");
	for (int i = 0; i < invocation->operand_count && good; i++) {
		request.directory = invocation->operands[i];
		good = assign(session, &request, &output, &progress);
	}
	if (output.rows)
		listing_end(session, output.rows);
	if (request.dry_run && output.many)
		render_end(session->render, session->out);
	/* A signal that has cancelled it takes effect now; one that came too late is ignored. */
	if (!good || request.dry_run)
		restore_signals(&signals_before);
}

#define FIELD(member) offsetof(struct assign_options, member)

static const struct command_option limit_options[] = {
	{ 0, "hard", "at most so much: 500M, 1.5G, 10% of the filesystem", .kind = VALUE_SIZE,
	  .argument = "SIZE", .take = take_limit },
	{ 0, "soft", "more only for the grace time: 9G, 90% of --hard", .kind = VALUE_SIZE,
	  .argument = "SIZE", .take = take_limit },
	{ 0, "hard-inodes", "at most so many files and directories", .kind = VALUE_NUMBER,
	  .argument = "N", .take = take_limit },
	{ 0, "soft-inodes", "more than this only for the grace time", .kind = VALUE_NUMBER,
	  .argument = "N", .take = take_limit },
	{ 0, "unlimited", "only count; the default for a new project",
	  .field = FIELD(request.unlimited) },
	{ 0, "name", "join the project of that name, or make it", .kind = VALUE_PROJECT,
	  .argument = "NAME", .take = take_name },
	{ 0, "id", "insist on this ID", .kind = VALUE_ID, .argument = "ID", .take = take_id },
	{ 0, "id-range", "choose from these, instead of /etc/fsquota.conf's", .kind = VALUE_ID,
	  .argument = "A-B", .take = take_id_range },
	{ 0, "mkdir", "make DIR if it is not there", .field = FIELD(request.make) },
	{ 0, "mode", "its mode, such as 0750", .kind = VALUE_NUMBER, .argument = "MODE",
	  .field = FIELD(mode) },
	{ 0, "owner", "its owner, USER or USER:GROUP", .kind = VALUE_NUMBER, .argument = "OWNER",
	  .field = FIELD(owner) },
	{ 0, "no-register", "write nothing to the files",
	  .session_field = offsetof(struct session, no_register) },
	{ 0 },
};

static const struct command_option more_options[] = {
	{ 0, "require-enforced", "fail where the limits would stop nobody",
	  .field = FIELD(request.require_enforced) },
	{ 0, "dry-run", "only say which ID it would be", .field = FIELD(request.dry_run) },
	{ 0 },
};

static const struct command_option row_option[] = {
	{ 0, "json", "print the whole row as JSON, see fsquota-json(5)",
	  .session_field = offsetof(struct session, json) },
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
				    progress_option, row_option, help_option, NULL },
	.operands = { { VALUE_DIRECTORY, "DIR", true } },
	.options_size = sizeof(struct assign_options),
	.flags = COMMAND_CONFIG,
	.run = command_assign,
};
