/* SPDX-License-Identifier: Apache-2.0 */
/* Mount tables as -t brings them, and the escapes of all of them. */
#include "fuzz.h"

#include "quota/fsquota.h"
#include "quota/mounts/mountinfo.h"
#include "quota/mounts/mounts.h"

static enum fsq_visit look(const struct fsq_mount *mount, void *arg)
{
	size_t *length = arg;

	*length += strlen(mount->device) + strlen(mount->directory);
	return FSQ_VISIT_CONTINUE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *file = file_of(data, size);
	char *text = text_of(data, size);
	size_t before = strlen(text), length = 0;
	struct fsq_mount mount;

	fsq_mounts_each(file, look, &length, NULL);
	MUST(length <= size);
	if (fsq_mount_in_table(file, "/fuzz/nowhere", &mount, NULL) == 0)
		fsq_mount_clear(&mount);
	fsq_mountinfo_unescape(text);
	MUST(strlen(text) <= before);
	free(text);
	return 0;
}
