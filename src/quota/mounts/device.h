/* SPDX-License-Identifier: Apache-2.0 */
/* What a device or an image has on it, and which device a tag means: libblkid, loaded on first use. */
#ifndef FSQ_DEVICE_H
#define FSQ_DEVICE_H

#include "quota/fsquota.h"

/* Each is NULL where there is none. */
struct fsq_device {
	char *type; /* xfs, ext4, swap, LVM2_member, ... */
	char *version;
	char *uuid;
	char *label;
};

/** Load libblkid, which the other functions do on first use. @return  0, or FSQ_E_FAILED */
int fsq_device_load(struct fsq_error *err);

/**
 * Find out what a device or an image has on it.
 *
 * @fd       open for reading
 * @path     what it was opened by, for @err
 * @device   filled on success, without a type where nothing is known; clear it with fsq_device_clear()
 * @return   0; FSQ_E_CONFLICT it looks like several; FSQ_E_FAILED it cannot be read, or there is no
 *           libblkid
 * Source: blkid_do_safeprobe() of libblkid
 */
int fsq_device_probe(int fd, const char *path, struct fsq_device *device, struct fsq_error *err);

void fsq_device_clear(struct fsq_device *device);

/**
 * Does a device have a tag? Call fsq_device_load() first.
 *
 * @fd       open for reading
 * @tag      see fsq_is_tag(); its value may stand in quotes
 * @return   false also when it cannot be read
 * Source: blkid_do_safeprobe() of libblkid
 */
bool fsq_device_has_tag(int fd, const char *tag);

/**
 * Find the device that a tag means, by the links of udev, or else on all devices. No cache of libblkid's
 * is read or written.
 *
 * @tag      see fsq_is_tag()
 * @device   set on success, for free(3)
 * @return   0; FSQ_E_NOT_FOUND; FSQ_E_FAILED there is no libblkid
 * Source: blkid_evaluate_tag() of libblkid
 */
int fsq_device_of_tag(const char *tag, char **device, struct fsq_error *err);

/** @return  whether a word means a device by what it has: LABEL=, UUID=, PARTLABEL= or PARTUUID= */
bool fsq_is_tag(const char *word);

#endif
