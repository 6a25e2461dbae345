/* SPDX-License-Identifier: Apache-2.0 */
#include "project_line.h"

#include <ctype.h>
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
		line->word = left + 1;
		line->length = end - line->word;
		if (line->length >= PATH_MAX)
			return;
		while (line->length > 1 && text[line->word + line->length - 1] == '/')
			line->length--;
	} else {
		line->length = left;
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
