/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of /etc/projects and /etc/projid, read without a lock: besides what fsquota.h declares. */
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
	const struct fsq_entry **by_id;	  /* of fsq_entries_index(), or NULL */
	const struct fsq_entry **by_word; /* of fsq_entries_index_words(), or NULL */
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

/** Make fsq_entries_id_of_word() possible. @return  0; FSQ_E_FAILED no memory */
int fsq_entries_index_words(struct fsq_entries *entries, struct fsq_error *err);

/** @return  the entries of an ID, @count of them, in the order of the file */
const struct fsq_entry *const *fsq_entries_of_id(const struct fsq_entries *entries, uint32_t id,
						 size_t *count);

/** @return  the ID of the first entry of a word, or 0 */
uint32_t fsq_entries_id_of_word(const struct fsq_entries *entries, const char *word);

void fsq_entries_free(struct fsq_entries *entries);

/**
 * Look for a directory in a projects file.
 *
 * @directory absolute and without symlinks
 * @id       set to its first ID, or to 0 when it is not in the file, or the file does not exist
 * @return   0, or FSQ_E_FAILED or FSQ_E_PERMISSION when the file cannot be read
 */
int fsq_projects_id_of(const char *file, const char *directory, uint32_t *id,
		       struct fsq_error *err);

#endif
