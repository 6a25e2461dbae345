/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <stdio.h>
#include <string.h>

#include "shared/utf8.h"

void json_start(struct json *json, struct writer *writer)
{
	*json = (struct json){ .writer = writer, .first = true };
}

/* There is a NUL behind the text, so no sequence goes beyond it. */
static void write_quoted_bytes(struct writer *writer, const char *value, size_t size)
{
	const char *at = value, *end = value + size;

	write_char(writer, '"');
	while (at < end) {
		size_t length = utf8_length(at);
		char escape[8];

		if (length == 0) {
			write_text(writer, UTF8_REPLACEMENT);
			length = 1;
		} else if (*at == '"' || *at == '\\') {
			write_char(writer, '\\');
			write_char(writer, *at);
		} else if (*at == '\n') {
			write_text(writer, "\\n");
		} else if ((unsigned char)*at < 0x20 || *at == 0x7f) {
			snprintf(escape, sizeof(escape), "\\u%04x", (unsigned char)*at);
			write_text(writer, escape);
		} else {
			for (size_t i = 0; i < length; i++)
				write_char(writer, at[i]);
		}
		at += length;
	}
	write_char(writer, '"');
}

static void write_quoted(struct writer *writer, const char *value)
{
	write_quoted_bytes(writer, value, strlen(value));
}

static void begin_value(struct json *json, const char *key)
{
	if (!json->first)
		write_char(json->writer, ',');
	json->first = false;
	if (key) {
		write_quoted(json->writer, key);
		write_text(json->writer, ":");
	}
}

void json_open(struct json *json, const char *key, char bracket)
{
	begin_value(json, key);
	write_char(json->writer, bracket);
	json->first = true;
}

void json_close(struct json *json, char bracket)
{
	write_char(json->writer, bracket);
	json->first = false;
}

void json_end(struct json *json)
{
	write_char(json->writer, '\n');
}

void json_string(struct json *json, const char *key, const char *value)
{
	begin_value(json, key);
	if (value)
		write_quoted(json->writer, value);
	else
		write_text(json->writer, "null");
}

void json_text(struct json *json, const char *key, const char *text, size_t length)
{
	begin_value(json, key);
	write_quoted_bytes(json->writer, text, length);
}

void json_number(struct json *json, const char *key, uint64_t value)
{
	begin_value(json, key);
	write_number(json->writer, value);
}

void json_bool(struct json *json, const char *key, bool value)
{
	begin_value(json, key);
	write_text(json->writer, value ? "true" : "false");
}

void json_null(struct json *json, const char *key)
{
	begin_value(json, key);
	write_text(json->writer, "null");
}

void json_change(struct json *json, enum row_change change, bool would)
{
	const char *key = would ? "would_change" : "changed";

	if (change == ROW_CHANGE_UNKNOWN)
		json_null(json, key);
	else if (change != ROW_ONLY_SHOWN)
		json_bool(json, key, change == ROW_CHANGED);
}

void json_decimal(struct json *json, const char *key, double value)
{
	char text[64];

	snprintf(text, sizeof(text), "%.1f", value);
	begin_value(json, key);
	write_text(json->writer, text);
}
