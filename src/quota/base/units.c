/* SPDX-License-Identifier: Apache-2.0 */
#include "units.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As strtoll(3) with base 0; in newer C libraries that also knows binary numbers, "0b1". */
static int base_of(const char *text)
{
	text += text[0] == '+' || text[0] == '-';
	if (text[0] != '0')
		return 10;
	return tolower((unsigned char)text[1]) == 'x' ? 16 : 8;
}

/* Parse a number without a sign. @end is set behind it. */
static int parse_number(const char *text, uint64_t *number, char **end)
{
	long long value;

	if (isspace((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	value = strtoll(text, end, base_of(text));
	if (*end == text || value < 0)
		return -EINVAL;
	if (errno == ERANGE)
		return -ERANGE;
	*number = (uint64_t)value;
	return 0;
}

/* @return   the number, or -1 */
static int shift_of_suffix(char suffix)
{
	static const char letters[] = "sbkmgtpe";
	static const int shifts[] = { 9, 12, 10, 20, 30, 40, 50, 60 };
	const char *letter = strchr(letters, tolower((unsigned char)suffix));

	return letter ? shifts[letter - letters] : -1;
}

int fsq_parse_size(const char *text, uint64_t *bytes)
{
	uint64_t number;
	int shift = 0;
	char *end;
	int rc = parse_number(text, &number, &end);

	if (rc)
		return rc;
	if (*end) {
		shift = shift_of_suffix(*end);
		if (shift < 0 || end[1])
			return -EINVAL;
	}
	if (__builtin_mul_overflow(number, 1ULL << shift, bytes) || *bytes > INT64_MAX)
		return -ERANGE;
	return 0;
}

/* The largest limit that does not mean "none". */
#define LARGEST_LIMIT ((FSQ_UNLIMITED_BLOCKS - 1) * FSQ_BASIC_BLOCK)

static int parse_decimal(const char *text, uint64_t *number, const char **end)
{
	char *stop;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	*number = strtoull(text, &stop, 10);
	*end = stop;
	if (errno || *number > INT64_MAX)
		return -ERANGE;
	return *number ? 0 : -EINVAL;
}

/* The digits behind the point, as bytes of a unit of at most 2^60. */
static uint64_t part_of_unit(const char *digits, const char *end, uint64_t unit)
{
	uint64_t part = 0;

	while (end > digits)
		part = ((uint64_t)(*--end - '0') * unit + part) / 10;
	return part;
}

int fsq_parse_bytes(const char *text, uint64_t *bytes)
{
	if (!text || !bytes)
		return -EINVAL;

	static const char letters[] = "kmgtpe";
	const char *end, *letter, *digits = NULL, *digits_end = NULL;
	uint64_t number, unit;
	int rc = parse_decimal(text, &number, &end);

	/* 0.5G */
	if (rc == -EINVAL && text[0] == '0' && text[1] == '.') {
		rc = 0;
		number = 0;
		end = text + 1;
	}
	if (rc)
		return rc;
	if (*end == '.') {
		digits = end + 1;
		end = digits_end = digits + strspn(digits, "0123456789");
		if (digits == end || !*end)
			return -EINVAL;
	}
	*bytes = number;
	if (!*end)
		return number > LARGEST_LIMIT ? -ERANGE : 0;
	letter = strchr(letters, tolower((unsigned char)*end));
	if (!letter || (end[1] && strcmp(end + 1, "i") != 0 && strcmp(end + 1, "iB") != 0))
		return -EINVAL;
	unit = 1ULL << (10 * (letter - letters + 1));
	if (__builtin_mul_overflow(number, unit, bytes) ||
	    __builtin_add_overflow(*bytes, part_of_unit(digits, digits_end, unit), bytes) ||
	    *bytes > LARGEST_LIMIT)
		return -ERANGE;
	return *bytes ? 0 : -EINVAL;
}

int fsq_parse_positive(const char *text, uint64_t *number)
{
	if (!text || !number)
		return -EINVAL;

	const char *end;
	int rc = parse_decimal(text, number, &end);

	if (rc)
		return rc;
	return *end ? -EINVAL : 0;
}

int fsq_parse_count(const char *text, uint64_t *count)
{
	char *end;
	int rc = parse_number(text, count, &end);

	if (rc)
		return rc;
	return *end ? -EINVAL : 0;
}

int fsq_parse_duration(const char *text, uint64_t *seconds)
{
	static const struct {
		const char *name;
		uint32_t seconds;
	} units[] = {
		{ "", 1 },
		{ "m", 60 },
		{ "minute", 60 },
		{ "minutes", 60 },
		{ "h", 3600 },
		{ "hour", 3600 },
		{ "hours", 3600 },
		{ "d", 86400 },
		{ "day", 86400 },
		{ "days", 86400 },
		{ "w", 7 * 86400 },
		{ "week", 7 * 86400 },
		{ "weeks", 7 * 86400 },
	};
	uint64_t number;
	char *end;
	int rc = parse_number(text, &number, &end);

	if (rc)
		return rc;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(end, units[i].name) == 0)
			return __builtin_mul_overflow(number, units[i].seconds, seconds) ? -ERANGE
											 : 0;
	return -EINVAL;
}

int fsq_parse_id(const char *text, uint32_t *id)
{
	if (!text || !id)
		return -EINVAL;

	const char *digit = text[0] == '+' || text[0] == '-' ? text + 1 : text;
	uint64_t value = 0;

	if (!isdigit((unsigned char)*digit))
		return -EINVAL;
	/* Lists have many numbers, for which strtoull(3) would be slow. */
	for (; isdigit((unsigned char)*digit); digit++)
		if (value <= FSQ_ID_MAX)
			value = 10 * value + (uint64_t)(*digit - '0');
	if (*digit)
		return -EINVAL;
	if (text[0] == '-' || value > FSQ_ID_MAX)
		return -ERANGE;
	*id = (uint32_t)value;
	return 0;
}

int fsq_parse_id_range(const char *text, struct fsq_id_range *range)
{
	const char *dash = strchr(text, '-');
	char first[16];

	if (!dash || (size_t)(dash - text) >= sizeof(first) ||
	    strspn(text, "0123456789-") < strlen(text))
		return -EINVAL;
	snprintf(first, sizeof(first), "%.*s", (int)(dash - text), text);
	if (fsq_parse_id(first, &range->first) || fsq_parse_id(dash + 1, &range->last) ||
	    range->first == 0 || range->last < range->first)
		return -EINVAL;
	return 0;
}

int fsq_parse_listed_id(const char *text, size_t length, uint32_t *id)
{
	char number[32];

	while (length > 0 && isblank((unsigned char)text[0]))
		text++, length--;
	while (length > 0 && isblank((unsigned char)text[length - 1]))
		length--;
	if (length >= sizeof(number))
		return -EINVAL;
	memcpy(number, text, length);
	number[length] = '\0';
	return fsq_parse_id(number, id);
}

uint64_t fsq_limit_blocks(uint64_t bytes)
{
	uint64_t blocks = bytes / FSQ_BASIC_BLOCK;

	return blocks == 0 && bytes > 0 ? 1 : blocks;
}

uint64_t fsq_limit_blocks_up(uint64_t bytes)
{
	return bytes / FSQ_BASIC_BLOCK + (bytes % FSQ_BASIC_BLOCK > 0);
}

#define BYTES_UNLIMITED ((1ULL << 58) - 1)
#define BYTES_XFS_UNLIMITED ((uint64_t)INT64_MAX)

uint64_t fsq_limit_bytes(uint64_t blocks)
{
	if (blocks == FSQ_UNLIMITED_BLOCKS || blocks == FSQ_UNLIMITED_BLOCKS + 1)
		return BYTES_UNLIMITED;
	if (blocks == FSQ_XFS_UNLIMITED_BLOCKS || blocks == FSQ_XFS_UNLIMITED_BLOCKS + 1)
		return BYTES_XFS_UNLIMITED;
	return blocks > FSQ_XFS_UNLIMITED_BLOCKS ? UINT64_MAX : blocks * FSQ_BASIC_BLOCK;
}

uint64_t fsq_block_bytes(uint64_t blocks)
{
	return blocks > UINT64_MAX / FSQ_BASIC_BLOCK ? UINT64_MAX : blocks * FSQ_BASIC_BLOCK;
}

bool fsq_limit_is_none(uint64_t limit)
{
	return limit == 0 || limit >= FSQ_UNLIMITED_BLOCKS;
}

bool fsq_limit_is_lost(uint64_t bytes)
{
	return bytes > LARGEST_LIMIT + FSQ_BASIC_BLOCK - 1 && bytes != BYTES_UNLIMITED &&
	       bytes != BYTES_XFS_UNLIMITED;
}

const char *fsq_size_text(char text[FSQ_SIZE_TEXT], uint64_t blocks)
{
	uint64_t bytes = fsq_block_bytes(blocks), unit = 1;
	const char *letter = "BKMGTPE";

	while (bytes / unit >= 1024 && letter[1]) {
		unit *= 1024;
		letter++;
	}
	snprintf(text, FSQ_SIZE_TEXT, "%.4g%c (%" PRIu64 " bytes)", (double)bytes / (double)unit,
		 *letter, bytes);
	return text;
}
