/* SPDX-License-Identifier: Apache-2.0 */
/* What the tables of projects and of their totals have in common. */
#ifndef FSQ_PROJECT_TABLE_H
#define FSQ_PROJECT_TABLE_H

#include "project_rows.h"
#include "smartcols.h"

#define PROJECT_CELL_SIZE 64

/** As lsblk(8) shows sizes: 1.5G, 10M. @plain  bytes instead. @return  @cell */
const char *project_size_text(char cell[PROJECT_CELL_SIZE], uint64_t bytes, bool plain);

/** @return  a table without columns in the format of a style, or NULL without memory */
struct libscols_table *project_table_new(const struct smartcols *lib,
					 const struct project_style *style);

/** Print a table. @return  0 or -ENOMEM */
int project_table_print(struct writer *w, const struct smartcols *lib,
			struct libscols_table *table);

#endif
