/* SPDX-License-Identifier: Apache-2.0 */
#include "project_line.h"

#include <ctype.h>
#include <endian.h>
#include <limits.h>
#include <string.h>

#include "quota/base/units.h"
#include "shared/read_file.h"

/*
 * What atoi(3) and the like read from a field: its first number, whatever surrounds it. Other programs may
 * take it for an ID, so the ID is not free.
 *
 * @plain    set to the length of the number if the field begins with it, or else to 0
 */
static bool find_number(const char *text, size_t length, uint32_t *id, size_t *plain)
{
	const char *at = text, *end = text + length, *first;
	uint64_t number = 0;

	while (at < end && !isdigit((unsigned char)*at))
		at++;
	first = at;
	for (; at < end && isdigit((unsigned char)*at) && number <= FSQ_ID_MAX; at++)
		number = 10 * number + (uint64_t)(*at - '0');
	*plain = first == text ? (size_t)(at - first) : 0;
	*id = (uint32_t)number;
	return at > first && number <= FSQ_ID_MAX;
}

static bool is_number(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!isdigit((unsigned char)text[i]))
			return false;
	return length > 0;
}

void fsq_project_line_fill(char *text, size_t length)
{
	memset(text, FSQ_LINE_OFF, length);
	if (length >= strlen(FSQ_LINE_FILL))
		memcpy(text, FSQ_LINE_FILL, strlen(FSQ_LINE_FILL));
}

/* Is this a retired line: filler, or an entry with a mark in place of its colon? @text has no colon. */
static bool is_retired(enum fsq_project_file file, const char *text, size_t length)
{
	const char *mark;

	if (length >= strlen(FSQ_LINE_FILL) &&
	    memcmp(text, FSQ_LINE_FILL, strlen(FSQ_LINE_FILL)) == 0) {
		for (size_t i = strlen(FSQ_LINE_FILL); i < length; i++)
			if (text[i] != FSQ_LINE_OFF)
				return false;
		return true;
	}
	if (file == FSQ_PROJECTS) {
		mark = memchr(text, FSQ_LINE_OFF, length);
		return mark && is_number(text, (size_t)(mark - text)) && mark + 1 < text + length &&
		       mark[1] == '/';
	}
	mark = memrchr(text, FSQ_LINE_OFF, length);
	return mark && mark > text && is_number(mark + 1, (size_t)(text + length - mark - 1));
}

/* A number of eight bytes that are all 1: times a byte it is that byte eight times. */
#define EACH UINT64_C(0x0101010101010101)

/* Also where the compiler is to save space. */
#define FAST static inline __attribute__((always_inline))

/* Compared at once. */
typedef unsigned char bytes_t __attribute__((vector_size(16)));
typedef uint64_t halves_t __attribute__((vector_size(16)));

/*
 * Eight digits at once: neighbours become numbers of two digits, those of four, and these the whole.
 *
 * @digits   their values, the first in the lowest byte
 */
FAST uint32_t join_digits(uint64_t digits)
{
	digits = (digits * 10 + (digits >> 8)) & 0x00ff00ff00ff00ff;
	digits = (digits * 100 + (digits >> 16)) & 0x0000ffff0000ffff;
	return (uint32_t)(digits * 10000 + (digits >> 32));
}

/*
 * The number of one to eight digits at the begin of eight bytes.
 *
 * @return   of how many digits it is; 0: it is none, or zero
 */
FAST size_t read_digits(const char *text, uint32_t *id)
{
	uint64_t values, other;
	size_t count = sizeof(values);

	memcpy(&values, text, sizeof(values));
	values = le64toh(values) ^ '0' * EACH;
	/* The highest bit of each byte that is no digit. */
	other = (values | (values + 0x76 * EACH)) & 0x80 * EACH;
	if (other)
		count = (size_t)__builtin_ctzll(other) / 8;
	if (count == 0)
		return 0;
	values <<= 8 * (sizeof(values) - count);
	*id = join_digits(values);
	return values ? count : 0;
}

/* As memchr(3), for the first control character or @other, but it may miss one in the last bytes. */
FAST const char *find_end(const char *text, const char *end, unsigned char other)
{
	for (; end - text >= (ptrdiff_t)sizeof(bytes_t); text += sizeof(bytes_t)) {
		bytes_t bytes;
		halves_t found;

		memcpy(&bytes, text, sizeof(bytes));
		found = (halves_t)((bytes < ' ') | (bytes == other));
		if (found[0])
			return text + __builtin_ctzll(le64toh(found[0])) / 8;
		if (found[1])
			return text + sizeof(found[0]) + __builtin_ctzll(le64toh(found[1])) / 8;
	}
	return NULL;
}

size_t fsq_project_line_parse_plain(enum fsq_project_file file, const char *text, const char *end,
				    struct fsq_project_line *line)
{
	const ptrdiff_t eight = sizeof(uint64_t);
	const char *behind;
	size_t digits;

	if (file == FSQ_PROJECTS) {
		digits = end - text > eight ? read_digits(text, &line->id) : 0;
		if (digits == 0 || text[digits] != ':')
			return 0;
		line->word = (uint32_t)digits + 1;
		behind = find_end(text + line->word, end, '\n');
		if (!behind || *behind != '\n' || behind[-1] == '/')
			return 0;
		line->length = (uint32_t)(behind - text) - line->word;
		if (line->length >= PATH_MAX)
			return 0;
	} else {
		const char *colon = find_end(text, end, ':');

		if (!colon || *colon != ':' || colon == text || *text == '#' ||
		    end - colon <= eight + 1)
			return 0;
		digits = read_digits(colon + 1, &line->id);
		behind = colon + 1 + digits;
		if (digits == 0 || *behind != '\n')
			return 0;
		line->word = 0;
		line->length = (uint32_t)(colon - text);
	}
	line->kind = FSQ_LINE_ENTRY;
	return (size_t)(behind + 1 - text);
}

void fsq_project_line_parse(enum fsq_project_file file, const char *text, size_t length,
			    struct fsq_project_line *line)
{
	/* A NUL ends the line for programs in C, such as xfs_quota, but not for others. */
	size_t end = strnlen(text, length);
	const char *colon = memchr(text, ':', length), *number = text, *behind;
	size_t left = colon ? (size_t)(colon - text) : length, digits = left, plain;

	*line = (struct fsq_project_line){ .kind = FSQ_LINE_OTHER };
	if (length == 0 || text[0] == '#')
		return;
	if (!colon) {
		if (is_retired(file, text, length))
			line->kind = FSQ_LINE_RETIRED;
		return;
	}
	if (file == FSQ_PROJID) {
		number = colon + 1;
		digits = length - left - 1;
	}
	line->takes_id = find_number(number, digits, &line->taken, &plain);
	if (left >= end)
		return;
	if (file == FSQ_PROJECTS) {
		line->word = (uint32_t)left + 1;
		line->length = (uint32_t)(end - left - 1);
		if (line->length >= PATH_MAX)
			return;
		while (line->length > 1 && text[line->word + line->length - 1] == '/')
			line->length--;
	} else {
		line->length = (uint32_t)left;
		digits = end - left - 1;
		behind = memchr(number, ':', digits);
		if (behind)
			digits = (size_t)(behind - number);
		if (left == 0)
			return;
	}
	/* Lists are long, and most of their numbers are plain digits. */
	if (line->takes_id && plain > 0 && plain == digits)
		line->id = line->taken;
	else if (fsq_parse_listed_id(number, digits, &line->id))
		return;
	line->kind = FSQ_LINE_ENTRY;
}

bool fsq_project_line_is_of_zero(enum fsq_project_file file, const struct fsq_project_line *line)
{
	return file == FSQ_PROJECTS && line->kind == FSQ_LINE_ENTRY && line->id == 0;
}

char *fsq_project_line_next(enum fsq_project_file file, char **rest, char *end,
			    struct fsq_project_line *line)
{
	char *text = fsq_next_line(rest, end);

	/* At the end of the text there may be no newline that was replaced. */
	if (text)
		fsq_project_line_parse(file, text, (size_t)(*rest - text) - ((*rest)[-1] == '\0'),
				       line);
	return text;
}

size_t fsq_project_line_switch(const char *text, size_t length, char *off)
{
	const char *first = memchr(text, ':', length);
	const char *last = memrchr(text, ':', length);

	if (first && first == last) {
		*off = FSQ_LINE_OFF;
		return (size_t)(first - text);
	}
	*off = '#';
	return 0;
}
