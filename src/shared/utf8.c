/* SPDX-License-Identifier: Apache-2.0 */
#include "utf8.h"

#include <stdint.h>

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
