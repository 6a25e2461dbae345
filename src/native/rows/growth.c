/* SPDX-License-Identifier: Apache-2.0 */
#include "growth.h"

#include <stdlib.h>

#include "shared/sort.h"
#include "table/field.h"

/* The spans that growth is averaged over, in seconds. */
static const double spans[GROWTH_SPANS] = { [GROWTH_SHORT] = 10, [GROWTH_LONG] = 300 };

struct growth_entry {
	dev_t dev;
	uint32_t id;
	uint64_t bytes;
	/* The mean, and how much of its weight has been seen, up to 1. */
	double mean[GROWTH_SPANS], weight[GROWTH_SPANS];
};

int growth_compare(const void *one, const void *other)
{
	const struct growth_use *a = one, *b = other;

	return compare_numbers(a->dev, b->dev) ?: compare_numbers(a->id, b->id);
}

static int compare_entry_with_use(const struct growth_entry *entry, const struct growth_use *use)
{
	return compare_numbers(entry->dev, use->dev) ?: compare_numbers(entry->id, use->id);
}

static int64_t seconds_until_full(const struct growth_use *use)
{
	int64_t rate = use->rate[GROWTH_SHORT];
	double seconds;

	if (use->rate[GROWTH_LONG] > rate)
		rate = use->rate[GROWTH_LONG];
	if (rate <= 0 || use->available == 0 || use->available == FIELD_NOT_KNOWN)
		return FIELD_NO_SECONDS;
	seconds = (double)use->available / (double)rate;
	return seconds < 1 ? 1 : seconds < 1e15 ? (int64_t)seconds : FIELD_NO_SECONDS;
}

/* @before   NULL: it was not there */
static struct growth_entry entry_of_use(struct growth_use *use, const struct growth_entry *before,
					double seconds)
{
	struct growth_entry entry = { .dev = use->dev, .id = use->id, .bytes = use->bytes };

	for (int span = 0; span < GROWTH_SPANS; span++) {
		double part = seconds / (seconds + spans[span]), rate;

		use->rate[span] = FIELD_NO_RATE;
		if (!before || !(seconds > 0) || use->bytes == FIELD_NOT_KNOWN ||
		    before->bytes == FIELD_NOT_KNOWN)
			continue;
		rate = ((double)use->bytes - (double)before->bytes) / seconds;
		entry.mean[span] = before->mean[span] + part * (rate - before->mean[span]);
		entry.weight[span] = before->weight[span] + part * (1 - before->weight[span]);
		rate = entry.mean[span] / entry.weight[span];
		use->rate[span] = (int64_t)rate;
	}
	use->full_seconds = seconds_until_full(use);
	return entry;
}

bool growth_look(struct growth *growth, struct growth_use *uses, size_t count, int64_t now)
{
	double seconds = growth->looked ? (double)(now - growth->looked) / 1e9 : 0;
	struct growth_entry *entries = reallocarray(NULL, count + 1, sizeof(*entries));
	size_t at = 0;

	if (!entries) {
		growth_free(growth);
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		const struct growth_entry *before = NULL;

		while (at < growth->count &&
		       compare_entry_with_use(&growth->entries[at], &uses[i]) < 0)
			at++;
		if (at < growth->count &&
		    compare_entry_with_use(&growth->entries[at], &uses[i]) == 0)
			before = &growth->entries[at];
		entries[i] = entry_of_use(&uses[i], before, seconds);
	}
	free(growth->entries);
	*growth = (struct growth){ entries, count, now };
	return true;
}

struct growth_use growth_use(dev_t dev, uint32_t id, uint64_t used, uint64_t hard, uint64_t free)
{
	uint64_t left = hard > used ? hard - used : 0;

	return (struct growth_use){
		.dev = dev,
		.id = id,
		.bytes = used,
		.available = hard && left < free ? left : free,
	};
}

void growth_free(struct growth *growth)
{
	free(growth->entries);
	*growth = (struct growth){ 0 };
}
