/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changing /etc/projects and /etc/projid together with others who do: kubelet's locks in kubelet's
 * order. What is changed, and how, is told in project_list.h; what we do not understand is kept,
 * byte for byte, and so are mode, owner and security label.
 */
#ifndef FSQ_PROJECT_EDIT_H
#define FSQ_PROJECT_EDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

/* Where to register. */
struct fsq_registry {
	const char *projects_file;
	const char *projid_file;
	bool none;		   /* only look: the IDs in the files are not taken */
	unsigned int lock_seconds; /* how long to wait for each of their locks; 0: not */
};

enum fsq_edit_mode {
	FSQ_EDIT_LOOK,	/* without locks; a file that is not there, or not ours to read, is empty */
	FSQ_EDIT_LOCK,	/* the same with locks */
	FSQ_EDIT_WRITE, /* and to change both, which are made where they are not there */
};

/* Both files. */
struct fsq_project_edit;

/** Prepare for both files; they are not opened yet. @return  NULL without memory */
struct fsq_project_edit *fsq_project_edit_new(const struct fsq_registry *registry,
					      enum fsq_edit_mode mode);

/**
 * Lock both files and read them, waiting for others who have them. All below is for locked files;
 * to lock them again is nothing.
 *
 * @undoing   a signal that interrupt.h blocks ends the wait only after a second, not at once
 * @return    0; FSQ_E_FAILED, with EINTR for a signal, when somebody holds a lock for too long, or
 * a file is no regular file; FSQ_E_FAILED or FSQ_E_PERMISSION when one cannot be opened or made;
 * FSQ_E_USAGE when both are the same Source: flock(2); KEP-1029, "Selecting a Project ID"
 */
int fsq_project_edit_lock(struct fsq_project_edit *edit, bool undoing, struct fsq_error *err);

/** Drop the locks, if there are any. */
void fsq_project_edit_unlock(struct fsq_project_edit *edit);

/** Drop the locks and free what belongs to it; NULL will do. */
void fsq_project_edit_free(struct fsq_project_edit *edit);

/** @return  the first ID from @id on that neither file mentions; it may be past FSQ_ID_MAX */
uint64_t fsq_project_edit_unlisted(const struct fsq_project_edit *edit, uint64_t id);

/** @return  whether @directory is registered; its ID goes to @id */
bool fsq_project_edit_id_of(const struct fsq_project_edit *edit, const char *directory,
			    uint32_t *id);

/** @return  whether an ID has directories besides @directory, which may be NULL */
bool fsq_project_edit_is_shared(const struct fsq_project_edit *edit, uint32_t id,
				const char *directory);

/** @return  the first directory of an ID, or NULL; valid until the next call of it */
const char *fsq_project_edit_directory_of(struct fsq_project_edit *edit, uint32_t id);

/**
 * The directories that are registered below one.
 *
 * @paths    set, sorted; free(3) each, and it; also on failure
 * @count    set
 * @return   0 or -ENOMEM
 */
int fsq_project_edit_below(const struct fsq_project_edit *edit, const char *directory,
			   char ***paths, size_t *count);

/**
 * The IDs of other directories that nothing in a directory ought to have: neither is it registered
 * below it, nor is it @id.
 *
 * @ids      set, sorted; free(3) it
 * @return   how many; 0 also without memory
 */
size_t fsq_project_edit_strays(const struct fsq_project_edit *edit, const char *directory,
			       uint32_t id, uint32_t **ids);

/** @return  whether a project has the name; its ID goes to @id */
bool fsq_project_edit_id_of_name(const struct fsq_project_edit *edit, const char *name,
				 uint32_t *id);

/** @return  the first name of an ID, or NULL; valid until the next call of it */
const char *fsq_project_edit_name_of(struct fsq_project_edit *edit, uint32_t id);

/**
 * Add a name, or a directory. It is on the disk on return. On failure the file has not changed.
 *
 * @return   0, FSQ_E_FAILED (no space, I/O), FSQ_E_PERMISSION
 */
int fsq_project_edit_add_name(struct fsq_project_edit *edit, uint32_t id, const char *name,
			      struct fsq_error *err);
int fsq_project_edit_add_directory(struct fsq_project_edit *edit, uint32_t id,
				   const char *directory, struct fsq_error *err);

/**
 * Remove a directory, and if @names the names of the ID, unless it has other directories. It is on
 * the disk on return. On failure neither file has changed.
 *
 * @directory may be NULL: only the names
 * @return   as fsq_project_edit_add_name()
 */
int fsq_project_edit_remove(struct fsq_project_edit *edit, uint32_t id, const char *directory,
			    bool names, struct fsq_error *err);

/** Take back what was added and removed since the locks were taken. */
void fsq_project_edit_undo(struct fsq_project_edit *edit);

/** Can the name stand in a projid file? Not empty, no colon, no newline, no # first, no number. */
bool fsq_project_name_is_valid(const char *name);

#endif
