/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of /etc/projects or /etc/projid, read at once and without a lock. */
#ifndef FSQ_ENTRIES_H
#define FSQ_ENTRIES_H

#include "quota/fsquota.h"
#include "shared/texts.h"

struct fsq_entry {
	uint32_t id;
	const char *word; /* directory or name */
};

struct fsq_entries {
	struct fsq_entry *list;
	size_t count, capacity;
	const struct fsq_entry **by_id; /* of fsq_entries_index(), or NULL */
	struct texts words;
	bool incomplete;
};

/**
 * Read the entries of a projects file, or of a projid file. One that does not exist has none.
 *
 * @entries  filled; free it with fsq_entries_free(), also after a failure
 * @return   0; FSQ_E_FAILED or FSQ_E_PERMISSION the file cannot be read
 */
int fsq_entries_of_projects(struct fsq_entries *entries, const char *file, struct fsq_error *err);
int fsq_entries_of_projid(struct fsq_entries *entries, const char *file, struct fsq_error *err);

/** Add a line. @return  0 or -ENOMEM */
int fsq_entries_add(struct fsq_entries *entries, uint32_t id, const char *word);

/** Make fsq_entries_of_id() possible. @return  0; FSQ_E_FAILED no memory */
int fsq_entries_index(struct fsq_entries *entries, struct fsq_error *err);

/** @return  the entries of an ID, @count of them, in the order of the file */
const struct fsq_entry *const *fsq_entries_of_id(const struct fsq_entries *entries, uint32_t id,
						 size_t *count);

void fsq_entries_free(struct fsq_entries *entries);

#endif
