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

void fsq_entries_free(struct fsq_entries *entries);

#endif
