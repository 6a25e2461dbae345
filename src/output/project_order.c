/* SPDX-License-Identifier: Apache-2.0 */
#include "project_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "shared/array.h"
#include "shared/sort.h"

static bool is_word(const char *key, size_t length, const char *word)
{
	return strlen(word) == length && strncasecmp(key, word, length) == 0;
}

/* @return   the column + 1, negative: descending; 0: there is none */
static int parse_key(const char *key, size_t length)
{
	bool descending = *key == '-';

	if (is_word(key, length, "use"))
		return -(project_column("USED", strlen("USED")) + 1);
	if (is_word(key, length, "percent"))
		return -(project_column("USE%", strlen("USE%")) + 1);
	return (descending ? -1 : 1) * (project_column(key + descending, length - descending) + 1);
}

const char *project_order(struct project_style *style, const char *keys)
{
	style->sort_count = 0;
	for (;; keys++) {
		size_t length = strcspn(keys, ",");
		int key = parse_key(keys, length);

		if (key == 0 || style->sort_count == PROJECT_COLUMNS_MAX)
			return keys;
		style->sort[style->sort_count++] = key;
		keys += length;
		if (*keys == '\0')
			return NULL;
	}
}

/* @return   0 or -ENOMEM; *@text is a copy, or NULL */
static int copy_text(const char **text)
{
	bool wanted = *text;

	*text = wanted ? strdup(*text) : NULL;
	return wanted && !*text ? -ENOMEM : 0;
}

static int copy_directories(struct project_row *row)
{
	const char *const *from = row->directories;
	const char **to;

	if (!from)
		return 0;
	to = calloc(row->directory_count + 1, sizeof(*to));
	row->directories = to;
	for (size_t i = 0; to && i < row->directory_count; i++) {
		to[i] = from[i];
		if (copy_text(&to[i])) {
			row->directory_count = i;
			return -ENOMEM;
		}
	}
	return to ? 0 : -ENOMEM;
}

static void free_row(struct project_row *row)
{
	const char *const *directories = row->directories;

	for (size_t i = 0; directories && i < row->directory_count; i++)
		free((void *)directories[i]);
	free((void *)directories);
	free((void *)row->path);
	free((void *)row->name);
	free((void *)row->filesystem);
	free((void *)row->mountpoint);
}

int held_rows_add(struct held_rows *held, const struct project_row *row)
{
	struct held_row *rows =
		array_grow(held->rows, held->count, &held->capacity, sizeof(*held->rows));
	struct project_row copy = *row;
	int rc;

	if (!rows)
		return -ENOMEM;
	held->rows = rows;
	/* Each of them, so that free_row() finds only copies. */
	rc = copy_text(&copy.path);
	rc |= copy_text(&copy.name);
	rc |= copy_text(&copy.filesystem);
	rc |= copy_text(&copy.mountpoint);
	rc |= copy_directories(&copy);
	if (rc) {
		free_row(&copy);
		return -ENOMEM;
	}
	rows[held->count] = (struct held_row){ .row = copy, .index = held->count };
	held->count++;
	return 0;
}

static int compare(const void *one, const void *other)
{
	const struct held_row *a = one, *b = other;

	for (size_t i = 0; i < a->style->sort_count; i++) {
		int key = a->style->sort[i];
		int order = project_rows_compare(&a->row, &b->row, abs(key) - 1, key < 0);

		if (order)
			return order;
	}
	return a->index < b->index ? -1 : 1;
}

void held_rows_sort(struct held_rows *held, const struct project_style *style)
{
	for (size_t i = 0; i < held->count; i++)
		held->rows[i].style = style;
	array_sort(held->rows, held->count, sizeof(*held->rows), compare);
}

void held_rows_free(struct held_rows *held)
{
	for (size_t i = 0; i < held->count; i++)
		free_row(&held->rows[i].row);
	free(held->rows);
}
