/* SPDX-License-Identifier: Apache-2.0 */
/* Files of apply: a wrong line is told, and the others are whole. */
#include "session.h"

#include "native/apply/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct session session = fuzz_session();
	char file[] = "fuzz.conf";
	struct apply_text text = { .file = file, .length = size };
	struct apply_list list = { 0 };
	bool good;

	/* Patterns would read directories of the machine. */
	if (memchr(data, '*', size) || memchr(data, '?', size) || memchr(data, '[', size))
		return 0;
	text.text = calloc(1, size + 1);
	MUST(text.text);
	memcpy(text.text, data, size);
	good = apply_list_parse(&session, &list, &text);
	MUST(good == (session.status == 0));
	if (good && apply_list_settle(&session, &list))
		for (size_t i = 0; i < list.directories.count; i++)
			MUST(list.directories.list[i].request.directory[0] == '/' &&
			     list.directories.list[i].line > 0);
	apply_list_free(&list);
	free(text.text);
	session_end(&session);
	return 0;
}
