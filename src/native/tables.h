/* SPDX-License-Identifier: Apache-2.0 */
/* How native commands print their rows: the options of every table, and tables of a session. */
#ifndef FSQ_TABLES_H
#define FSQ_TABLES_H

#include "command.h"
#include "table/table.h"

/* --output, --sort, --raw, --json ...; what they choose goes to session->style. */
extern const struct command_option table_options[];
/* The same without letters, for commands whose letters are those of xfs_quota. */
extern const struct command_option long_table_options[];
extern const struct command_option over_option[]; /* --over */

/** Take the value of --over, @least or more. @return  whether it is one; else an error was reported */
bool tables_parse_over(struct session *session, const char *text, double least, double *percent);

/**
 * Begin the rows of the command that runs.
 *
 * @key      of the JSON document
 */
struct table tables_begin(struct session *session, const char *key);

/** Print a row, or end; report an error without memory. */
void tables_row(struct session *session, struct table *table, const void *row);
void tables_end(struct session *session, struct table *table);

#endif
