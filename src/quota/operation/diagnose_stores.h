/* SPDX-License-Identifier: Apache-2.0 */
/* The container stores of a filesystem and the IDs that no file has, for fsq_diagnose_records(). */
#ifndef FSQ_DIAGNOSE_STORES_H
#define FSQ_DIAGNOSE_STORES_H

#include "diagnosis.h"
#include "quota/base/id_set.h"

struct fsq_stores;

/**
 * Find the container stores.
 *
 * @registered the IDs that have directories; must stay
 * @return   NULL: there is no memory; free it with fsq_stores_free()
 */
struct fsq_stores *fsq_stores_find(struct fsq_subject *subject,
				   const struct fsq_id_set *registered);

/**
 * Take note of a record, in the order of IDs.
 *
 * @limited  it has limits
 * @return   whether that says all: it is of a store, or fsq_stores_visit() tells of it
 */
bool fsq_stores_note(struct fsq_stores *stores, const struct fsq_dquot *dquot, bool limited);

/** Tell the visitor what was found. */
void fsq_stores_visit(struct fsq_stores *stores);

/** NULL is ignored. */
void fsq_stores_free(struct fsq_stores *stores);

#endif
