/* SPDX-License-Identifier: Apache-2.0 */
#include "dump_line.h"

#include <stdio.h>
#include <string.h>

#include "common/accounts.h"

bool dump_line_type(const char *text, enum fsq_type *type)
{
	size_t length = strlen(DUMP_TYPE);

	if (strncmp(text, DUMP_TYPE, length) != 0)
		return false;
	for (int i = 0; i < FSQ_TYPES; i++) {
		*type = (enum fsq_type)i;
		if (strcmp(text + length, account_types[*type]) == 0)
			return true;
	}
	return false;
}

const char *dump_line_device(const char *text)
{
	size_t length = strlen(DUMP_DEVICE);

	return strncmp(text, DUMP_DEVICE, length) == 0 ? text + length : NULL;
}

bool dump_line_parse(const char *text, struct dump_line *line)
{
	unsigned long long soft[FSQ_FORMS] = { 0 }, hard[FSQ_FORMS] = { 0 };
	int count = sscanf(text, "%u %llu %llu %llu %llu %llu %llu", &line->id, &soft[FSQ_BLOCKS],
			   &hard[FSQ_BLOCKS], &soft[FSQ_INODES], &hard[FSQ_INODES],
			   &soft[FSQ_REALTIME], &hard[FSQ_REALTIME]);

	if (count != 5 && count != 7)
		return false;
	line->limits = (struct fsq_limits){ 0 };
	for (int form = 0; form < (count == 7 ? FSQ_FORMS : FSQ_REALTIME); form++) {
		line->limits.mask |= FSQ_SOFT(form) | FSQ_HARD(form);
		line->limits.soft[form] = soft[form];
		line->limits.hard[form] = hard[form];
	}
	return true;
}

bool dump_line_is_strict(const char *text)
{
	char word[32];
	uint32_t id;
	int length, words;

	if (strpbrk(text, "\r\v\f"))
		return false;
	for (words = 0; sscanf(text, " %31s%n", word, &length) == 1; words++) {
		/* 20 digits may not fit. */
		if (strspn(word, "0123456789") != strlen(word) || strlen(word) > 19)
			return false;
		if (words == 0 && fsq_parse_id(word, &id))
			return false;
		text += length;
	}
	return words <= 1 + 2 * FSQ_FORMS;
}
