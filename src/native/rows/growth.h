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

enum growth_span { GROWTH_SHORT, GROWTH_LONG, GROWTH_SPANS };

/* What a project uses, or with ID 0 a filesystem. */
struct growth_use {
	dev_t dev;
	uint32_t id;
	uint64_t bytes; /* or FIELD_NOT_KNOWN */
	uint64_t
		available; /* bytes that can still be written, below both limits; or FIELD_NOT_KNOWN */
	/* Set by growth_look(): bytes a second, or FIELD_NO_RATE: they are, or were, not known. */
	int64_t rate[GROWTH_SPANS];
	/*
	 * And when nothing is available any more, if use goes on to grow by the higher of them; or
	 * FIELD_NO_SECONDS: it does not grow, or nothing is available now.
	 */
	int64_t full_seconds;
};

/* Zero-initialise it. */
struct growth {
	struct growth_entry *entries; /* by device and ID */
	size_t count;
	int64_t looked; /* nanoseconds */
};

/**
 * Take another look.
 *
 * @uses     sorted by device and ID
 * @now      nanoseconds of a clock that goes on evenly
 * @return   false without memory: the next look is as the first one
 */
bool growth_look(struct growth *growth, struct growth_use *uses, size_t count, int64_t now);

/** For sorting. */
int growth_compare(const void *one, const void *other);

/**
 * For a look.
 *
 * @hard     0: there is no limit
 * @free     of the filesystem, or FIELD_NOT_KNOWN
 */
struct growth_use growth_use(dev_t dev, uint32_t id, uint64_t used, uint64_t hard, uint64_t free);

void growth_free(struct growth *growth);

#endif
