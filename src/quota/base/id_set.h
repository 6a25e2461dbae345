/* SPDX-License-Identifier: Apache-2.0 */
/* A set of IDs: collected, sorted once, and then asked and changed. */
#ifndef FSQ_ID_SET_H
#define FSQ_ID_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fsq_id_set {
	uint32_t *ids; /* until they are sorted, one may be there twice */
	size_t count, capacity;
};

/** @return  0 or -ENOMEM */
int fsq_id_set_add(struct fsq_id_set *set, uint32_t id);

/** Make room for so many more, which the caller may put behind the others. @return  0 or -ENOMEM */
int fsq_id_set_reserve(struct fsq_id_set *set, size_t more);

/** Sort it, after the last fsq_id_set_add() and before the functions below. */
void fsq_id_set_sort(struct fsq_id_set *set);

/** Add to, or remove from, a sorted set. @return  0 or -ENOMEM */
int fsq_id_set_insert(struct fsq_id_set *set, uint32_t id);
void fsq_id_set_remove(struct fsq_id_set *set, uint32_t id);

bool fsq_id_set_has(const struct fsq_id_set *set, uint32_t id);

/** @return  the first number from @id on that is not in the set; it may be above FSQ_ID_MAX */
uint64_t fsq_id_set_first_missing(const struct fsq_id_set *set, uint64_t id);

/** @return  the first number of the set from @id on, or UINT64_MAX */
uint64_t fsq_id_set_first_from(const struct fsq_id_set *set, uint64_t id);

/** @return  the last number of the set before @id, or 0 */
uint32_t fsq_id_set_last_before(const struct fsq_id_set *set, uint32_t id);

void fsq_id_set_free(struct fsq_id_set *set);

#endif
