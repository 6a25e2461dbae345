/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of batch: words that are written as JSON again are the same words. */
#include "session.h"

#include "native/cli/command.h"
#include "table/json.h"

static void write_array(struct text *text, const struct request *request)
{
	static struct writer writer;
	struct json json;

	writer_start_text(&writer, text);
	json_start(&json, &writer);
	json_open(&json, NULL, '[');
	for (size_t i = 0; i < request->count; i++)
		json_string(&json, NULL, request->words[i]);
	json_close(&json, ']');
	writer_flush(&writer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct request request, again;
	static struct text array, once_more;
	char *line = text_of(data, size);

	array.used = once_more.used = 0;
	if (!memchr(line, '\n', size) && !request_parse(&request, line, size)) {
		/* What is no UTF-8 is replaced, once and for all. */
		write_array(&array, &request);
		MUST(!request_parse(&again, array.bytes, array.used));
		MUST(again.count == request.count);
		write_array(&once_more, &again);
		/* Parsing has taken the first one apart. */
		array.used = 0;
		write_array(&array, &request);
		MUST(array.used == once_more.used &&
		     memcmp(array.bytes, once_more.bytes, array.used) == 0);
	}
	free(line);
	return 0;
}
