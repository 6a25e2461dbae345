/* SPDX-License-Identifier: Apache-2.0 */
#include "quota/assign.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>

#include "config.h"
#include "listing.h"
#include "native_command.h"
#include "output/json_rows.h"
#include "output/native_text.h"
#include "progress.h"
#include "quota/interrupt.h"
#include "quota/project_edit.h"
#include "quota/usage.h"
#include "quota/units.h"

#define PATIENCE_MS 100

enum {
	HARD = NATIVE_OWN,
	SOFT,
	HARD_INODES,
	SOFT_INODES,
	UNLIMITED,
	NAME,
	ID,
	ID_RANGE,
	NO_REGISTER,
	REQUIRE_ENFORCED,
	DRY_RUN,
};

static bool take_limit(struct session *session, struct fsq_limits *limits, enum fsq_form form,
		       bool hard)
{
	uint64_t value;

	int rc = form == FSQ_INODES ? fsq_parse_positive(optarg, &value)
				    : fsq_parse_bytes(optarg, &value);

	if (rc == -ERANGE)
		session_complain(session, 1, FSQ_E_USAGE, "\"%s\" is too large for a limit",
				 optarg);
	else if (rc)
		session_complain(session, 1, FSQ_E_USAGE, "\"%s\" is no %s", optarg,
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

/* @return   false when it makes no sense; the user has been told */
static bool take_option(struct session *session, struct fsq_assign_request *request, int option,
			bool *has_range)
{
	switch (option) {
	case HARD:
		return take_limit(session, &request->limits, FSQ_BLOCKS, true);
	case SOFT:
		return take_limit(session, &request->limits, FSQ_BLOCKS, false);
	case HARD_INODES:
		return take_limit(session, &request->limits, FSQ_INODES, true);
	case SOFT_INODES:
		return take_limit(session, &request->limits, FSQ_INODES, false);
	case UNLIMITED:
		request->unlimited = true;
		return true;
	case NAME:
		request->claim.name = optarg;
		if (fsq_project_name_is_valid(optarg))
			return true;
		session_complain(session, 1, FSQ_E_USAGE, "\"%s\" cannot be the name of a project",
				 optarg);
		return false;
	case ID:
		return native_take_id(session, &request->claim);
	case ID_RANGE:
		*has_range = fsq_parse_id_range(optarg, &request->range) == 0;
		if (!*has_range)
			session_complain(
				session, 1, FSQ_E_USAGE,
				"\"%s\" is no range of project IDs, such as 1048577-2000000",
				optarg);
		return *has_range;
	case NO_REGISTER:
		session->no_register = true;
		return true;
	case REQUIRE_ENFORCED:
		request->require_enforced = true;
		return true;
	case DRY_RUN:
		request->dry_run = true;
		return true;
	default:
		return false;
	}
}

/*
 * IDs that are not registered in /etc are not chosen from kubelet's range: it gives up when it
 * finds 128 in use that the files do not know.
 */
static struct fsq_id_range usual_range(const struct session *session)
{
	bool visible = !session->no_register &&
		       strcmp(session->projects_file, FSQ_PROJECTS_FILE) == 0 &&
		       strcmp(session->projid_file, FSQ_PROJID_FILE) == 0;

	if (session->range_configured)
		return session->range;
	return (struct fsq_id_range){ visible ? FSQ_ID_RANGE_FIRST : FSQ_ID_RANGE_UNSEEN_FIRST,
				      FSQ_ID_RANGE_LAST };
}

static bool parse(struct session *session, const struct native_command *command, int argc,
		  char **argv, struct fsq_assign_request *request)
{
	static const struct option words[] = {
		NATIVE_WORDS,
		NATIVE_FILE_WORDS,
		NATIVE_LOCK_WORDS,
		NATIVE_WALK_WORDS,
		{ "hard", required_argument, NULL, HARD },
		{ "soft", required_argument, NULL, SOFT },
		{ "hard-inodes", required_argument, NULL, HARD_INODES },
		{ "soft-inodes", required_argument, NULL, SOFT_INODES },
		{ "unlimited", no_argument, NULL, UNLIMITED },
		{ "name", required_argument, NULL, NAME },
		{ "id", required_argument, NULL, ID },
		{ "id-range", required_argument, NULL, ID_RANGE },
		{ "no-register", no_argument, NULL, NO_REGISTER },
		{ "require-enforced", no_argument, NULL, REQUIRE_ENFORCED },
		{ "dry-run", no_argument, NULL, DRY_RUN },
		{ NULL, 0, NULL, 0 },
	};
	bool has_range = false;
	int option;

	while ((option = native_option(session, command, argc, argv, "h", words)) != -1)
		if (option == 0 || !take_option(session, request, option, &has_range))
			return false;
	if (!native_operand(session, command, argc, argv, &request->directory))
		return false;
	if (request->unlimited && request->limits.mask) {
		session_complain(session, 1, FSQ_E_USAGE,
				 "--unlimited does not go with other limits");
		return false;
	}
	request->registry = session_registry(session);
	if (!has_range)
		request->range = usual_range(session);
	return true;
}

/* A pipe that nobody reads does not hold up who is told to stop. */
static bool can_write(struct session *session)
{
	struct pollfd output = { .fd = session->out->fd, .events = POLLOUT };

	while (poll(&output, 1, PATIENCE_MS) == 0) {
		if (fsq_interrupt_pending()) {
			session_complain(session, 1, EINTR, "cannot write the output");
			return false;
		}
	}
	return true;
}

/* The ID; with --json the whole row. @return  whether the caller has got it */
static bool show(struct session *session, const struct fsq_assignment *assignment,
		 const char *directory)
{
	struct project_style style = { 0 };
	struct project_output *output;
	struct project_row row;
	struct fsq_usage usage;
	struct fsq_error err;

	if (!session->json) {
		text_id_row(session->out, fsq_assignment_id(assignment));
	} else {
		if (fsq_usage_get(&usage, directory, session->projects_file, false, NULL, &err)) {
			session_fail(session, &err);
			return false;
		}
		output = listing_begin(session, &style, "assign", true);
		if (output) {
			row = listing_row(session, directory, &usage);
			row.enforced &= fsq_assignment_enforcement(assignment) == FSQ_ENFORCED;
			listing_add(session, output, &row);
			listing_end(session, output);
		}
		fsq_usage_clear(&usage);
	}
	if (!can_write(session))
		return false;
	session_flush(session);
	return session->status == 0;
}

/* What is done, but may not be what was meant. */
static void warn(struct session *session, const struct fsq_assignment *assignment,
		 const struct fsq_assign_request *request)
{
	const struct fsq_limits *limits = &request->limits;
	uint64_t hard = limits->mask & FSQ_HARD(FSQ_BLOCKS) ? limits->hard[FSQ_BLOCKS] : 0;
	uint64_t space = fsq_assignment_space(assignment);

	if (limits->mask && fsq_assignment_enforcement(assignment) == FSQ_NOT_ENFORCED)
		session_complain(session, 0, FSQ_OK,
				 "%s: limits are not enforced on this filesystem: they stop nobody",
				 request->directory);
	if (limits->mask && fsq_assignment_enforcement(assignment) == FSQ_ENFORCED_BUT_FOR_ROOT)
		session_complain(session, 0, FSQ_OK,
				 "%s: can be written by root alone, who passes every limit on "
				 "this filesystem",
				 request->directory);
	if (space && hard > space / FSQ_BASIC_BLOCK)
		session_complain(session, 0, FSQ_OK,
				 "%s: the limit, %" PRIu64 " bytes, is above the size of the "
				 "filesystem, %" PRIu64 " bytes",
				 request->directory, hard * FSQ_BASIC_BLOCK, space);
}

NATIVE_FUNCTION(assign)
{
	struct fsq_assign_request request = { 0 };
	struct fsq_assignment *assignment;
	struct progress progress;
	struct fsq_error err;
	int rc;

	if (!config_read(session) || !parse(session, command, argc, argv, &request))
		return;
	progress_begin(&progress, session);
	request.manner = &progress.manner;
	rc = fsq_assign(&assignment, &request, &err);
	progress_clear(&progress);
	if (rc) {
		/* Before the signal that it may have been does what it does. */
		session_fail(session, &err);
	} else if (request.dry_run && session->json) {
		json_only_id(session->out, "assign", request.directory,
			     fsq_assignment_id(assignment));
	} else if (request.dry_run) {
		text_id_row(session->out, fsq_assignment_id(assignment));
	} else if (show(session, assignment, request.directory)) {
		warn(session, assignment, &request);
		/* The process ends, which frees it without a call of the kernel. */
		return;
	} else if (fsq_assignment_undo(assignment, &err)) {
		/* Who does not know the ID has not got a quota. */
		session_fail(session, &err);
	}
	fsq_assignment_free(assignment);
}
