/* SPDX-License-Identifier: Apache-2.0 */
#include "field.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static uint64_t number_of(const struct field *field, const void *row)
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

static const char *text_of(const struct field *field, const void *row)
{
	const char *text;

	if (field->type == FIELD_WORD)
		return field->words[number_of(field, row)];
	memcpy(&text, (const char *)row + field->offset, sizeof(text));
	return text;
}

static double percent_of(const struct field *field, const void *row)
{
	double percent;

	memcpy(&percent, (const char *)row + field->offset, sizeof(percent));
	return percent;
}

bool field_is_empty(const struct field *field, const void *row)
{
	switch (field->type) {
	case FIELD_TEXT:
	case FIELD_PATH:
	case FIELD_TEXTS:
	case FIELD_WORD:
	case FIELD_ROW:
		return !text_of(field, row);
	case FIELD_ID_OR_NONE:
	case FIELD_COUNT_LIMIT:
	case FIELD_BYTES_LIMIT:
		return number_of(field, row) == 0;
	case FIELD_COUNT:
	case FIELD_BYTES:
		return number_of(field, row) == FIELD_NOT_KNOWN;
	case FIELD_SECONDS:
		return (int64_t)number_of(field, row) == FIELD_NO_SECONDS;
	case FIELD_RATE:
		return (int64_t)number_of(field, row) == FIELD_NO_RATE;
	case FIELD_PERCENT:
		return percent_of(field, row) < 0;
	case FIELD_CHANGE:
		return number_of(field, row) == ROW_CHANGE_UNKNOWN ||
		       number_of(field, row) == ROW_ONLY_SHOWN;
	default:
		return false;
	}
}

/* --- cells. snprintf(3) would cost more than all else of a row. --- */

/* @return   behind the last digit */
static char *put_number(char *at, uint64_t number)
{
	char digits[20], *first = digits + sizeof(digits);

	do
		*--first = (char)('0' + number % 10);
	while (number /= 10);
	return mempcpy(at, first, (size_t)(digits + sizeof(digits) - first));
}

static const char *number_cell(char *cell, uint64_t number)
{
	*put_number(cell, number) = '\0';
	return cell;
}

const char *field_size(char cell[FIELD_CELL], uint64_t bytes)
{
	static const char letters[] = "BKMGTPE";
	unsigned int power = 0;
	uint64_t tenths;
	char *at;

	while (power < 6 && bytes >> (10 * (power + 1)))
		power++;
	tenths = power ? ((bytes >> (10 * (power - 1))) * 10 + 512) / 1024 : bytes * 10;
	if (tenths >= 10240 && power < 6) {
		tenths = 10;
		power++;
	}
	if (tenths % 10 && tenths < 1000) {
		at = put_number(cell, tenths / 10);
		*at++ = '.';
		*at++ = (char)('0' + tenths % 10);
	} else {
		at = put_number(cell, (tenths + 5) / 10);
	}
	*at++ = letters[power];
	*at = '\0';
	return cell;
}

/* With its sign: +1.5M, -3K. */
static const char *rate_cell(char *cell, int64_t rate, bool exact)
{
	uint64_t bytes = rate < 0 ? -(uint64_t)rate : (uint64_t)rate;

	*cell = rate < 0 ? '-' : '+';
	if (exact) {
		number_cell(cell + 1, bytes);
		return rate < 0 ? cell : cell + 1;
	}
	field_size(cell + 1, bytes);
	return rate ? cell : cell + 1;
}

/* The two largest units: 6d23h, 5m10s. */
const char *field_duration(char cell[FIELD_CELL], uint64_t seconds)
{
	static const struct {
		uint64_t seconds;
		char letter;
	} units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' } };
	size_t i = 0;
	uint64_t rest;
	char *at;

	if (seconds == 0)
		return "expired";
	while (seconds < units[i].seconds)
		i++;
	at = put_number(cell, seconds / units[i].seconds);
	*at++ = units[i].letter;
	rest = i < 3 ? seconds % units[i].seconds / units[i + 1].seconds : 0;
	if (rest) {
		at = put_number(at, rest);
		*at++ = units[i + 1].letter;
	}
	*at = '\0';
	return cell;
}

/*
 * Round a value to a number.
 * @return   false where only printf(3) can: near a tie, and for large ones, which are rare
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

const char *field_decimal(char cell[FIELD_CELL], double value)
{
	uint64_t tenths;
	char *at;

	if (!round_value(value * 10, &tenths)) {
		snprintf(cell, FIELD_CELL, "%.1f", value);
		return cell;
	}
	at = put_number(cell, tenths / 10);
	*at++ = '.';
	*at++ = (char)('0' + tenths % 10);
	*at = '\0';
	return cell;
}

static const char *percent_cell(char *cell, double percent)
{
	uint64_t whole;
	char *at;

	if (!round_value(percent, &whole)) {
		snprintf(cell, FIELD_CELL, "%.0f%%", percent);
		return cell;
	}
	at = put_number(cell, whole);
	*at++ = '%';
	*at = '\0';
	return cell;
}

const char *field_time(char cell[FIELD_CELL], int64_t milliseconds)
{
	time_t seconds = (time_t)(milliseconds / 1000);
	struct tm tm = { 0 };
	size_t length;

	gmtime_r(&seconds, &tm);
	length = strftime(cell, FIELD_CELL, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(cell + length, FIELD_CELL - length, ".%03dZ", (int)(milliseconds % 1000));
	return cell;
}

static const char *cell_of(const struct field *field, const void *row, bool exact, char *cell)
{
	switch (field->type) {
	case FIELD_TEXT:
	case FIELD_PATH:
	case FIELD_WORD:
		return text_of(field, row);
	case FIELD_BOOL:
		return number_of(field, row) ? "yes" : "no";
	case FIELD_CHANGE:
		return number_of(field, row) == ROW_CHANGED ? "yes" : "no";
	case FIELD_PERCENT:
		return percent_cell(cell, percent_of(field, row));
	case FIELD_TIME:
		return field_time(cell, (int64_t)number_of(field, row));
	case FIELD_SECONDS:
		return exact ? number_cell(cell, number_of(field, row))
			     : field_duration(cell, number_of(field, row));
	case FIELD_RATE:
		return rate_cell(cell, (int64_t)number_of(field, row), exact);
	case FIELD_BYTES:
	case FIELD_BYTES_LIMIT:
		return exact ? number_cell(cell, number_of(field, row))
			     : field_size(cell, number_of(field, row));
	default:
		return number_cell(cell, number_of(field, row));
	}
}

const char *field_cell(const struct field *field, const void *row, bool exact,
		       char cell[FIELD_CELL])
{
	if (field_is_empty(field, row))
		return field->type == FIELD_PATH ? "-" : NULL;
	if (!field->at_least || !*((const bool *)row + field->at_least))
		return cell_of(field, row, exact, cell);
	memcpy(cell, ">=", 2);
	cell_of(field, row, exact, cell + 2);
	return cell;
}

bool field_is_text(const struct field *field)
{
	switch (field->type) {
	case FIELD_TEXT:
	case FIELD_PATH:
	case FIELD_WORD:
	case FIELD_BOOL:
	case FIELD_CHANGE:
	case FIELD_TIME:
		return true;
	default:
		return false;
	}
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
		order = strcmp(text_of(field, one), text_of(field, other));
		break;
	case FIELD_RATE:
		x = (double)(int64_t)number_of(field, one);
		y = (double)(int64_t)number_of(field, other);
		order = (x > y) - (x < y);
		break;
	case FIELD_PERCENT:
		x = percent_of(field, one);
		y = percent_of(field, other);
		order = (x > y) - (x < y);
		break;
	default:
		a = number_of(field, one);
		b = number_of(field, other);
		order = (a > b) - (a < b);
		break;
	}
	return descending ? -order : order;
}
