/* SPDX-License-Identifier: Apache-2.0 */
#include "listing.h"

#include <errno.h>
#include <string.h>

#include "names.h"

static bool take_raw(struct session *session, const struct command_option *option, void *to,
		     const char *value)
{
	struct project_style *style = to;

	(void)session, (void)value;
	style->format = option->letter == 'P' ? PROJECT_PAIRS : PROJECT_RAW;
	return true;
}

static bool take_output(struct session *session, const struct command_option *option, void *to,
			const char *names)
{
	const char *wrong = project_columns(to, option->letter ? names : "all");

	if (!wrong)
		return true;
	session_usage_error(session, "there is no column \"%.*s\"; see --list-columns",
			    (int)strcspn(wrong, ","), wrong);
	return false;
}

/* Nothing else is done. */
static bool take_list_columns(struct session *session, const struct command_option *option,
			      void *to, const char *value)
{
	(void)option, (void)to, (void)value;
	project_columns_list(session->out);
	return false;
}

#define FIELD(member) offsetof(struct project_style, member)

const struct command_option listing_options[] = {
	{ 'o', "output", "these columns, +LIST: besides the usual", .kind = VALUE_COLUMNS,
	  .argument = "LIST", .take = take_output },
	{ 0, "output-all", "all columns", .take = take_output },
	{ 0, "list-columns", "which there are", .take = take_list_columns },
	{ 'b', "bytes", "sizes in bytes", .field = FIELD(bytes) },
	{ 'n', "noheadings", "no line of headings", .field = FIELD(no_headings) },
	{ 'r', "raw", "columns separated by a blank, \\x20 for a blank in one", .take = take_raw },
	{ 'P', "pairs", "NAME=\"VALUE\" pairs", .take = take_raw },
	{ 0 },
};

struct project_row listing_row(struct session *session, const char *path,
			       const struct fsq_usage *usage)
{
	static const char *const sources[] = {
		[FSQ_USAGE_QUOTA] = "quota",
		[FSQ_USAGE_WALK] = "walk",
		[FSQ_USAGE_STATFS] = "statfs",
	};

	return (struct project_row){
		.path = path,
		.id = usage->id,
		.name = usage->id ? names_of_id(session, FSQ_PROJECT, usage->id) : NULL,
		.used_bytes = usage->used_bytes,
		.used_inodes = usage->used_inodes,
		.soft_bytes = usage->soft_bytes,
		.hard_bytes = usage->hard_bytes,
		.soft_inodes = usage->soft_inodes,
		.hard_inodes = usage->hard_inodes,
		.source = sources[usage->source],
		.filesystem = usage->device,
		.mountpoint = usage->mountpoint,
		.accounting = usage->accounting,
		.enforced = usage->enforced,
	};
}

struct project_output *listing_begin(struct session *session, const struct project_style *style,
				     const char *key, bool single)
{
	struct project_output *output =
		project_output_begin(session->out, style, key, single, session->json);

	if (!output)
		session_errno(session, 0, ENOMEM, NULL, "cannot print all");
	return output;
}

void listing_add(struct session *session, struct project_output *output,
		 const struct project_row *row)
{
	if (project_output_row(output, row))
		session_errno(session, 0, ENOMEM, NULL, "cannot print all");
}

void listing_end(struct session *session, struct project_output *output)
{
	if (project_output_end(output))
		session_errno(session, 0, ENOMEM, NULL, "cannot print all");
}
