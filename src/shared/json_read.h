/* SPDX-License-Identifier: Apache-2.0 */
/* A reader of JSON, value by value, which needs no memory but the text. */
#ifndef FSQ_JSON_READ_H
#define FSQ_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>

/* Deeper texts are refused. */
#define JSON_DEPTH_MAX 64

/* A string, number, true, false or null, or an array or object in another one that is empty; and where it is. */
struct json_value {
	const char *const
		*keys; /* of the objects around it, from the outermost; NULL: it is in an array */
	size_t depth;  /* how many */
	char *text;    /* stays as long as the text that was read, if it is a string */
	bool is_string;
};

/** @return  whether to go on */
typedef bool (*json_visitor)(const struct json_value *value, void *arg);

/**
 * Read a text, and visit its values in their order.
 *
 * @text     which ends with a NUL; it is changed. A string with a NUL in it is refused
 * @return   true; false it is no JSON, or the visitor does not go on
 * Source: RFC 8259
 */
bool json_read(char *text, json_visitor visit, void *arg);

#endif
