/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast use grows: means over ten seconds and over five minutes, in which what was earlier counts less and less.
 * They are kept in a few numbers for each project, whatever the interval.
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
	uint64_t bytes;
	/* Set by growth_look(): bytes a second, or FIELD_NO_RATE when it was not seen before. */
	int64_t rate[GROWTH_SPANS];
};

/* Zeros have seen nothing. */
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
 * Tell when a limit will be reached, if use goes on to grow as fast as it does: by the mean that is higher.
 *
 * @room     bytes that are left
 * @return   seconds, or FIELD_NO_SECONDS: it does not grow, or there is no room any more
 */
int64_t growth_seconds_until(const struct growth_use *use, uint64_t room);

void growth_free(struct growth *growth);

#endif
