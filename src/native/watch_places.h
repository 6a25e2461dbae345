/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filesystems that watch watches. None is kept open, since it could not be unmounted then; quotas
 * are asked for by the device.
 */
#ifndef FSQ_WATCH_PLACES_H
#define FSQ_WATCH_PLACES_H

#include <sys/types.h>

#include "session.h"
#include "quota/fsquota.h"

struct watch_place {
	dev_t dev;
	char *device;
	char *directory; /* mount point */
	bool has_device;
	bool type[FSQ_TYPES]; /* that are counted there */
	bool is_mounted, told_failure;
};

struct watch_mount {
	char *directory;
	dev_t dev;
};

/* Zeros, but for the session and the types, are an empty set. */
struct watch_places {
	struct session *session;
	const bool *wanted; /* by type */
	char **only;	    /* mount points; none: all */
	size_t only_count;
	struct watch_place **all;
	size_t count, capacity;
	struct watch_mount *mounts; /* all there are */
	size_t mount_count, mount_capacity;
	bool no_memory;
};

struct watch_place_changes {
	void (*came)(struct watch_place *place, void *arg);
	/* It is freed then; NULL: those that are gone stay for now. */
	void (*gone)(struct watch_place *place, void *arg);
	void *arg;
};

/**
 * Find the filesystems of paths, or without any all that have quota.
 *
 * @return   whether there is one; else an error was reported
 */
bool watch_places_start(struct watch_places *places, char **paths, size_t count);

/** Look at the mounts again. */
void watch_places_refresh(struct watch_places *places, const struct watch_place_changes *changes);

/** @return  the filesystem of that number, or NULL: it is not watched */
struct watch_place *watch_places_find(const struct watch_places *places, dev_t dev);

/** @return  the filesystem that has a directory, by its name alone, or NULL */
struct watch_place *watch_places_of(const struct watch_places *places, const char *directory);

/** Address a filesystem for fsq_quota_ functions, until fsq_filesystem_close(). */
int watch_place_open(const struct watch_place *place, struct fsq_filesystem **fs,
		     struct fsq_error *err);

void watch_places_free(struct watch_places *places);

#endif
