/* SPDX-License-Identifier: Apache-2.0 */
#include "utf8.h"

static const struct {
	uint32_t first, last;
} unprintable[] = {
	{ 0x0, 0x1f },	      /* C0: ESC begins a control sequence */
	{ 0x7f, 0x9f },	      /* DEL, and C1: U+009B is the same as ESC [ */
	{ 0xad, 0xad },	      /* soft hyphen, which is invisible */
	{ 0x61c, 0x61c },     /* Arabic letter mark, a direction mark */
	{ 0x180e, 0x180e },   /* Mongolian vowel separator, of no width */
	{ 0x200b, 0x200f },   /* zero-width space and joiners, direction marks */
	{ 0x2028, 0x202e },   /* line and paragraph separators, bidirectional overrides */
	{ 0x2060, 0x206f },   /* word joiner, invisible operators, bidirectional isolates */
	{ 0xfeff, 0xfeff },   /* byte order mark */
	{ 0xfff9, 0xfffb },   /* interlinear annotation */
	{ 0x1bca0, 0x1bca3 }, /* shorthand format controls */
	{ 0x1d173, 0x1d17a }, /* musical format controls */
	{ 0xe0000, 0xe007f }, /* tags: invisible ASCII */
};

size_t fsq_utf8_length(const char *bytes, uint32_t *point)
{
	const unsigned char *text = (const unsigned char *)bytes;
	uint32_t value = text[0];
	size_t length = 1;

	if (text[0] >= 0x80) {
		length = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
		if (text[0] < 0xc2 || text[0] > 0xf4)
			return 0;
		value &= 0xffU >> (length + 1);
	}
	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (text[i] & 0x3f);
	}
	if ((length == 3 && value < 0x800) || (length == 4 && value < 0x10000) ||
	    value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
		return 0;
	if (point)
		*point = value;
	return length;
}

size_t fsq_utf8_printable(const char *text)
{
	uint32_t point = 0;
	size_t length = fsq_utf8_length(text, &point);

	for (size_t i = 0; i < sizeof(unprintable) / sizeof(unprintable[0]); i++) {
		if (point < unprintable[i].first)
			break;
		if (point <= unprintable[i].last)
			return 0;
	}
	return length;
}
