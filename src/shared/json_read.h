/* SPDX-License-Identifier: Apache-2.0 */
/* Read JSON value by value, in place: it needs no memory but the text. */
#ifndef FSQ_JSON_READ_H
#define FSQ_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>

/* Texts that nest deeper are refused. */
#define JSON_DEPTH_MAX 64

/* A value that is visited: a string, number, true, false or null; or a nested array or object, if it is empty. */
struct json_value {
	const char *const *keys; /* that lead to it, from the outermost; NULL for an array */
	size_t depth;		 /* how many keys */
	char *text; /* of a string valid after the visit, too, as long as the text that was read */
	bool is_string;
};

/** @return  whether to continue */
typedef bool (*json_visitor)(const struct json_value *value, void *arg);

/**
 * Read a text, and visit its values in their order.
 *
 * @text     ends with a NUL; modified. A string that contains \u0000 is refused
 * @return   false: the text is not JSON, or the visitor returned false
 * Source: RFC 8259
 */
bool json_read(char *text, json_visitor visit, void *arg);

#endif
