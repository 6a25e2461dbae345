/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"

#include "table/json.h"

/* The next line, which ends at *@end. */
static const char *next_line(const char *line, const char *all, size_t size, const char **end)
{
	if (line >= all + size)
		return NULL;
	*end = memchr(line, '\n', (size_t)(all + size - line));
	return line;
}

/* The first error is the one that the exit code is of; the others and warnings follow. Each line is the
 * member of an object. */
static void write_messages(struct writer *writer, const struct text *messages)
{
	static const char error_key[] = "\"error\":";
	const char *error = NULL, *end, *line;
	bool more = false;

	for (line = messages->bytes;
	     !error && next_line(line, messages->bytes, messages->used, &end); line = end + 1)
		if (strncmp(line, error_key, sizeof(error_key) - 1) == 0) {
			write_char(writer, ',');
			write_bytes(writer, line, (size_t)(end - line));
			error = line;
		}
	for (line = messages->bytes; next_line(line, messages->bytes, messages->used, &end);
	     line = end + 1) {
		if (line == error)
			continue;
		write_text(writer, more ? ",{" : ",\"messages\":[{");
		write_bytes(writer, line, (size_t)(end - line));
		write_char(writer, '}');
		more = true;
	}
	if (more)
		write_char(writer, ']');
}

/* Rows are members already; what is no JSON is a text. */
static void write_output(struct writer *writer, struct json *json, const struct text *output)
{
	if (output->used == 0)
		return;
	if (output->bytes[0] == ',')
		write_bytes(writer, output->bytes, output->used);
	else
		json_text(json, "output", output->bytes, output->used);
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
