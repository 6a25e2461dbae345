/* SPDX-License-Identifier: Apache-2.0 */
#include "request.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "shared/array.h"
#include "shared/json_read.h"

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

struct array {
	struct request *request;
	const char *why;
};

static bool add_string(const struct json_value *value, void *arg)
{
	struct array *array = arg;

	/* An element of the array, and of no other in it. */
	if (value->depth != 1 || value->keys[0] || !value->is_string)
		return false;
	array->why = add_word(array->request, value->text);
	return !array->why;
}

static const char *parse_array(struct request *request, char *line)
{
	struct array array = { .request = request };

	if (json_read(line, add_string, &array))
		return NULL;
	return array.why ? array.why : "this is no array of strings in JSON";
}

const char *request_parse(struct request *request, char *line, size_t length)
{
	const char *why;

	request->count = 0;
	if (memchr(line, '\0', length))
		return "there is a NUL in it";
	line += strspn(line, " \t\r\n");
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
