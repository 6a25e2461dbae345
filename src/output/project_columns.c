/* SPDX-License-Identifier: Apache-2.0 */
#include "project_columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "json_rows.h"
#include "project_table.h"

#define CELL_SIZE PROJECT_CELL_SIZE

#define COLOR_RED "\033[31m"
#define COLOR_YELLOW "\033[33m"
#define ALARMING_PERCENT 90

/* What the member of a row is, which says how it is printed. */
enum field_type {
	FIELD_TEXT,	   /* const char *, or NULL */
	FIELD_PATH,	   /* the same; a table has - for NULL */
	FIELD_TEXTS,	   /* the directories */
	FIELD_ID,	   /* uint32_t */
	FIELD_BYTES,	   /* uint64_t, as are those below */
	FIELD_BYTES_LIMIT, /* 0: none */
	FIELD_COUNT,
	FIELD_COUNT_LIMIT,
	FIELD_GRACE, /* int64_t */
	FIELD_BOOL,
	FIELD_PERCENT, /* computed */
};

struct field {
	const char *column; /* NULL: none, only JSON */
	const char *key;    /* of JSON; NULL: none */
	enum field_type type;
	size_t member; /* its offset in struct project_row */
	const char *help;
};

#define MEMBER(name) offsetof(struct project_row, name)

/* In the order of the columns; fsquota-json(5) has the keys. */
static const struct field fields[] = {
	{ "PATH", "path", FIELD_PATH, MEMBER(path), "the directory" },
	{ NULL, "directories", FIELD_TEXTS, 0, NULL },
	{ "ID", "id", FIELD_ID, MEMBER(id), "project ID" },
	{ "NAME", "name", FIELD_TEXT, MEMBER(name), "name of the project" },
	{ "USED", "used_bytes", FIELD_BYTES, MEMBER(used_bytes), "space in use" },
	{ "SOFT", "soft_bytes", FIELD_BYTES_LIMIT, MEMBER(soft_bytes), "soft limit of space" },
	{ "HARD", "hard_bytes", FIELD_BYTES_LIMIT, MEMBER(hard_bytes), "hard limit of space" },
	{ "GRACE", "bytes_grace_seconds", FIELD_GRACE, MEMBER(bytes_grace_seconds),
	  "time left above the soft limit of space" },
	{ "USE%", NULL, FIELD_PERCENT, 0, "use of the limit that is nearer, of space or inodes" },
	{ "IUSED", "used_inodes", FIELD_COUNT, MEMBER(used_inodes), "inodes in use" },
	{ "ISOFT", "soft_inodes", FIELD_COUNT_LIMIT, MEMBER(soft_inodes), "soft limit of inodes" },
	{ "IHARD", "hard_inodes", FIELD_COUNT_LIMIT, MEMBER(hard_inodes), "hard limit of inodes" },
	{ "IGRACE", "inodes_grace_seconds", FIELD_GRACE, MEMBER(inodes_grace_seconds),
	  "time left above the soft limit of inodes" },
	{ NULL, "percent", FIELD_PERCENT, 0, NULL },
	{ "SOURCE", "source", FIELD_TEXT, MEMBER(source),
	  "where the numbers are from: quota, walk or statfs" },
	{ "FILESYSTEM", "filesystem", FIELD_TEXT, MEMBER(filesystem), "device of the filesystem" },
	{ "MOUNTPOINT", "mountpoint", FIELD_TEXT, MEMBER(mountpoint),
	  "where the filesystem is mounted" },
	{ "ACCOUNTING", "accounting", FIELD_BOOL, MEMBER(accounting),
	  "is the use of projects counted?" },
	{ "ENFORCED", "enforced", FIELD_BOOL, MEMBER(enforced),
	  "are limits of projects enforced?" },
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

static double percent_of(uint64_t used, uint64_t soft, uint64_t hard)
{
	uint64_t limit = hard ? hard : soft;

	return limit && used != ROW_NOT_KNOWN ? 100.0 * (double)used / (double)limit : -1;
}

double project_row_percent(const struct project_row *row)
{
	double bytes = percent_of(row->used_bytes, row->soft_bytes, row->hard_bytes);
	double inodes = percent_of(row->used_inodes, row->soft_inodes, row->hard_inodes);

	return bytes > inodes ? bytes : inodes;
}

/* --- columns --- */

static const char *number(char *cell, uint64_t value)
{
	snprintf(cell, CELL_SIZE, "%" PRIu64, value);
	return cell;
}

const char *project_size_text(char cell[PROJECT_CELL_SIZE], uint64_t bytes, bool plain)
{
	static const char letters[] = "BKMGTPE";
	unsigned int power = 0;
	uint64_t tenths;

	if (plain)
		return number(cell, bytes);
	while (power < 6 && bytes >> (10 * (power + 1)))
		power++;
	tenths = power ? ((bytes >> (10 * (power - 1))) * 10 + 512) / 1024 : bytes * 10;
	if (tenths >= 10240 && power < 6) {
		tenths = 10;
		power++;
	}
	if (tenths % 10 && tenths < 1000)
		snprintf(cell, CELL_SIZE, "%u.%u%c", (unsigned int)(tenths / 10),
			 (unsigned int)(tenths % 10), letters[power]);
	else
		snprintf(cell, CELL_SIZE, "%" PRIu64 "%c", (tenths + 5) / 10, letters[power]);
	return cell;
}

/* The two largest units: 6d23h, 5m10s. */
static const char *duration(char *cell, uint64_t seconds, bool plain)
{
	static const struct {
		uint64_t seconds;
		char letter;
	} units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' } };
	size_t i = 0;
	uint64_t rest;

	if (plain)
		return number(cell, seconds);
	if (seconds == 0)
		return "expired";
	while (seconds < units[i].seconds)
		i++;
	rest = i < 3 ? seconds % units[i].seconds / units[i + 1].seconds : 0;
	if (rest)
		snprintf(cell, CELL_SIZE, "%" PRIu64 "%c%" PRIu64 "%c", seconds / units[i].seconds,
			 units[i].letter, rest, units[i + 1].letter);
	else
		snprintf(cell, CELL_SIZE, "%" PRIu64 "%c", seconds / units[i].seconds,
			 units[i].letter);
	return cell;
}

static uint64_t number_of(const struct field *field, const struct project_row *row)
{
	const char *member = (const char *)row + field->member;
	uint64_t value;
	uint32_t id;

	if (field->type == FIELD_ID) {
		memcpy(&id, member, sizeof(id));
		return id;
	}
	memcpy(&value, member, sizeof(value));
	return value;
}

static const char *text_of(const struct field *field, const struct project_row *row)
{
	const char *text;

	memcpy(&text, (const char *)row + field->member, sizeof(text));
	return text;
}

static bool bool_of(const struct field *field, const struct project_row *row)
{
	bool value;

	memcpy(&value, (const char *)row + field->member, sizeof(value));
	return value;
}

/* Is there nothing to be shown in its column, and null in JSON? */
static bool is_empty(const struct field *field, const struct project_row *row)
{
	switch (field->type) {
	case FIELD_TEXT:
	case FIELD_PATH:
		return !text_of(field, row);
	case FIELD_BYTES:
	case FIELD_COUNT:
		return number_of(field, row) == ROW_NOT_KNOWN;
	case FIELD_BYTES_LIMIT:
	case FIELD_COUNT_LIMIT:
		return number_of(field, row) == 0;
	case FIELD_GRACE:
		return (int64_t)number_of(field, row) == ROW_NO_GRACE;
	case FIELD_PERCENT:
		return project_row_percent(row) < 0;
	default:
		return false;
	}
}

/* Is the value only the lowest that there can be? */
static bool is_lowest(const struct field *field, const struct project_row *row)
{
	if (!row->at_least)
		return false;
	if (field->member == MEMBER(used_bytes))
		return row->used_bytes == row->hard_bytes;
	if (field->member == MEMBER(used_inodes))
		return row->used_inodes == row->hard_inodes;
	return field->type == FIELD_BYTES_LIMIT || field->type == FIELD_COUNT_LIMIT;
}

/* @return   what stands in a cell, perhaps in @cell; NULL: nothing */
static const char *cell_of(const struct field *field, const struct project_row *row, bool bytes,
			   char *cell)
{
	if (is_empty(field, row))
		return field->type == FIELD_PATH ? "-" : NULL;
	switch (field->type) {
	case FIELD_TEXT:
	case FIELD_PATH:
		return text_of(field, row);
	case FIELD_BOOL:
		return bool_of(field, row) ? "yes" : "no";
	case FIELD_PERCENT:
		snprintf(cell, CELL_SIZE, "%.0f%%", project_row_percent(row));
		return cell;
	case FIELD_GRACE:
		return duration(cell, number_of(field, row), bytes);
	case FIELD_BYTES:
	case FIELD_BYTES_LIMIT:
		project_size_text(cell, number_of(field, row), bytes);
		break;
	default:
		number(cell, number_of(field, row));
		break;
	}
	if (is_lowest(field, row)) {
		memmove(cell + 2, cell, strlen(cell) + 1);
		memcpy(cell, ">=", 2);
	}
	return cell;
}

int project_column(const char *name, size_t length)
{
	for (size_t i = 0; i < FIELDS; i++)
		if (fields[i].column && strlen(fields[i].column) == length &&
		    strncasecmp(fields[i].column, name, length) == 0)
			return (int)i;
	return -1;
}

int project_rows_compare(const struct project_row *one, const struct project_row *other, int column,
			 bool descending)
{
	const struct field *field = &fields[column];
	int order, empty = is_empty(field, one) - is_empty(field, other);

	if (empty || is_empty(field, one))
		return empty;
	switch (field->type) {
	case FIELD_TEXT:
	case FIELD_PATH:
		order = strcmp(text_of(field, one), text_of(field, other));
		break;
	case FIELD_BOOL:
		order = bool_of(field, one) - bool_of(field, other);
		break;
	case FIELD_PERCENT: {
		double a = project_row_percent(one), b = project_row_percent(other);

		order = (a > b) - (a < b);
		break;
	}
	default: {
		uint64_t a = number_of(field, one), b = number_of(field, other);

		order = (a > b) - (a < b);
		break;
	}
	}
	return descending ? -order : order;
}

const char *project_columns_add(struct project_style *style, const char *names)
{
	for (;; names++) {
		size_t length = strcspn(names, ",");
		int column = project_column(names, length);

		if (column < 0 || style->column_count == PROJECT_COLUMNS_MAX)
			return names;
		style->columns[style->column_count++] = column;
		names += length;
		if (*names == '\0')
			return NULL;
	}
}

const char *project_columns(struct project_style *style, const char *names)
{
	bool added = *names == '+';

	names += added;
	if (!added || strcasecmp(names, "all") == 0)
		style->column_count = 0;
	else if (style->column_count == 0)
		project_columns_add(style, style->usual);
	if (strcasecmp(names, "all") != 0)
		return project_columns_add(style, names);
	for (size_t i = 0; i < FIELDS; i++)
		if (fields[i].column)
			style->columns[style->column_count++] = (int)i;
	return NULL;
}

void project_columns_list(struct writer *w)
{
	for (size_t i = 0; i < FIELDS; i++) {
		if (!fields[i].column)
			continue;
		write_left(w, fields[i].column, 12);
		write_text(w, fields[i].help);
		write_char(w, '\n');
	}
}

const char *project_column_name(int column)
{
	return fields[column].column;
}

bool project_column_is_text(int column)
{
	enum field_type type = fields[column].type;

	return type == FIELD_TEXT || type == FIELD_PATH || type == FIELD_BOOL;
}

const char *project_column_cell(int column, const struct project_row *row, bool bytes,
				char cell[PROJECT_CELL_SIZE])
{
	return cell_of(&fields[column], row, bytes, cell);
}

/* What needs to be looked at: red what is full or expired, yellow a grace time that runs. */
const char *project_column_color(int column, const struct project_row *row)
{
	const struct field *field = &fields[column];

	if (is_empty(field, row))
		return NULL;
	if (field->type == FIELD_PERCENT)
		return project_row_percent(row) > ALARMING_PERCENT ? COLOR_RED : NULL;
	if (field->type == FIELD_GRACE)
		return number_of(field, row) == 0 ? COLOR_RED : COLOR_YELLOW;
	return NULL;
}

/* --- JSON --- */

static void json_directories(struct json *json, const char *key, const struct project_row *row)
{
	if (!row->directories)
		return;
	json_open(json, key, '[');
	for (size_t i = 0; i < row->directory_count; i++)
		json_string(json, NULL, row->directories[i]);
	json_close(json, ']');
}

static void json_field(struct json *json, const struct field *field, const struct project_row *row)
{
	if (is_empty(field, row)) {
		json_null(json, field->key);
		return;
	}
	switch (field->type) {
	case FIELD_TEXT:
	case FIELD_PATH:
		json_string(json, field->key, text_of(field, row));
		break;
	case FIELD_TEXTS:
		json_directories(json, field->key, row);
		break;
	case FIELD_BOOL:
		json_bool(json, field->key, bool_of(field, row));
		break;
	case FIELD_PERCENT:
		json_decimal(json, field->key, project_row_percent(row));
		break;
	case FIELD_BYTES_LIMIT:
	case FIELD_COUNT_LIMIT:
		if (row->at_least)
			json_null(json, field->key);
		else
			json_number(json, field->key, number_of(field, row));
		break;
	default:
		json_number(json, field->key, number_of(field, row));
		break;
	}
}

/* What statfs(2) shows: limits that are soft or hard. */
static void json_at_least(struct json *json, const struct project_row *row)
{
	json_limit_count(json, "limit_bytes", row->hard_bytes);
	json_limit_count(json, "limit_inodes", row->hard_inodes);
	json_bool(json, "used_at_least",
		  row->used_bytes == row->hard_bytes || row->used_inodes == row->hard_inodes);
}

void project_row_json(struct json *json, const struct project_row *row)
{
	json_open(json, NULL, '{');
	for (size_t i = 0; i < FIELDS; i++)
		if (fields[i].key)
			json_field(json, &fields[i], row);
	if (row->at_least)
		json_at_least(json, row);
	if (row->walked)
		json_number(json, "mounts_skipped", row->mounts_skipped);
	json_change(json, row->change, row->would);
	json_close(json, '}');
}
