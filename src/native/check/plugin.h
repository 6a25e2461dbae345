/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of check as that of a plugin of Nagios, Icinga and their like: a line, performance data and a status. */
#ifndef FSQ_PLUGIN_H
#define FSQ_PLUGIN_H

#include "native/rows/projects.h"
#include "shared/writer.h"

/* The exit statuses. Source: the monitoring plugins' development guidelines */
enum plugin_state { PLUGIN_OK, PLUGIN_WARNING, PLUGIN_CRITICAL, PLUGIN_UNKNOWN };

/* Zeros, but for the percentages. */
struct plugin {
	double warning, critical;	  /* percent of the limit */
	struct text told[PLUGIN_UNKNOWN]; /* what there is to say of each state */
	uint64_t count[PLUGIN_UNKNOWN];	  /* of rows in each state */
	struct text values;		  /* performance data */
	uint64_t value_count, left_out;
	bool no_memory;
};

/**
 * Judge a row.
 *
 * @full     it is above its soft limit, at its hard one, or will be
 * @in_force its limits hold
 */
void plugin_add(struct plugin *plugin, const struct project_row *row, bool full, bool in_force);

/** Add a sentence that is a warning of its own. */
void plugin_warn(struct plugin *plugin, const char *sentence);

/**
 * Print the line, and set the exit status.
 *
 * @plugin   NULL: nothing was judged; freed
 */
void plugin_show(struct session *session, struct plugin *plugin);

#endif
