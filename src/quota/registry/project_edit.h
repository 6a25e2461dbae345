/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes /etc/projects and /etc/projid together with other programs that do: with kubelet's locks
 * in kubelet's order. project_list.h describes how a file is changed. Lines that we do not
 * understand stay byte for byte, and so do mode, owner and security label.
 */
#ifndef FSQ_PROJECT_EDIT_H
#define FSQ_PROJECT_EDIT_H

#include "entries.h"
#include "project_list.h"
#include "quota/base/id_set.h"
#include "quota/fsquota.h"

/** @return  @registry, or that of /etc for NULL */
const struct fsq_registry *fsq_registry_or_default(const struct fsq_registry *registry);

/** @return  whether projects are registered where kubelet looks */
bool fsq_registry_is_visible(const struct fsq_registry *registry);

/* What both files say. Kept between calls, they are parsed again only when others have changed them. */
struct fsq_assigned {
	struct fsq_project_list projects, projid;
	struct fsq_id_set ids; /* of both */
	bool in_use;	       /* by a fsq_project_edit that has the locks */
};

/**
 * Read both files, or only see that they are as they were.
 *
 * @return   as fsq_assigned_open()
 */
int fsq_assigned_read(struct fsq_assigned *assigned, const struct fsq_registry *registry,
		      struct fsq_error *err);

/** @return  the ID of a word of one of the lists, or 0 where it has none or several */
uint32_t fsq_assigned_id(const struct fsq_project_list *list, const char *word);

/* Both files, to change them. */
struct fsq_project_edit;

/**
 * Prepare for both files; they are not opened yet.
 *
 * @registry, @options  may be NULL; must stay
 * @dry_run  only look
 * @return   NULL without memory
 */
struct fsq_project_edit *fsq_project_edit_new(const struct fsq_registry *registry, bool dry_run,
					      const struct fsq_call_options *options);

/** The same, for who does not change them: they are locked where they are there, and not made. */
struct fsq_project_edit *fsq_project_edit_new_reader(const struct fsq_registry *registry,
						     bool dry_run,
						     const struct fsq_call_options *options);

/**
 * Have something called each time before the locks are tried: what may take long must not be done with them.
 */
void fsq_project_edit_before_locks(struct fsq_project_edit *edit, void (*before)(void *arg),
				   void *arg);

/**
 * Lock the tree of a directory until fsq_project_edit_unlock_tree(), before the files are locked; not in a
 * dry run.
 *
 * @fd, @path    of the directory
 * @rolling_back as in fsq_project_edit_lock()
 * @return       as fsq_tree_lock()
 */
int fsq_project_edit_lock_tree(struct fsq_project_edit *edit, int fd, const char *path,
			       bool rolling_back, struct fsq_error *err);
void fsq_project_edit_unlock_tree(struct fsq_project_edit *edit);

/**
 * Lock both files and read them. The functions below are for locked files; to lock them again does
 * nothing.
 *
 * @rolling_back cancelling ends the wait only after a second, not at once
 * @return   0; FSQ_E_FAILED, with EINTR when cancelled, when somebody holds a lock for too long, or
 *           a file is no regular file; FSQ_E_FAILED or FSQ_E_PERMISSION when one cannot be opened
 *           or made; FSQ_E_USAGE when both are the same
 * Source: flock(2); KEP-1029, "Selecting a Project ID"
 */
int fsq_project_edit_lock(struct fsq_project_edit *edit, bool rolling_back, struct fsq_error *err);

/** Drop the locks, if there are any. */
void fsq_project_edit_unlock(struct fsq_project_edit *edit);

/** Drop the locks and free what belongs to it; NULL will do. */
void fsq_project_edit_free(struct fsq_project_edit *edit);

/** @return  the first ID from @id on that neither file mentions; it may be past FSQ_ID_MAX */
uint64_t fsq_project_edit_unlisted(const struct fsq_project_edit *edit, uint64_t id);

/** @return  the first ID from @id on that one of the files mentions, or UINT64_MAX */
uint64_t fsq_project_edit_listed(const struct fsq_project_edit *edit, uint64_t id);

/** @return  the last ID before @id that one of the files mentions, or 0 */
uint32_t fsq_project_edit_listed_before(const struct fsq_project_edit *edit, uint32_t id);

/** @return  whether @directory is registered; its ID goes to @id */
bool fsq_project_edit_id_of(const struct fsq_project_edit *edit, const char *directory,
			    uint32_t *id);

/** @return  whether an ID has directories besides @directory, which may be NULL */
bool fsq_project_edit_is_shared(const struct fsq_project_edit *edit, uint32_t id,
				const char *directory);

/** @return  the first directory of an ID, or NULL: @length bytes that no NUL ends, valid with the locks */
const char *fsq_project_edit_directory_of(const struct fsq_project_edit *edit, uint32_t id,
					  size_t *length);

/**
 * The same for several IDs, in one look at all lines.
 *
 * @ids      one at least
 * @words, @lengths  set for each of them; a word is NULL where there is no directory
 */
void fsq_project_edit_directories_of(const struct fsq_project_edit *edit, const uint32_t *ids,
				     size_t count, const char **words, size_t *lengths);

/**
 * The directories that are registered below one.
 *
 * @paths    set, sorted; free(3) each, and it; also on failure
 * @count    set
 * @return   0 or -ENOMEM
 */
int fsq_project_edit_below(const struct fsq_project_edit *edit, const char *directory,
			   char ***paths, size_t *count);

/** @directory of @length bytes that no NUL ends */
typedef bool (*fsq_directory_test)(const char *directory, size_t length, void *arg);

/** Collect the IDs of the directories that pass a test. @return  0 or -ENOMEM */
int fsq_project_edit_ids_of(const struct fsq_project_edit *edit, fsq_directory_test test, void *arg,
			    struct fsq_id_set *ids);

/**
 * Collect the lines of directories that are not below one by their paths, of IDs that no line below it
 * has: what carries such an ID in it has it by mistake, unless the line is another name of it.
 *
 * @id       but not of this ID
 * @lines    filled and indexed; empty without memory; free it with fsq_entries_free()
 */
void fsq_project_edit_elsewhere(const struct fsq_project_edit *edit, const char *directory,
				uint32_t id, struct fsq_entries *lines);

/**
 * @at       0 for the first one, and set for the next
 * @return   a copy of a directory of an ID; NULL: no more, or no memory
 */
char *fsq_project_edit_next_directory(const struct fsq_project_edit *edit, uint32_t id, size_t *at);

/** @return  whether a project has the name; its ID goes to @id */
bool fsq_project_edit_id_of_name(const struct fsq_project_edit *edit, const char *name,
				 uint32_t *id);

/** @return  the first name of an ID, or NULL: @length bytes that no NUL ends, valid with the locks */
const char *fsq_project_edit_name_of(const struct fsq_project_edit *edit, uint32_t id,
				     size_t *length);

/** @return  whether an ID has a name */
bool fsq_project_edit_has_name(const struct fsq_project_edit *edit, uint32_t id);

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

/**
 * Remove the names of an ID, whoever has the ID.
 *
 * @return   as fsq_project_edit_remove()
 */
int fsq_project_edit_remove_names(struct fsq_project_edit *edit, uint32_t id,
				  struct fsq_error *err);

/**
 * Begin to remove many, until the locks are dropped: each is found in a logarithm of their number, is
 * on the disk only after fsq_project_edit_sync_batch(), and if one fails fsq_project_edit_rollback()
 * brings all back.
 */
void fsq_project_edit_begin_batch(struct fsq_project_edit *edit);

/** @return  0; as fsq_project_edit_add_name() */
int fsq_project_edit_sync_batch(struct fsq_project_edit *edit, struct fsq_error *err);

/** @return  how many lines of both files fsq_project_edit_remove() would remove */
uint64_t fsq_project_edit_lines_of(const struct fsq_project_edit *edit, uint32_t id,
				   const char *directory, bool names);

/** @return  how many names an ID has */
uint64_t fsq_project_edit_names_of(const struct fsq_project_edit *edit, uint32_t id);

/** Undo what was added and removed since the locks were taken. */
void fsq_project_edit_rollback(struct fsq_project_edit *edit);

#endif
