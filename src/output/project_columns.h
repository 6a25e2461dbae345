/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a row of a project has: columns of a table, and keys of JSON. Besides what project_rows.h says
 * of columns.
 */
#ifndef FSQ_PROJECT_COLUMNS_H
#define FSQ_PROJECT_COLUMNS_H

#include "json.h"
#include "project_rows.h"
#include "project_table.h"

/** Add columns. @return  as project_columns() */
const char *project_columns_add(struct project_style *style, const char *names);

const char *project_column_name(int column);

/** @return  whether it stands at the left */
bool project_column_is_text(int column);

/** @return  what stands in a cell, perhaps in @cell; NULL: nothing. @bytes  no sizes for people */
const char *project_column_cell(int column, const struct project_row *row, bool bytes,
				char cell[PROJECT_CELL_SIZE]);

/** @return  the color of a cell on a terminal, or NULL */
const char *project_column_color(int column, const struct project_row *row);

/** Print a row as an object. */
void project_row_json(struct json *json, const struct project_row *row);

#endif
