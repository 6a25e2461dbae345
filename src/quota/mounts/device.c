/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include <blkid.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "quota/base/error.h"
#include "shared/load_library.h"

LIBRARY_NOTE_BLKID;

/* The functions of libblkid that are used, without blkid_. */
/* clang-format off */
#define FUNCTIONS(DO) \
	DO(new_probe) DO(free_probe) DO(probe_set_device) DO(probe_enable_superblocks) \
	DO(probe_set_superblocks_flags) DO(do_safeprobe) DO(probe_lookup_value) DO(get_cache) \
	DO(put_cache) DO(evaluate_tag) DO(probe_enable_partitions) DO(probe_set_partitions_flags)
#define POINTER(name) typeof(blkid_##name) *name;
#define SYMBOL(name) LIBRARY_SYMBOL(blkid_##name, library, name),
/* clang-format on */

static struct library {
	FUNCTIONS(POINTER)
} lib;

int fsq_device_load(struct fsq_error *err)
{
	static const struct library_symbol symbols[] = { FUNCTIONS(SYMBOL) };
	static struct loading loading = { PTHREAD_MUTEX_INITIALIZER, false };
	int errnum = load_library_once(&loading, LIBRARY_BLKID, symbols,
				       sizeof(symbols) / sizeof(symbols[0]), &lib);

	return errnum ? fsq_fail_library(err, errnum, LIBRARY_BLKID, "libblkid") : 0;
}

int fsq_device_probe(int fd, const char *path, struct fsq_device *device, struct fsq_error *err)
{
	char **const values[] = { &device->type, &device->version, &device->uuid, &device->label };
	static const char *const names[] = { "TYPE", "VERSION", "UUID", "LABEL" };
	blkid_probe probe;
	const char *value;
	int found = -1, rc = fsq_device_load(err);

	*device = (struct fsq_device){ 0 };
	if (rc)
		return rc;
	errno = 0;
	probe = lib.new_probe();
	if (probe && lib.probe_set_device(probe, fd, 0, 0) == 0 &&
	    lib.probe_enable_superblocks(probe, 1) == 0 &&
	    lib.probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_VERSION |
							   BLKID_SUBLKS_UUID |
							   BLKID_SUBLKS_LABEL) == 0) {
		found = lib.do_safeprobe(probe);
		/* libblkid 2.41 says "error" where others say "ambiguous". */
		if (found == -1 && !errno)
			found = -2;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && found == 0; i++)
		if (lib.probe_lookup_value(probe, names[i], &value, NULL) == 0 &&
		    !(*values[i] = strdup(value)))
			found = -1;
	if (found == -1)
		rc = fsq_fail(err, FSQ_E_FAILED, errno ? errno : EIO, path,
			      "cannot probe the device");
	else if (found == -2)
		rc = fsq_fail(err, FSQ_E_CONFLICT, 0, path,
			      "has the marks of several filesystems: wipefs(8) shows them");
	if (rc)
		fsq_device_clear(device);
	lib.free_probe(probe);
	return rc;
}

void fsq_device_clear(struct fsq_device *device)
{
	free(device->type);
	free(device->version);
	free(device->uuid);
	free(device->label);
	*device = (struct fsq_device){ 0 };
}

bool fsq_is_tag(const char *word)
{
	if (!word)
		return false;

	static const char *const tags[] = { "LABEL=", "UUID=", "PARTLABEL=", "PARTUUID=" };

	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
		if (strncmp(word, tags[i], strlen(tags[i])) == 0)
			return true;
	return false;
}

/* Compare a value with that of a tag, which may be quoted. */
static bool is_value(const char *tag, const char *value, bool any_case)
{
	const char *wanted = strchr(tag, '=') + 1;
	size_t length = strlen(wanted);

	if (length > 1 && strchr("\"'", *wanted) && wanted[length - 1] == *wanted) {
		wanted++;
		length -= 2;
	}
	return strlen(value) == length && (any_case ? strncasecmp(value, wanted, length)
						    : strncmp(value, wanted, length)) == 0;
}

bool fsq_device_has_tag(int fd, const char *tag)
{
	const bool of_partition = tag[0] == 'P';
	const bool is_uuid = strncmp(tag + (of_partition ? strlen("PART") : 0), "UUID", 4) == 0;
	const char *name = of_partition ? (is_uuid ? "PART_ENTRY_UUID" : "PART_ENTRY_NAME")
					: (is_uuid ? "UUID" : "LABEL");
	blkid_probe probe = lib.new_probe();
	const char *value;
	bool has = false;

	if (!probe)
		return false;
	if (lib.probe_set_device(probe, fd, 0, 0) == 0 &&
	    lib.probe_enable_superblocks(probe, !of_partition) == 0 &&
	    lib.probe_set_superblocks_flags(probe, BLKID_SUBLKS_UUID | BLKID_SUBLKS_LABEL) == 0 &&
	    lib.probe_enable_partitions(probe, of_partition) == 0 &&
	    lib.probe_set_partitions_flags(probe, BLKID_PARTS_ENTRY_DETAILS) == 0 &&
	    lib.do_safeprobe(probe) == 0)
		has = lib.probe_lookup_value(probe, name, &value, NULL) == 0 &&
		      is_value(tag, value, is_uuid);
	lib.free_probe(probe);
	return has;
}

int fsq_device_of_tag(const char *tag, char **device, struct fsq_error *err)
{
	blkid_cache cache = NULL;
	int rc = fsq_device_load(err);

	if (rc)
		return rc;
	*device = NULL;
	if (lib.get_cache(&cache, "/dev/null") == 0) {
		*device = lib.evaluate_tag(tag, NULL, &cache);
		lib.put_cache(cache);
	}
	if (*device)
		return 0;
	return fsq_fail(err, FSQ_E_NOT_FOUND, ENODEV, tag, "cannot find a device with this tag");
}
