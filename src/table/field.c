/* SPDX-License-Identifier: Apache-2.0 */
#include "field.h"

#include <stdio.h>
#include <time.h>

#include "shared/writer.h"

uint64_t field_number(const struct field *field, const void *row)
{
	const char *member = (const char *)row + field->offset;
	unsigned int word;
	uint64_t number;
	uint32_t id;

	switch (field->type) {
	case FIELD_ID:
	case FIELD_ID_OR_NONE:
		memcpy(&id, member, sizeof(id));
		return id;
	case FIELD_WORD:
	case FIELD_CHANGE:
		memcpy(&word, member, sizeof(word));
		return word;
	case FIELD_BOOL:
		return *(const bool *)member;
	default:
		memcpy(&number, member, sizeof(number));
		return number;
	}
}

const char *field_cell_text(const struct field *field, const void *row)
{
	const char *text = field_text(field, row);

	if (text)
		return text;
	return field->type == FIELD_PATH ? "-" : "";
}

/* --- values that are not text; formatted here, since snprintf(3) would cost more than the rest of a row --- */

static char *put_size(char *at, uint64_t bytes)
{
	static const char letters[] = "BKMGTPE";
	unsigned int power = 0;
	uint64_t tenths;

	while (power < 6 && bytes >> (10 * (power + 1)))
		power++;
	tenths = power ? ((bytes >> (10 * (power - 1))) * 10 + 512) / 1024 : bytes * 10;
	if (tenths >= 10240 && power < 6) {
		tenths = 10;
		power++;
	}
	if (tenths % 10 && tenths < 1000) {
		at = put_number(at, tenths / 10);
		*at++ = '.';
		*at++ = (char)('0' + tenths % 10);
	} else {
		at = put_number(at, (tenths + 5) / 10);
	}
	*at++ = letters[power];
	return at;
}

/* Unless @exact, print a sign and a unit: +1.5M, -3K. */
static char *put_rate(char *at, int64_t rate, bool exact)
{
	uint64_t bytes = rate < 0 ? -(uint64_t)rate : (uint64_t)rate;

	if (rate < 0)
		*at++ = '-';
	else if (rate > 0 && !exact)
		*at++ = '+';
	return exact ? put_number(at, bytes) : put_size(at, bytes);
}

/* The two largest units: 6d23h, 5m10s. */
static char *put_duration(char *at, uint64_t seconds)
{
	static const struct {
		uint64_t seconds;
		char letter;
	} units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' } };
	size_t i = 0;
	uint64_t rest;

	if (seconds == 0)
		return stpcpy(at, "expired");
	while (seconds < units[i].seconds)
		i++;
	at = put_number(at, seconds / units[i].seconds);
	*at++ = units[i].letter;
	rest = i < 3 ? seconds % units[i].seconds / units[i + 1].seconds : 0;
	if (rest) {
		at = put_number(at, rest);
		*at++ = units[i + 1].letter;
	}
	return at;
}

/*
 * Round a value to a number.
 * @return   false: it is large or near a tie, so leave it to printf(3). That is rare
 */
static bool round_value(double value, uint64_t *number)
{
	double rest;

	if (!(value >= 0 && value < 1e12))
		return false;
	*number = (uint64_t)value;
	rest = value - (double)*number;
	*number += rest > 0.5;
	return rest < 0.499 || rest > 0.501;
}

static char *put_percent(char *at, double percent)
{
	uint64_t whole;

	if (!round_value(percent, &whole))
		return at + snprintf(at, FIELD_CELL, "%.0f%%", percent);
	at = put_number(at, whole);
	*at++ = '%';
	return at;
}

#define NEAR_PERCENT 90
#define AT_PERCENT 99.5

enum field_nearness field_nearness(double percent)
{
	return percent >= AT_PERCENT ? FIELD_AT : percent > NEAR_PERCENT ? FIELD_NEAR : FIELD_FAR;
}

static char *put_time(char *at, int64_t milliseconds)
{
	time_t seconds = (time_t)(milliseconds / 1000);
	struct tm tm = { 0 };

	gmtime_r(&seconds, &tm);
	at += strftime(at, FIELD_CELL, "%Y-%m-%dT%H:%M:%S", &tm);
	return at + sprintf(at, ".%03dZ", (int)(milliseconds % 1000));
}

char *field_put_local_time(char *at, int64_t milliseconds)
{
	const time_t seconds = (time_t)(milliseconds / 1000);
	struct tm tm;

	*at = '\0';
	return localtime_r(&seconds, &tm) ? at + strftime(at, FIELD_CELL, "%Y-%m-%d %H:%M", &tm)
					  : at;
}

char *field_put(char *at, const struct field *field, const void *row, bool exact)
{
	const void *member = (const char *)row + field->offset;
	uint64_t number = field_number(field, row);

	if (field->at_least && *((const bool *)row + field->at_least))
		at = mempcpy(at, ">=", 2);
	switch (field->type) {
	case FIELD_BOOL:
		return stpcpy(at, number ? "yes" : "no");
	case FIELD_CHANGE:
		return stpcpy(at, number == ROW_CHANGED ? "yes" : "no");
	case FIELD_PERCENT:
		return put_percent(at, *(const double *)member);
	case FIELD_TIME:
		return put_time(at, (int64_t)number);
	case FIELD_RATE:
		return put_rate(at, (int64_t)number, exact);
	case FIELD_SECONDS:
		return exact ? put_number(at, number) : put_duration(at, number);
	case FIELD_BYTES:
	case FIELD_BYTES_LIMIT:
		return exact ? put_number(at, number) : put_size(at, number);
	default:
		return put_number(at, number);
	}
}

const char *field_cell(const struct field *field, const void *row, bool exact,
		       char cell[FIELD_CELL])
{
	if (field_is_empty(field, row))
		return NULL;
	if (field_has_text(field))
		return field_text(field, row);
	*field_put(cell, field, row, exact) = '\0';
	return cell;
}

const char *field_size(char cell[FIELD_CELL], uint64_t bytes)
{
	*put_size(cell, bytes) = '\0';
	return cell;
}

const char *field_duration(char cell[FIELD_CELL], uint64_t seconds)
{
	*put_duration(cell, seconds) = '\0';
	return cell;
}

const char *field_decimal(char cell[FIELD_CELL], double value)
{
	uint64_t tenths;
	char *at;

	if (round_value(value * 10, &tenths)) {
		at = put_number(cell, tenths / 10);
		*at++ = '.';
		*at++ = (char)('0' + tenths % 10);
		*at = '\0';
	} else {
		snprintf(cell, FIELD_CELL, "%.1f", value);
	}
	return cell;
}

const char *field_time(char cell[FIELD_CELL], int64_t milliseconds)
{
	*put_time(cell, milliseconds) = '\0';
	return cell;
}

bool field_is_text(const struct field *field)
{
	static const bool is_text[FIELD_ROW + 1] = {
		[FIELD_TEXT] = true, [FIELD_PATH] = true,   [FIELD_WORD] = true,
		[FIELD_BOOL] = true, [FIELD_CHANGE] = true, [FIELD_TIME] = true,
	};

	return is_text[field->type];
}

bool field_is_amount(const struct field *field)
{
	static const bool is_amount[FIELD_ROW + 1] = {
		[FIELD_COUNT] = true,	    [FIELD_COUNT_LIMIT] = true, [FIELD_BYTES] = true,
		[FIELD_BYTES_LIMIT] = true, [FIELD_RATE] = true,	[FIELD_PERCENT] = true,
	};

	return is_amount[field->type] && !field->is_id;
}

int field_compare(const struct field *field, const void *one, const void *other, bool descending)
{
	bool empty = field_is_empty(field, one);
	uint64_t a, b;
	double x, y;
	int order = empty - field_is_empty(field, other);

	if (order || empty)
		return order;
	switch (field->type) {
	case FIELD_TEXT:
	case FIELD_PATH:
	case FIELD_WORD:
		order = strcmp(field_text(field, one), field_text(field, other));
		break;
	case FIELD_RATE:
		x = (double)(int64_t)field_number(field, one);
		y = (double)(int64_t)field_number(field, other);
		order = (x > y) - (x < y);
		break;
	case FIELD_PERCENT:
		x = *(const double *)(const void *)((const char *)one + field->offset);
		y = *(const double *)(const void *)((const char *)other + field->offset);
		order = (x > y) - (x < y);
		break;
	default:
		a = field_number(field, one);
		b = field_number(field, other);
		order = (a > b) - (a < b);
		break;
	}
	return descending ? -order : order;
}
