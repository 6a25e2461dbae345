/* SPDX-License-Identifier: Apache-2.0 */
/* What the native commands that show projects have in common: util-linux's options, and the row. */
#ifndef FSQ_LISTING_H
#define FSQ_LISTING_H

#include "command.h"
#include "output/project_rows.h"
#include "quota/fsquota.h"

/* The options of a command that has these begin with a struct project_style. */
extern const struct command_option listing_options[];
extern const struct command_option sort_option[]; /* --sort */
extern const struct command_option over_option[]; /* --over */

/**
 * A usage as a row; the name is looked up if there is an ID.
 *
 * @path     its directory, or NULL: not known
 */
struct project_row listing_row(struct session *session, const char *path,
			       const struct fsq_usage *usage);

/** The same for many rows: @now is 0 for the first one, as dquot_to_row() has it. */
struct project_row listing_row_at(struct session *session, const char *path,
				  const struct fsq_usage *usage, int64_t *now);

/* A directory whose quota a command has changed, or in a dry run would change. */
struct listing_change {
	const char *directory;
	uint32_t id;
	struct fsq_limits limits; /* in a dry run those that it would have */
	const char *name;	  /* the same, if the ID has none; or NULL */
	bool changed, enforced;
	bool walked;
	uint64_t mounts_skipped; /* if so */
};

/**
 * Print its row as JSON: single, or among others.
 *
 * @output   NULL: single; else where they go, which is begun with the first
 * @key      of the JSON document
 * @return   whether it was printed; else an error was reported
 */
bool listing_show_change(struct session *session, struct project_output **output, const char *key,
			 const struct listing_change *change);

/** Begin to print rows; report an error when that fails. */
struct project_output *listing_begin(struct session *session, const struct project_style *style,
				     const char *key, bool single);

/** Print a row, or end; report an error without memory. */
void listing_add(struct session *session, struct project_output *output,
		 const struct project_row *row);
void listing_end(struct session *session, struct project_output *output);

/**
 * Print the project of --id or --name, a row for each filesystem that has it; failures are told.
 *
 * @dev      only of this filesystem, or NULL
 * @change   what was done to it, or NULL
 */
void listing_add_chosen(struct session *session, struct project_output *output, const dev_t *dev,
			const struct listing_change *change);

#endif
