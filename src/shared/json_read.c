/* SPDX-License-Identifier: Apache-2.0 */
#include "json_read.h"

#include <stdint.h>
#include <string.h>

struct reader {
	json_visitor visit;
	void *arg;
	const char *keys[JSON_DEPTH_MAX];
};

static char *skip_space(char *at)
{
	return at + strspn(at, " \t\r\n");
}

/* Parse four hexadecimal digits. */
static bool take_unit(char **from, uint32_t *unit)
{
	*unit = 0;
	for (int i = 0; i < 4; i++) {
		static const char digits[] = "0123456789abcdefABCDEF";
		const char *digit = **from ? strchr(digits, **from) : NULL;
		uint32_t value;

		if (!digit)
			return false;
		value = (uint32_t)(digit - digits);
		*unit = *unit << 4 | (value < 16 ? value : value - 6);
		(*from)++;
	}
	return true;
}

/* Decode what follows \u to UTF-8; above U+FFFF it is a surrogate pair. Reject U+0000: our strings end at a NUL. */
static bool take_point(char **from, char **to)
{
	static const uint32_t first[] = { 0, 0xc0, 0xe0, 0xf0 };
	uint32_t point, low;
	int more;

	if (!take_unit(from, &point) || point == 0 || (point >= 0xdc00 && point < 0xe000))
		return false;
	if (point >= 0xd800 && point < 0xdc00) {
		if ((*from)[0] != '\\' || (*from)[1] != 'u')
			return false;
		*from += 2;
		if (!take_unit(from, &low) || low < 0xdc00 || low >= 0xe000)
			return false;
		point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
	}
	more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
	*(*to)++ = (char)(first[more] | point >> (6 * more));
	while (more-- > 0)
		*(*to)++ = (char)(0x80 | (point >> (6 * more) & 0x3f));
	return true;
}

/* Decode a string in place: it is never longer than its JSON. @return  what follows the string, or NULL */
static char *take_string(char *from, char **word)
{
	static const char letters[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	char *to = ++from;

	*word = to;
	while (*from != '"') {
		const char *found;

		if ((unsigned char)*from < ' ')
			return NULL;
		if (*from != '\\') {
			*to++ = *from++;
			continue;
		}
		from += 2;
		found = from[-1] ? strchr(letters, from[-1]) : NULL;
		if (from[-1] == 'u' ? !take_point(&from, &to) : !found)
			return NULL;
		if (found)
			*to++ = values[found - letters];
	}
	*to = '\0';
	return from + 1;
}

static bool is_literal(const char *text)
{
	size_t digits;

	if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0 || strcmp(text, "null") == 0)
		return true;
	text += *text == '-';
	digits = strspn(text, "0123456789");
	if (digits == 0 || (text[0] == '0' && digits > 1))
		return false;
	text += digits;
	if (*text == '.') {
		digits = strspn(++text, "0123456789");
		if (digits == 0)
			return false;
		text += digits;
	}
	if (*text == 'e' || *text == 'E') {
		text += 1 + (text[1] == '+' || text[1] == '-');
		if (strspn(text, "0123456789") == 0)
			return false;
		text += strspn(text, "0123456789");
	}
	return *text == '\0';
}

static char *read_value(struct reader *reader, char *at, size_t depth);

/* Read the members of an object or an array. @return  what follows it, or NULL */
static char *read_members(struct reader *reader, char *at, size_t depth)
{
	const struct json_value empty = { .keys = reader->keys, .depth = depth, .text = at };
	char end = *at == '{' ? '}' : ']', *key = NULL;

	if (depth == JSON_DEPTH_MAX)
		return NULL;
	at = skip_space(at + 1);
	if (*at == end)
		return depth == 0 || reader->visit(&empty, reader->arg) ? at + 1 : NULL;
	for (;;) {
		if (end == '}') {
			at = *at == '"' ? take_string(at, &key) : NULL;
			at = at ? skip_space(at) : NULL;
			if (!at || *at != ':')
				return NULL;
			at = skip_space(at + 1);
		}
		reader->keys[depth] = key;
		at = read_value(reader, at, depth + 1);
		at = at ? skip_space(at) : NULL;
		if (at && *at == end)
			return at + 1;
		if (!at || *at != ',')
			return NULL;
		at = skip_space(at + 1);
	}
}

static char *read_value(struct reader *reader, char *at, size_t depth)
{
	struct json_value value = { .keys = reader->keys, .depth = depth, .text = at };
	char *end, next;
	bool good;

	if (*at == '{' || *at == '[')
		return read_members(reader, at, depth);
	if (*at == '"') {
		value.is_string = true;
		end = take_string(at, &value.text);
		return end && reader->visit(&value, reader->arg) ? end : NULL;
	}
	end = at + strspn(at, "+-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
	next = *end;
	*end = '\0';
	good = is_literal(at) && reader->visit(&value, reader->arg);
	*end = next;
	return good ? end : NULL;
}

bool json_read(char *text, json_visitor visit, void *arg)
{
	struct reader reader = { .visit = visit, .arg = arg };
	char *end = read_value(&reader, skip_space(text), 0);

	return end && *skip_space(end) == '\0';
}
