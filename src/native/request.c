/* SPDX-License-Identifier: Apache-2.0 */
#include "request.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shared/array.h"

static const char *add_word(struct request *request, char *word)
{
	return array_add(&request->words, &request->count, &request->capacity, &word, sizeof(word))
		       ? NULL
		       : "out of memory";
}

/* Words between blanks, none of which can need quoting. */
static const char *parse_words(struct request *request, char *line)
{
	char *rest = NULL;

	if (line[strcspn(line, "'\"\\")])
		return "a word that has to be quoted takes a JSON array";
	for (char *word = strtok_r(line, " \t\r", &rest); word;
	     word = strtok_r(NULL, " \t\r", &rest)) {
		const char *why = add_word(request, word);

		if (why)
			return why;
	}
	return NULL;
}

static char *skip_space(char *at)
{
	return at + strspn(at, " \t\r\n");
}

/* Four hexadecimal digits. */
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

/* Behind \u; characters beyond 16 bits are two units. A NUL ends every name. */
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

/* A string is never longer than what stands for it. @return  behind it, or NULL */
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

static const char *parse_array(struct request *request, char *at)
{
	static const char wrong[] = "this is no array of strings in JSON";
	const char *why;
	char *word;

	at = skip_space(at + 1);
	while (*at != ']') {
		at = *at == '"' ? take_string(at, &word) : NULL;
		if (!at)
			return wrong;
		why = add_word(request, word);
		if (why)
			return why;
		at = skip_space(at);
		if (*at == ']')
			break;
		if (*at != ',')
			return wrong;
		at = skip_space(at + 1);
		if (*at == ']')
			return wrong;
	}
	return *skip_space(at + 1) ? wrong : NULL;
}

const char *request_parse(struct request *request, char *line, size_t length)
{
	const char *why;

	request->count = 0;
	if (memchr(line, '\0', length))
		return "there is a NUL in it";
	line = skip_space(line);
	why = *line == '[' ? parse_array(request, line) : parse_words(request, line);
	if (why)
		return why;
	why = add_word(request, NULL);
	request->count--;
	return why;
}

void request_clear(struct request *request)
{
	free(request->words);
	*request = (struct request){ 0 };
}
