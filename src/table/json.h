/* SPDX-License-Identifier: Apache-2.0 */
/* A streaming JSON writer: it writes each value at once, so memory does not grow with the rows. */
#ifndef FSQ_JSON_H
#define FSQ_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "shared/writer.h"

struct json {
	struct writer *writer;
	bool first; /* the innermost object or array is still empty */
};

void json_start(struct json *json, struct writer *writer);

/** Open an object ('{') or array ('['); @key is NULL in an array and at the top. */
void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json, char bracket);

/** End the document with a newline. */
void json_end(struct json *json);

/** A string, or null; bytes that are no UTF-8 are replaced by U+FFFD. */
void json_string(struct json *json, const char *key, const char *value);
/** A string of @length bytes, which may hold NULs. */
void json_text(struct json *json, const char *key, const char *text, size_t length);
void json_number(struct json *json, const char *key, uint64_t value);
void json_bool(struct json *json, const char *key, bool value);

/** Write a text as a JSON string, without a comma or key before it. */
void json_quote(struct writer *writer, const char *text);

#endif
