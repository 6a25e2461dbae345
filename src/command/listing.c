/* SPDX-License-Identifier: Apache-2.0 */
#include "listing.h"

#include <errno.h>
#include <string.h>

#include "names.h"

int listing_option(struct session *session, struct project_style *style, int option)
{
	const char *wrong;

	switch (option) {
	case 'b':
		style->bytes = true;
		return 1;
	case 'n':
		style->no_headings = true;
		return 1;
	case 'r':
		style->format = PROJECT_RAW;
		return 1;
	case 'P':
		style->format = PROJECT_PAIRS;
		return 1;
	case 'o':
		wrong = project_columns(style, optarg);
		if (!wrong)
			return 1;
		session_complain(session, 1, FSQ_E_USAGE,
				 "there is no column \"%.*s\"; see --list-columns",
				 (int)strcspn(wrong, ","), wrong);
		return 0;
	case LISTING_OUTPUT_ALL:
		project_columns(style, "all");
		return 1;
	case LISTING_COLUMNS:
		project_columns_list(session->out);
		return 0;
	default:
		return -1;
	}
}

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

struct project_output *listing_begin(struct session *session, struct project_style *style,
				     const char *key, bool single)
{
	struct project_output *output;

	if (session->json)
		style->format = PROJECT_JSON;
	output = project_output_begin(session->out, style, key, single);
	if (!output)
		session_complain(session, 1, ENOMEM, "cannot print all");
	return output;
}

void listing_add(struct session *session, struct project_output *output,
		 const struct project_row *row)
{
	if (project_output_row(output, row))
		session_complain(session, 1, ENOMEM, "cannot print all");
}

void listing_end(struct session *session, struct project_output *output)
{
	if (project_output_end(output))
		session_complain(session, 1, ENOMEM, "cannot print all");
}
