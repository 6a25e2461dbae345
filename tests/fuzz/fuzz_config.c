/* SPDX-License-Identifier: Apache-2.0 */
/* fsquota.conf: what is taken makes sense. */
#include "session.h"

static void read_as(const uint8_t *data, size_t size, bool reads)
{
	struct session session = fuzz_session();
	struct config_file file = {
		.read = true,
		.checked = true,
		.text = text_of(data, size),
		.length = size,
	};

	session.config = &file;
	if (config_read(&session, reads)) {
		MUST(session.projects_file[0] == '/' && session.projid_file[0] == '/');
		MUST(!session.range_configured || session.range.first <= session.range.last);
		MUST(session.status == 0);
	} else {
		MUST(session.status == 2);
	}
	session_end(&session);
	free(file.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_as(data, size, false);
	read_as(data, size, true);
	return 0;
}
