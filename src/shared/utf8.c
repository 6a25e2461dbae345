/* SPDX-License-Identifier: Apache-2.0 */
#include "utf8.h"

#include <stdint.h>

/* The characters of which the bit is set, in four words from \0 on. */
static const uint64_t plain[4] = {
	/* From the blank on, without " and $. */
	~0ULL << 32 & ~(1ULL << '"' | 1ULL << '$'),
	/* Without backslash, backquote and DEL. */
	~(1ULL << ('\\' - 64) | 1ULL << ('`' - 64) | 1ULL << 63),
	0,
	0,
};

const char *utf8_plain_end(const char *text, const char *end)
{
	for (; text < end; text++) {
		unsigned char c = (unsigned char)*text;

		if (!(plain[c >> 6] >> (c & 63) & 1))
			break;
	}
	return text;
}

size_t utf8_length(const char *bytes)
{
	const unsigned char *text = (const unsigned char *)bytes;
	uint32_t point;
	size_t length;

	if (text[0] < 0x80)
		return 1;
	length = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
	if (text[0] < 0xc2 || text[0] > 0xf4)
		return 0;
	point = text[0] & (0xffU >> (length + 1));
	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		point = point << 6 | (text[i] & 0x3f);
	}
	if ((length == 3 && point < 0x800) || (length == 4 && point < 0x10000) ||
	    point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
		return 0;
	return length;
}
