/* SPDX-License-Identifier: Apache-2.0 */
/* What all projects of a filesystem add up to, printed behind the projects. */
#ifndef FSQ_PROJECT_TOTALS_H
#define FSQ_PROJECT_TOTALS_H

#include "project_rows.h"

/* Those that were added, and own what they point to. */
struct project_totals {
	struct project_total *rows;
	size_t count, capacity;
};

/** @return  0 or -ENOMEM */
int project_totals_add(struct project_totals *totals, const struct project_total *total);

/** Print them as the elements of a JSON array. */
void project_totals_json(struct writer *w, const struct project_totals *totals);

/** Print them as a table, a blank line before it. @return  0 or -ENOMEM */
int project_totals_table(struct writer *w, const struct project_style *style,
			 const struct project_totals *totals);

void project_totals_free(struct project_totals *totals);

#endif
