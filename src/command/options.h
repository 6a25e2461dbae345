/* SPDX-License-Identifier: Apache-2.0 */
/* The options that several commands share, and what they make of quota records. */
#ifndef FSQ_OPTIONS_H
#define FSQ_OPTIONS_H

#include "output/rows.h"
#include "quota/kernel.h"
#include "session.h"

/* Which quota types and forms a command line asks for. */
struct selection {
	bool type[FSQ_TYPES];
	struct row_style style;
};

/** Begin to read the options of a command with getopt(3). */
void options_begin(void);

/**
 * Take one of -u -g -p -b -i -r -h -n.
 *
 * @return   whether @option was one of them
 */
bool options_select(struct selection *selection, int option);

/**
 * The number of -L, -U or -d. xfs_quota takes what is none for 0; at the native door that is told.
 *
 * @return   whether to go on
 */
bool options_number(struct session *session, const char *text, uint32_t *number);

/** @return  how many types are selected */
int options_type_count(const struct selection *selection);

/** @return  the selected type, or user; for commands that take one */
enum fsq_type options_type(const struct selection *selection);

/** Blocks, unless a form was selected. */
void options_default_form(struct selection *selection);

/**
 * A quota record as a row.
 *
 * @now      seconds since 1970, or 0: then it is set when the first grace time asks for it
 */
void options_usage_row(const struct fsq_dquot *dquot, int64_t *now, struct amounts_row row[]);

/** Is all use in the selected forms zero? */
bool options_is_unused(const struct row_style *style, const struct amounts_row row[]);

/** Is there a limit in the selected forms? */
bool options_has_limits(const struct row_style *style, const struct amounts_row row[]);

#endif
