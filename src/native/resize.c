/* SPDX-License-Identifier: Apache-2.0 */
#include "quota/fsquota.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "assign.h"
#include "change.h"
#include "command.h"
#include "journal.h"
#include "listing.h"
#include "projects.h"
#include "options.h"

struct resize_options {
	bool allow_shrink;
	const char *hard;		 /* as the operand */
	struct fsq_assign_request words; /* its other limits */
};

/* The words that assign has, too. */
static bool take_word(struct session *session, const struct command_option *option, void *to,
		      const char *value)
{
	struct resize_options *options = to;

	if (!assign_request_set(session, &(struct word_place){ 0 }, &options->words, option->name,
				value))
		return false;
	if (options->words.soft_percent)
		session_usage_error(session, "\"%s\" is no size, such as 500M or 10G", value);
	return !options->words.soft_percent;
}

/* In another format the row; in a dry run what would change. */
static void show(struct session *session, const struct fsq_resize_request *request,
		 const struct fsq_resized *resized)
{
	const char *directory = request->directory;
	const struct listing_change change = {
		.directory = directory,
		.id = resized->id,
		.limits = resized->after,
		.changed = resized->changed,
		.enforced = true,
	};
	struct table table = tables_begin(session, "resize");
	bool shown = true;

	table.single = true;
	if (session_has_rows(session)) {
		if (directory)
			shown = listing_show_change(session, &table, &change);
		else
			projects_show_chosen(session, &table, &resized->dev, &change);
		if (shown)
			tables_end(session, &table);
	} else if (session->dry_run) {
		change_show_limits(session, directory ? directory : request->at, resized->id,
				   &resized->before, &resized->after);
	}
}

static void warn(struct session *session, const struct fsq_resize_request *request,
		 const struct fsq_resized *resized)
{
	static const char *const words[] = { [FSQ_BLOCKS] = "space", [FSQ_INODES] = "inodes" };
	const char *place = request->directory ? request->directory : request->at;
	struct fsq_support support;

	if (place && fsq_supported(place, &support, NULL) == 0) {
		if (!support.enforced)
			session_warn_not_enforced(session, place);
		fsq_support_clear(&support);
	}
	/* A soft limit below the use is no failure, but the grace time runs. */
	for (int form = FSQ_BLOCKS; form <= FSQ_INODES; form++)
		if (resized->after.soft[form] && resized->used[form] > resized->after.soft[form])
			session_warn(session, request->directory,
				     "the soft limit of %s is below what is in use: the grace "
				     "time runs",
				     words[form]);
}

/* SIZE, +SIZE, +PERCENT% or none */
static bool take_size(struct session *session, const char *size, struct fsq_resize_request *request)
{
	size_t digits = strspn(size, "+0123456789");
	int rc;

	request->no_hard = strcmp(size, "none") == 0;
	request->relative = size[0] == '+';
	if (request->no_hard)
		return true;
	if (request->relative && strcmp(size + digits, "%") == 0) {
		unsigned long percent = strtoul(size + 1, NULL, 10);

		request->relative = false;
		request->percent = (unsigned int)percent;
		return (size[1] != '+' && digits < 6 && percent) ||
		       session_usage_error(session, "\"%s\" is no growth, such as +20%%", size);
	}
	rc = fsq_parse_bytes(size + request->relative, &request->bytes);
	if (rc == -ERANGE)
		return session_usage_error(session, "\"%s\" is too large for a limit", size);
	return rc == 0 || session_usage_error(session,
					      "\"%s\" is no size, such as 500M, 10G, +5G, +20%% "
					      "or none",
					      size);
}

/* @return   whether there is something to do; else an error was reported */
static bool make_request(struct session *session, const struct invocation *invocation,
			 struct fsq_resize_request *request)
{
	const struct resize_options *options = invocation->options;
	int directories = !options_stand_for_directory(session);
	int sizes = invocation->operand_count - directories;
	const char *size = sizes == 1 ? invocation->operands[directories] : options->hard;

	request->limits = options->words.limits;
	if (sizes == 1 && options->hard)
		return session_usage_error(session,
					   "the hard limit is given twice: %s, and --hard %s", size,
					   options->hard);
	if (sizes < 0 || sizes > 1 || (!size && !request->limits.mask))
		return session_usage_error(session, "%s; usage: fsquota resize %s",
					   directories ? "a directory and a size are wanted"
						       : "a size is wanted, and no directory",
					   invocation->command->synopsis);
	if (directories)
		request->directory = invocation->operands[0];
	if (!options_check_own_project(session, directories) ||
	    !options_project_id(session, false, &request->id))
		return false;
	return !size || take_size(session, size, request);
}

static void command_resize(struct session *session, const struct invocation *invocation)
{
	const struct resize_options *options = invocation->options;
	const struct fsq_registry registry = session_registry(session);
	struct fsq_resize_request request = {
		.size = sizeof(request),
		.registry = &registry,
		.at = session->at.count ? session->at.words[0] : NULL,
		.allow_shrink = options->allow_shrink,
		.dry_run = session->dry_run,
	};
	struct journal_entry entry = { .type = FSQ_PROJECT };
	struct fsq_resized resized;
	struct fsq_error err;

	if (!make_request(session, invocation, &request))
		return;
	entry.directory = request.directory;
	entry.filesystem = request.at;
	entry.id = request.id;
	if (fsq_resize(&request, &resized, &err)) {
		entry.err = &err;
		journal_write(session, &entry);
		session_fail(session, &err);
		return;
	}
	entry.id = resized.id;
	entry.before = &resized.before;
	entry.after = &resized.after;
	if (resized.changed)
		journal_write(session, &entry);
	warn(session, &request, &resized);
	show(session, &request, &resized);
}

#define FIELD(member) offsetof(struct resize_options, member)

static const struct command_option shrink_option[] = {
	{ 0, "allow-shrink", "let it become smaller than it is", .field = FIELD(allow_shrink) },
	{ 0 },
};

static const struct command_option limit_options[] = {
	{ 0, "hard", "the same as SIZE behind DIR", .kind = VALUE_SIZE, .argument = "SIZE",
	  .field = FIELD(hard) },
	{ 0, "soft", "the soft limit of space", .kind = VALUE_SIZE, .argument = "SIZE",
	  .take = take_word },
	{ 0, "hard-inodes", "at most so many files and directories", .kind = VALUE_NUMBER,
	  .argument = "N", .take = take_word },
	{ 0, "soft-inodes", "more than this only for the grace time", .kind = VALUE_NUMBER,
	  .argument = "N", .take = take_word },
	{ 0 },
};

const struct command resize_command = {
	.name = "resize",
	.summary = "change the limits of a directory's quota",
	.synopsis =
		"{DIR | --id ID --at PATH | --name NAME} [SIZE|+SIZE|+PERCENT%|none] [OPTION]...",
	.help = "Make the hard limit of the project that DIR belongs to SIZE, or larger by SIZE\n"
		"or PERCENT: 500M, 10G, +5G, +20%; none takes the limit away. It cannot become\n"
		"smaller than what is in use.",
	.options = (option_tables){ limit_options, shrink_option, own_project_options,
				    registry_options, lock_option, dry_run_option, table_options,
				    help_option, NULL },
	.operands = { { VALUE_DIRECTORY, "DIR", false }, { VALUE_SIZE, "SIZE", false } },
	.rows = &usage_rows,
	.answers = ANSWER_SINGLE,
	.options_size = sizeof(struct resize_options),
	.flags = COMMAND_CONFIG,
	.run = command_resize,
};
