/* SPDX-License-Identifier: Apache-2.0 */
#include "assign.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "native/apply/apply.h"
#include "native/cli/budgets.h"
#include "native/rows/change.h"
#include "native/rows/projects.h"
#include "native/cli/options.h"
#include "native/cli/progress.h"
#include "native/cli/suggest.h"

/* --- the words of a request --- */

bool assign_refuse(struct session *session, const struct word_origin *origin, const char *format,
		   ...)
{
	char why[256], where[PATH_MAX + 300] = "";
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	if (origin->file)
		snprintf(where, sizeof(where), "%s, line %u: ", origin->file, origin->line);
	strncat(where, why, sizeof(where) - strlen(where) - 1);
	if (reported_add(origin->reported, where))
		session_usage_error(session, "%s", where);
	return false;
}

static bool set_limit(struct session *session, const struct word_origin *origin,
		      struct fsq_assign_request *request, const char *key, const char *text)
{
	struct fsq_limits *limits = &request->limits;
	bool hard = key[0] == 'h';
	enum fsq_form form = strchr(key, '-') ? FSQ_INODES : FSQ_BLOCKS;
	size_t digits = strspn(text, "0123456789");
	unsigned long percent = digits < 4 ? strtoul(text, NULL, 10) : 0;
	char why[SUGGESTION];
	uint64_t value;
	int rc = 0;

	/* "90%": a part of something else. */
	if (form == FSQ_BLOCKS && strcmp(text + digits, "%") == 0 && percent >= 1 &&
	    percent <= 100) {
		*(hard ? &request->hard_percent : &request->soft_percent) = (unsigned int)percent;
		return true;
	}
	if (strcmp(text, "none") == 0)
		value = 0;
	else if (form == FSQ_INODES)
		rc = fsq_parse_positive(text, &value);
	else
		rc = fsq_parse_bytes(text, &value);
	if (rc == -EINVAL && form == FSQ_INODES)
		return assign_refuse(session, origin,
				     "\"%.100s\" is no number of inodes, such as 10000, or none",
				     text);
	if (rc)
		return assign_refuse(session, origin, "%s",
				     suggest_size(text, rc, "500M, 10G or none", why));
	if (form != FSQ_INODES && suggest_unit(text, value, why))
		return assign_refuse(session, origin, "%s%s%s%.20s: %s", origin->file ? "" : "--",
				     key, origin->file ? "=" : " ", text, why);
	if (form != FSQ_INODES)
		value = fsq_limit_blocks_up(value);
	(hard ? limits->hard : limits->soft)[form] = value;
	limits->mask |= hard ? FSQ_HARD(form) : FSQ_SOFT(form);
	return true;
}

/* USER, USER:GROUP or :GROUP, by name or number. */
static bool set_owner(struct session *session, const struct word_origin *origin,
		      struct fsq_assign_request *request, const char *text)
{
	const char *colon = strchr(text, ':');
	char *user = colon ? strndup(text, (size_t)(colon - text)) : strdup(text);
	bool good = user && *text &&
		    (!*user || names_to_id(session, FSQ_USER, user, &request->owner)) &&
		    (!colon || names_to_id(session, FSQ_GROUP, colon + 1, &request->group));

	free(user);
	return good || assign_refuse(session, origin, "there is no user or group \"%.100s\"", text);
}

bool assign_request_set(struct session *session, const struct word_origin *origin,
			struct fsq_assign_request *request, const char *key, const char *value)
{
	bool bare = strcmp(key, "unlimited") == 0 || strcmp(key, "mkdir") == 0;

	if (bare && value)
		return assign_refuse(session, origin, "%s takes no value", key);
	if (!bare && !value)
		return assign_refuse(session, origin,
				     "\"%.100s\" takes a value, such as hard=10G: only mkdir and "
				     "unlimited have none",
				     key);
	if (strcmp(key, "unlimited") == 0)
		return request->unlimited = true;
	if (strcmp(key, "mkdir") == 0)
		return request->make = true;
	if (strcmp(key, "hard") == 0 || strcmp(key, "soft") == 0 ||
	    strcmp(key, "hard-inodes") == 0 || strcmp(key, "soft-inodes") == 0)
		return set_limit(session, origin, request, key, value);
	if (strcmp(key, "name") == 0) {
		request->name = value;
		return fsq_project_name_is_valid(value) ||
		       assign_refuse(session, origin, "\"%.100s\" cannot be the name of a project",
				     value);
	}
	if (strcmp(key, "id") == 0)
		return (fsq_parse_id(value, &request->id) == 0 && request->id != 0) ||
		       assign_refuse(session, origin, "\"%.100s\" is no project ID from 1 to %u",
				     value, FSQ_ID_MAX);
	if (strcmp(key, "mode") == 0) {
		request->mode = (mode_t)strtoul(value, NULL, 8);
		return (strspn(value, "01234567") == strlen(value) && strlen(value) <= 4 &&
			request->mode) ||
		       assign_refuse(session, origin, "\"%.100s\" is no mode, such as 0750", value);
	}
	if (strcmp(key, "owner") == 0)
		return set_owner(session, origin, request, value);
	return assign_refuse(session, origin, "there is no key \"%.100s\"", key);
}

bool assign_request_check(struct session *session, const struct word_origin *origin,
			  const struct fsq_assign_request *request)
{
	if (request->unlimited &&
	    (request->limits.mask || request->hard_percent || request->soft_percent))
		return assign_refuse(session, origin, "unlimited does not go with other limits");
	if (change_is_contradictory(&request->limits))
		return assign_refuse(session, origin, "the soft limit is above the hard one");
	if (!request->make && (request->mode || request->owner || request->group))
		return assign_refuse(session, origin, "mode and owner go with mkdir");
	return true;
}

/* --- what is said of an assignment --- */

void assign_warn_of_store(struct session *session, const struct fsq_assign_request *request,
			  const struct fsq_assignment *assignment)
{
	enum fsq_store_relation relation = fsq_assignment_store(assignment);
	const char *what = relation == FSQ_STORE_HOLDS ? "is or holds a container store"
						       : "lies in a container store";
	uint32_t id = fsq_assignment_id(assignment);

	if (relation == FSQ_STORE_NONE)
		return;
	if (fsq_assignment_change(assignment) != FSQ_CREATED)
		session_warn(session, request->directory,
			     "the engine of this container store takes the IDs after %u, and "
			     "changes the limits of other projects: see fsquota doctor",
			     id);
	else if (request->id || request->range.first)
		session_warn(session, request->directory,
			     "%s, whose engine takes the IDs after %u: without --id and an ID "
			     "range, it gets an ID with room after it",
			     what, id);
	else
		session_warn(session, request->directory,
			     "%s, whose engine takes IDs one after the other: %u has room after it",
			     what, id);
}

void assign_write_journal(struct session *session, const struct fsq_assign_request *request,
			  const struct fsq_assignment *assignment, const struct fsq_error *err)
{
	struct journal_entry entry = { .directory = request->directory,
				       .name = request->name,
				       .type = FSQ_PROJECT,
				       .id = request->id };
	struct fsq_limits before, after;

	if (assignment && fsq_assignment_change(assignment) == FSQ_UNCHANGED)
		return;
	if (assignment) {
		fsq_assignment_limits(assignment, &before, &after);
		entry.id = fsq_assignment_id(assignment);
		entry.before = &before;
		entry.after = &after;
	} else {
		entry.err = err;
	}
	journal_write(session, &entry);
}

/* @return   whether a directory shows that nothing is left of its project's limits, in one call */
static bool may_be_full(const char *directory)
{
	struct statvfs space;

	return statvfs(directory, &space) || space.f_bfree == 0 || space.f_ffree == 0;
}

void assign_warn_of_limits(struct session *session, const struct fsq_assign_request *request,
			   const struct fsq_assignment *assignment)
{
	const bool enforced = fsq_assignment_enforcement(assignment) != FSQ_NOT_ENFORCED;
	const enum fsq_change change = fsq_assignment_change(assignment);
	struct fsq_limits before, after;
	struct fsq_dquot dquot = { 0 };
	struct fsq_filesystem *fs;
	bool limited = false;

	if (change == FSQ_UNCHANGED || !enforced)
		return;
	fsq_assignment_limits(assignment, &before, &after);
	/* The limits that a project has are new for a directory that joins it. */
	for (int form = FSQ_BLOCKS; form <= FSQ_INODES; form++) {
		if (change == FSQ_CREATED && before.soft[form] == after.soft[form])
			before.soft[form] = 0;
		if (change == FSQ_CREATED && before.hard[form] == after.hard[form])
			before.hard[form] = 0;
		limited |= !fsq_limit_is_none(after.soft[form]) ||
			   !fsq_limit_is_none(after.hard[form]);
	}
	if (limited && (request->dry_run || may_be_full(request->directory)) &&
	    fsq_filesystem_open(&fs, request->directory, NULL, FSQ_OPEN_NO_TAG, NULL) == 0) {
		if (fsq_quota_get(fs, FSQ_PROJECT, fsq_assignment_id(assignment), &dquot))
			dquot = (struct fsq_dquot){ 0 };
		fsq_filesystem_close(fs);
	}
	change_warn_of_limits(session, request->directory, "", &before, &after, &dquot);
}

/* Print the ID; in another format the whole row. @return  whether it was written */
static bool show(struct session *session, const struct fsq_assignment *assignment,
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
		.over = fsq_assignment_over_budget(assignment),
	};
	struct fsq_limits before;
	char name[32];

	if (!session_has_rows(session)) {
		write_format(session->out, "%u\n", id);
	} else {
		session_forget_names(session);
		fsq_assignment_limits(assignment, &before, &change.limits);
		snprintf(name, sizeof(name), "volume%u", id);
		if (!change.name && !session->no_register && session->dry_run &&
		    !fsq_project_names_id(session_names(session), name, &other))
			change.name = name;
		if (!listing_show_change(session, &change))
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

/* Copy the limits of another directory, except for those that are given. */
static bool take_limits_of(struct session *session, const char *like,
			   struct fsq_assign_request *request)
{
	struct fsq_limits *limits = &request->limits, given = *limits;
	struct fsq_usage usage;
	struct fsq_error err;

	if (request->unlimited)
		return session_usage_error(session, "--like does not go with --unlimited");
	if (session_usage(session, like, &usage, &err)) {
		/* What counts files has no limits. */
		if (err.hint == FSQ_HINT_MOUNT_OR_COUNT)
			err.hint = FSQ_HINT_MOUNT_WITH_QUOTA;
		else if (err.hint == FSQ_HINT_ASSIGN_OR_COUNT)
			err.hint = FSQ_HINT_NONE;
		return session_fail(session, &err);
	}
	/* The size of a tmpfs is no quota. */
	if (usage.source != FSQ_USAGE_QUOTA) {
		fsq_usage_clear(&usage);
		return session_error(session, ERROR_AT_PATH, FSQ_E_NOT_FOUND, 0, like,
				     "belongs to no project");
	}
	*limits = (struct fsq_limits){
		.soft = { fsq_limit_blocks_up(usage.soft_bytes), usage.soft_inodes },
		.hard = { fsq_limit_blocks_up(usage.hard_bytes), usage.hard_inodes },
		.mask = FSQ_SOFT(FSQ_BLOCKS) | FSQ_HARD(FSQ_BLOCKS) | FSQ_SOFT(FSQ_INODES) |
			FSQ_HARD(FSQ_INODES),
	};
	for (int form = FSQ_BLOCKS; form <= FSQ_INODES; form++) {
		if (given.mask & FSQ_SOFT(form))
			limits->soft[form] = given.soft[form];
		if (given.mask & FSQ_HARD(form))
			limits->hard[form] = given.hard[form];
	}
	fsq_usage_clear(&usage);
	return true;
}

/* Options that the lines of apply have, too. */
static bool take_word(struct session *session, const struct command_option *option, void *to,
		      const char *value)
{
	return assign_request_set(session, &(struct word_origin){ 0 }, to, option->name, value);
}

/* @return   whether it is assigned, and was shown */
static bool assign(struct session *session, const struct fsq_assign_request *request,
		   struct progress *progress)
{
	const struct fsq_limits *limits = &request->limits;
	uint64_t hard = limits->mask & FSQ_HARD(FSQ_BLOCKS) ? limits->hard[FSQ_BLOCKS] : 0;
	struct fsq_assignment *assignment;
	uint64_t mounts, space;
	struct fsq_error err;
	bool shown;
	int rc = fsq_assign(&assignment, request, &err);

	mounts = progress_take_mounts(progress, session, request->directory);
	assign_write_journal(session, request, rc ? NULL : assignment, &err);
	if (rc)
		return session_fail(session, &err);
	if (!request->dry_run && fsq_assignment_change(assignment) == FSQ_CREATED)
		apply_marks_forget_one(session, fsq_assignment_id(assignment), request->directory);
	shown = show(session, assignment, request, mounts);
	space = fsq_assignment_space(assignment);
	if (shown)
		assign_warn_of_store(session, request, assignment);
	if (shown)
		assign_warn_of_limits(session, request, assignment);
	if (shown)
		budgets_warn(session, request->directory, fsq_assignment_over_budget(assignment));
	if (shown && !request->dry_run) {
		/* Of limits that have no effect. */
		if (fsq_assignment_enforcement(assignment) == FSQ_NOT_ENFORCED)
			session_warn_not_enforced(session, request->directory);
		if (space && hard > space / FSQ_BASIC_BLOCK)
			session_warn(session, request->directory,
				     "the limit, %" PRIu64 " bytes, is above the size of the "
				     "filesystem, %" PRIu64 " bytes",
				     hard * FSQ_BASIC_BLOCK, space);
	} else if (!shown && !request->dry_run && fsq_assignment_rollback(assignment, &err)) {
		/* Without the ID the caller cannot use the quota. */
		session_fail(session, &err);
	}
	fsq_assignment_free(assignment);
	return shown;
}

/* Check all operands before the first change: they must be directories, and no sizes. */
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
	if (request.dry_run && fsq_assign_plan_new(&request.plan, NULL)) {
		session_no_memory(session);
		return;
	}
	block_termination_signals(&signals_before);
	for (int i = 0; i < invocation->operand_count && good; i++) {
		request.directory = invocation->operands[i];
		good = (i == 0 || session_goes_on(session, request.directory)) &&
		       assign(session, &request, &progress);
	}
	if (session->table.started)
		tables_end(session);
	session_flush_unless_stopped(session);
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
	{ 0, "like", "the limits of this directory, where none is given", .kind = VALUE_REGISTERED,
	  .argument = "OTHER", .field = FIELD(like) },
	{ 0, "unlimited", "only count; the default for a new project", .take = take_word },
	{ 0, "keep-limits", "only register the project that DIR carries",
	  .field = FIELD(request.keep_limits) },
	{ 0, "name", "join the project of that name, or make it", .kind = VALUE_PROJECT,
	  .argument = "NAME", .take = take_word },
	{ 0, "id", "insist on this ID", .kind = VALUE_ID, .argument = "ID", .take = take_word },
	{ 0, "id-range", "choose from these, instead of /etc/fsquota.conf's", .kind = VALUE_NUMBER,
	  .argument = "A-B", .choices_text = "1048577-2000000", .field = FIELD(request.range),
	  .range = true },
	{ 0, "mkdir", "make DIR if it is not there", .take = take_word },
	{ 0, "mode", "its mode, such as 0750", .kind = VALUE_NUMBER, .argument = "MODE",
	  .take = take_word },
	{ 0, "owner", "its owner, USER or USER:GROUP", .kind = VALUE_OWNER, .argument = "OWNER",
	  .take = take_word },
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
	.summary = "put a quota on a directory, all or nothing",
	.synopsis = "DIR... [--hard SIZE] [--soft SIZE] [OPTION]...",
	.help = "Choose an unused project ID, set its limits, give it to DIR and all that is\n"
		"in it, register both, and print the ID. Any error: nothing has changed.\n"
		"Again on the same DIR: the same ID; limits that are given are changed.",
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
