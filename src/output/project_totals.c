/* SPDX-License-Identifier: Apache-2.0 */
#include "project_totals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "project_table.h"
#include "shared/array.h"

static const struct {
	const char *column;
	const char *key;
	size_t member; /* a uint64_t, in struct project_total */
	bool size;     /* else a number */
} numbers[] = {
	{ "SIZE", "size_bytes", offsetof(struct project_total, size_bytes), true },
	{ "USED", "used_bytes", offsetof(struct project_total, used_bytes), true },
	{ "LIMITS", "hard_bytes", offsetof(struct project_total, hard_bytes), true },
	{ "EXCESS", "excess_bytes", offsetof(struct project_total, excess_bytes), true },
	{ "UNLIMITED", "unlimited_projects", offsetof(struct project_total, unlimited), false },
};
#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static uint64_t number_of(const struct project_total *total, size_t index)
{
	uint64_t value;

	memcpy(&value, (const char *)total + numbers[index].member, sizeof(value));
	return value;
}

int project_totals_add(struct project_totals *totals, const struct project_total *total)
{
	struct project_total *rows =
		array_grow(totals->rows, totals->count, &totals->capacity, sizeof(*rows));
	struct project_total copy = *total;

	if (!rows)
		return -ENOMEM;
	totals->rows = rows;
	copy.filesystem = strdup(total->filesystem);
	copy.mountpoint = strdup(total->mountpoint);
	copy.excess_bytes =
		copy.hard_bytes > copy.size_bytes ? copy.hard_bytes - copy.size_bytes : 0;
	rows[totals->count++] = copy;
	return copy.filesystem && copy.mountpoint ? 0 : -ENOMEM;
}

void project_totals_json(struct writer *w, const struct project_totals *totals)
{
	for (size_t i = 0; i < totals->count; i++) {
		const struct project_total *total = &totals->rows[i];
		struct json json;

		write_text(w, i ? ",\n" : "\n");
		json_start(&json, w);
		json_open(&json, NULL, '{');
		for (size_t j = 0; j < NUMBERS; j++)
			json_number(&json, numbers[j].key, number_of(total, j));
		json_string(&json, "filesystem", total->filesystem);
		json_string(&json, "mountpoint", total->mountpoint);
		json_close(&json, '}');
	}
}

static int add_line(const struct smartcols *lib, struct libscols_table *table,
		    const struct project_style *style, const struct project_total *total)
{
	struct libscols_line *line = lib->table_new_line(table, NULL);

	if (!line)
		return -ENOMEM;
	for (size_t i = 0; i < NUMBERS; i++) {
		char cell[PROJECT_CELL_SIZE];

		if (lib->line_set_data(line, i,
				       project_size_text(cell, number_of(total, i),
							 style->bytes || !numbers[i].size)))
			return -ENOMEM;
	}
	return lib->line_set_data(line, NUMBERS, total->mountpoint) ? -ENOMEM : 0;
}

static int fill(const struct smartcols *lib, struct libscols_table *table,
		const struct project_style *style, const struct project_totals *totals)
{
	int rc = 0;

	for (size_t i = 0; i < NUMBERS; i++)
		if (!lib->table_new_column(table, numbers[i].column, 0, SCOLS_FL_RIGHT))
			return -ENOMEM;
	if (!lib->table_new_column(table, "MOUNTPOINT", 0, 0))
		return -ENOMEM;
	for (size_t i = 0; i < totals->count && rc == 0; i++)
		rc = add_line(lib, table, style, &totals->rows[i]);
	return rc;
}

int project_totals_table(struct writer *w, const struct project_style *style,
			 const struct project_totals *totals)
{
	const struct smartcols *lib = smartcols_load();
	struct libscols_table *table = totals->count ? project_table_new(lib, style) : NULL;
	int rc;

	if (totals->count == 0)
		return 0;
	rc = table ? fill(lib, table, style, totals) : -ENOMEM;
	if (rc == 0) {
		write_char(w, '\n');
		rc = project_table_print(w, lib, table);
	}
	if (table)
		lib->unref_table(table);
	return rc;
}

void project_totals_free(struct project_totals *totals)
{
	for (size_t i = 0; i < totals->count; i++) {
		free((void *)totals->rows[i].filesystem);
		free((void *)totals->rows[i].mountpoint);
	}
	free(totals->rows);
}
