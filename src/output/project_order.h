/* SPDX-License-Identifier: Apache-2.0 */
/* The order of projects: its keys, and rows that are held back until all are known. */
#ifndef FSQ_PROJECT_ORDER_H
#define FSQ_PROJECT_ORDER_H

#include "project_rows.h"

/**
 * Choose the order of rows.
 *
 * @keys     columns separated by commas, - in front of one: descending. "use" is -USED and
 *           "percent" -USE%
 * @return   NULL, or the key that is no column, up to the end of @keys
 */
const char *project_order(struct project_style *style, const char *keys);

/* A copy of a row, which owns all that the row points to. */
struct held_row {
	struct project_row row;
	size_t index;
	const struct project_style *style; /* while they are sorted */
};

struct held_rows {
	struct held_row *rows;
	size_t count, capacity;
};

/** @return  0 or -ENOMEM */
int held_rows_add(struct held_rows *held, const struct project_row *row);

/** Sort by the keys of a style; rows that are equal stay in their order. */
void held_rows_sort(struct held_rows *held, const struct project_style *style);

void held_rows_free(struct held_rows *held);

#endif
