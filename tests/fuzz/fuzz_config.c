/* SPDX-License-Identifier: Apache-2.0 */
/* fsquota.conf and a file of fsquota.conf.d, behind the first form feed: what is taken makes sense. */
#include "session.h"

static void read_as(const uint8_t *data, size_t size, bool reads)
{
	const uint8_t *end = size ? memchr(data, '\f', size) : NULL;
	const size_t length = end ? (size_t)(end - data) : size;
	struct session session = fuzz_session();
	char first_path[] = "first", second_path[] = "second";
	struct config_file list[] = {
		{ .path = first_path, .text = text_of(data, length), .length = length },
		{ .path = second_path },
	};
	struct config_files files = { .read = true, .checked = true, .list = list, .count = 2 };

	if (end) {
		list[1].length = size - length - 1;
		list[1].text = text_of(end + 1, list[1].length);
	}
	session.config = &files;
	if (config_read(&session, reads)) {
		MUST(session.projects_file[0] == '/' && session.projid_file[0] == '/');
		MUST(!session.range_configured || session.range.first <= session.range.last);
		MUST(session.status == 0);
	} else {
		MUST(session.status == 2);
	}
	session_end(&session);
	free(list[0].text);
	free(list[1].text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_as(data, size, false);
	read_as(data, size, true);
	return 0;
}
