/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changing /etc/projects and /etc/projid together with others who do: kubelet's locks in kubelet's
 * order. Whoever waits for a lock while the file is replaced has the lock of a file that is no
 * more; we look again, kubelet does not. So lines are added in place, which kubelet cannot miss,
 * and a file is replaced only to take away a line that is not its last.
 *
 * What we do not understand is kept, byte for byte; so are mode, owner and security label.
 */
#ifndef FSQ_PROJECT_EDIT_H
#define FSQ_PROJECT_EDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

/* Both files. */
struct fsq_project_edit;

/**
 * Prepare to change both files; they are not opened yet.
 *
 * @to_write  false only to look, which does without files that are not there or not ours to lock
 * @return    to be freed with fsq_project_edit_free(), or NULL without memory
 */
struct fsq_project_edit *fsq_project_edit_new(const char *projects, const char *projid,
					      bool to_write);

/**
 * Lock both files and read them, waiting for others who have them. All below is for locked files;
 * to lock them again is nothing.
 *
 * @heed_signals the wait is over when a signal that interrupt.h blocks is waiting, too
 * @return    0; FSQ_E_FAILED with EINTR; FSQ_E_FAILED or FSQ_E_PERMISSION when a file cannot be
 * opened or made, with errno EMLINK when it is a symlink and EINVAL when it is no regular file
 * Source: flock(2); KEP-1029, "Selecting a Project ID"
 */
int fsq_project_edit_lock(struct fsq_project_edit *edit, bool heed_signals, struct fsq_error *err);

/** Drop the locks, if there are any. Files that we made and that are empty are taken away. */
void fsq_project_edit_unlock(struct fsq_project_edit *edit);

/** Drop the locks and free what belongs to it; NULL will do. */
void fsq_project_edit_free(struct fsq_project_edit *edit);

/** Take away what somebody who was killed while replacing a file left beside it. */
void fsq_project_edit_clean(const struct fsq_project_edit *edit);

/** @return  the first ID from @id on that neither file mentions; it may be past FSQ_ID_MAX */
uint64_t fsq_project_edit_unlisted(const struct fsq_project_edit *edit, uint64_t id);

/** @return  whether @directory is registered; its ID goes to @id */
bool fsq_project_edit_id_of(const struct fsq_project_edit *edit, const char *directory,
			    uint32_t *id);

/** @return  whether an ID has directories besides @directory, which may be NULL */
bool fsq_project_edit_is_shared(const struct fsq_project_edit *edit, uint32_t id,
				const char *directory);

/** @return  whether a project has the name; its ID goes to @id */
bool fsq_project_edit_id_of_name(const struct fsq_project_edit *edit, const char *name,
				 uint32_t *id);

/** @return  the first name of an ID, or NULL; valid until the end */
const char *fsq_project_edit_name_of(struct fsq_project_edit *edit, uint32_t id);

/**
 * Add a name, or a directory, behind what is there. It is on the disk on return. On failure the
 * file has not changed.
 *
 * @return   0, FSQ_E_FAILED (no space, I/O), FSQ_E_PERMISSION
 */
int fsq_project_edit_add_name(struct fsq_project_edit *edit, uint32_t id, const char *name,
			      struct fsq_error *err);
int fsq_project_edit_add_directory(struct fsq_project_edit *edit, uint32_t id,
				   const char *directory, struct fsq_error *err);

/** Take back what was added since the locks were taken. */
void fsq_project_edit_undo(struct fsq_project_edit *edit);

/**
 * Remove a directory, and if @names the names of the ID, unless it has other directories. It is on
 * the disk on return. On failure neither file has changed.
 *
 * @directory may be NULL: only the names
 * @return   as fsq_project_edit_add_name()
 */
int fsq_project_edit_remove(struct fsq_project_edit *edit, uint32_t id, const char *directory,
			    bool names, struct fsq_error *err);

/** Can the name stand in a projid file? Not empty, no colon, no newline, no # first, no number. */
bool fsq_project_name_is_valid(const char *name);

#endif
