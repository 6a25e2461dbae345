/* SPDX-License-Identifier: Apache-2.0 */
/* What the native commands that show projects have in common: util-linux's options, and the row. */
#ifndef FSQ_LISTING_H
#define FSQ_LISTING_H

#include "native_command.h"
#include "output/project_rows.h"
#include "quota/usage.h"

enum { LISTING_COLUMNS = NATIVE_OWN, LISTING_OUTPUT_ALL, LISTING_OWN };

/* Long options, and their letters, as findmnt(8) has them. */
#define LISTING_LETTERS "bnro:P"
#define LISTING_WORDS                                                                   \
	{ "bytes", no_argument, NULL, 'b' }, { "noheadings", no_argument, NULL, 'n' },  \
		{ "raw", no_argument, NULL, 'r' }, { "pairs", no_argument, NULL, 'P' }, \
		{ "output", required_argument, NULL, 'o' },                             \
		{ "output-all", no_argument, NULL, LISTING_OUTPUT_ALL },                \
	{                                                                               \
		"list-columns", no_argument, NULL, LISTING_COLUMNS                      \
	}

#define LISTING_HELP                                                                         \
	"  -o, --output LIST       these columns, +LIST: besides the usual\n"                \
	"      --output-all        all columns\n"                                            \
	"      --list-columns      which there are\n"                                        \
	"  -b, --bytes             sizes in bytes\n"                                         \
	"  -n, --noheadings        no line of headings\n"                                    \
	"  -r, --raw               columns separated by a blank, \\x20 for a blank in one\n" \
	"  -P, --pairs             NAME=\"VALUE\" pairs\n"

/**
 * Take one of these options.
 *
 * @return   1 taken; 0 taken, and the command is over; -1 it is none of these
 */
int listing_option(struct session *session, struct project_style *style, int option);

/** A usage as a row; the name is looked up if there is an ID. */
struct project_row listing_row(struct session *session, const char *path,
			       const struct fsq_usage *usage);

/** Begin to print rows; the user is told when that cannot be. */
struct project_output *listing_begin(struct session *session, struct project_style *style,
				     const char *key, bool single);

/** Print a row, or end; the user is told when memory is short. */
void listing_add(struct session *session, struct project_output *output,
		 const struct project_row *row);
void listing_end(struct session *session, struct project_output *output);

#endif
