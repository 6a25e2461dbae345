/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast use grows: exponentially weighted means over ten seconds and over five minutes, kept in a few
 * numbers for each project, whatever the interval.
 */
#ifndef FSQ_GROWTH_H
#define FSQ_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A block, in bytes: with less space left, a write fails, so use is at the hard limit. */
#define LEAST_SPACE 4096

enum growth_span { GROWTH_SHORT, GROWTH_LONG, GROWTH_SPANS };

/* What a project uses, or with ID 0 a filesystem. */
struct growth_use {
	dev_t dev;
	uint32_t id;
	uint64_t bytes; /* or FIELD_NOT_KNOWN */
	uint64_t
		available; /* bytes that can still be written, below both limits; or FIELD_NOT_KNOWN */
	/* Set by growth_look(): bytes a second; FIELD_NO_RATE: use is or was unknown. */
	int64_t rate[GROWTH_SPANS];
	/*
	 * Set by growth_look(): the time until nothing is available, at the higher of these rates;
	 * FIELD_NO_SECONDS: use does not grow, or nothing is available now.
	 */
	int64_t full_seconds;
};

/* Zero-initialise it. */
struct growth {
	struct growth_entry *entries; /* by device and ID */
	size_t count;
	int64_t looked; /* nanoseconds of the last call */
};

/**
 * Set the rates and times in @uses from them and from earlier calls.
 *
 * @uses     sorted by device and ID
 * @now      nanoseconds of CLOCK_MONOTONIC
 * @return   false without memory; the next call is then like the first one
 */
bool growth_look(struct growth *growth, struct growth_use *uses, size_t count, int64_t now);

/** Compare two growth_use by device and ID, for qsort(3). */
int growth_compare(const void *one, const void *other);

/**
 * Make a growth_use for growth_look().
 *
 * @hard     0: there is no limit
 * @free     of the filesystem, or FIELD_NOT_KNOWN
 */
struct growth_use growth_use(dev_t dev, uint32_t id, uint64_t used, uint64_t hard, uint64_t free);

void growth_free(struct growth *growth);

#endif
