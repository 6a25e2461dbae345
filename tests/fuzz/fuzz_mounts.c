/* SPDX-License-Identifier: Apache-2.0 */
/* Mount tables as -t brings them, fstab, and options. */
#include "fuzz.h"

#include "quota/fsquota.h"
#include "quota/mounts/mount.h"
#include "quota/mounts/mount_table.h"

static enum fsq_visit look(const struct fsq_mount *mount, void *arg)
{
	size_t *length = arg;

	*length += strlen(mount->device) + strlen(mount->directory);
	return FSQ_VISIT_CONTINUE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *file = file_of(data, size);
	char *text = text_of(data, size), *value;
	struct fsq_mount mount = { .options = text, .super_options = text };
	size_t length = 0;

	/* In a table the options end there. */
	text[strcspn(text, " \t\n")] = '\0';
	fsq_mounts_each(file, look, &length, NULL);
	MUST(length <= size);
	length = 0;
	fsq_fstab_each(file, look, &length, NULL);
	MUST(length <= size);
	value = fsq_options_value(text, "upperdir");
	MUST(!value || strlen(value) <= size);
	free(value);
	value = fsq_options_with_quota(&mount);
	MUST(value && strlen(value) <= 2 * size + sizeof(",,prjquota"));
	free(value);
	if (fsq_mount_in_file(file, "/fuzz/nowhere", &mount, NULL) == 0)
		fsq_mount_clear(&mount);
	free(text);
	return 0;
}
