/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include "shared/utf8.h"

void json_start(struct json *json, struct writer *writer)
{
	*json = (struct json){ .writer = writer, .first = true };
}

/* @end      end of the text; a NUL there stops UTF-8 sequences. NULL: the text ends at its first NUL */
static void write_quoted(struct writer *writer, const char *at, const char *end)
{
	const char *plain;

	write_char(writer, '"');
	for (;;) {
		uint32_t point;
		size_t length;

		plain = at;
		at = text_plain_end(at, TEXT_QUOTED);
		write_bytes(writer, plain, (size_t)(at - plain));
		if (at == end || (!end && *at == '\0'))
			break;
		length = fsq_utf8_length(at, &point);
		if (length == 0) {
			write_text(writer, UTF8_REPLACEMENT);
			length = 1;
		} else if (*at == '"' || *at == '\\') {
			write_char(writer, '\\');
			write_char(writer, *at);
		} else if (*at == '\n') {
			write_text(writer, "\\n");
		} else if (fsq_utf8_printable(at)) {
			write_bytes(writer, at, length);
		} else if (point > 0xffff) {
			write_format(writer, "\\u%04x\\u%04x", 0xd7c0 + (point >> 10),
				     0xdc00 + (point & 0x3ff));
		} else {
			write_format(writer, "\\u%04x", point);
		}
		at += length;
	}
	write_char(writer, '"');
}

void json_quote(struct writer *writer, const char *text)
{
	write_quoted(writer, text, NULL);
}

/* Write the comma and the key. Keys are constants that need no escape. */
static void begin_value(struct json *json, const char *key)
{
	if (!json->first)
		write_char(json->writer, ',');
	if (key) {
		write_char(json->writer, '"');
		write_text(json->writer, key);
		write_text(json->writer, "\":");
	}
	json->first = false;
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
		write_quoted(json->writer, value, NULL);
	else
		write_text(json->writer, "null");
}

void json_text(struct json *json, const char *key, const char *text, size_t length)
{
	begin_value(json, key);
	write_quoted(json->writer, text, text + length);
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
