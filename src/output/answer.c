/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"

#include "json.h"

/* The members of an object, without the newlines between them. */
static void write_members(struct writer *writer, const char *object, size_t length)
{
	const char *end = object + length - 1, *newline;

	while (*end != '}')
		end--;
	for (object++; object < end; object = newline + 1) {
		newline = memchr(object, '\n', (size_t)(end - object));
		if (!newline)
			newline = end;
		write_bytes(writer, object, (size_t)(newline - object));
	}
}

static bool is_error(const char *line, size_t length)
{
	static const char begin[] = "{\"error\":";

	return length > sizeof(begin) && memcmp(line, begin, sizeof(begin) - 1) == 0;
}

/* The first error is the one that the exit code is of; the others and warnings follow. */
static void write_messages(struct writer *writer, const struct text *messages)
{
	const char *line = messages->bytes, *end = line + messages->used, *newline;
	const char *error = NULL;
	bool more = false;

	for (; line < end && !error; line = newline + 1) {
		newline = memchr(line, '\n', (size_t)(end - line));
		if (!is_error(line, (size_t)(newline - line)))
			continue;
		error = line;
		write_char(writer, ',');
		write_members(writer, line, (size_t)(newline - line));
	}
	for (line = messages->bytes; line < end; line = newline + 1) {
		newline = memchr(line, '\n', (size_t)(end - line));
		if (line == error)
			continue;
		write_text(writer, more ? "," : ",\"messages\":[");
		write_bytes(writer, line, (size_t)(newline - line));
		more = true;
	}
	if (more)
		write_char(writer, ']');
}

static void write_output(struct writer *writer, struct json *json, const struct text *output)
{
	if (output->used == 0)
		return;
	if (output->bytes[0] != '{') {
		json_text(json, "output", output->bytes, output->used);
		return;
	}
	write_char(writer, ',');
	write_members(writer, output->bytes, output->used);
}

void print_answer(struct writer *writer, const struct answer_row *row)
{
	struct json json;

	json_start(&json, writer);
	json_open(&json, NULL, '{');
	json_number(&json, "request", row->number);
	json_number(&json, "exit", (uint64_t)row->code);
	if (row->messages->used)
		write_messages(writer, row->messages);
	write_output(writer, &json, row->output);
	json_close(&json, '}');
	json_end(&json);
}
