/* SPDX-License-Identifier: Apache-2.0 */
/* The table of paths: the filesystems a run is about, and the project directories on them. */
#ifndef FSQ_PATHS_H
#define FSQ_PATHS_H

#include <sys/types.h>

#include "quota/kernel/space.h"
#include "session.h"

/**
 * Add the filesystem of a path to the table; report a failure and go on.
 *
 * @path     a mount point, device, or anything on the filesystem
 * @dev      set to the filesystem's device number; or NULL
 * @return   whether it was found
 */
bool paths_add(struct session *session, const char *path, dev_t *dev);

/**
 * Add every mounted filesystem to the table, each once.
 *
 * @return   false: an error was reported
 */
bool paths_add_all(struct session *session);

/** Add every mounted filesystem that has quota; report an error if there is none. */
void paths_add_all_with_quota(struct session *session);

/** Add the directories of the projects file to the table, after the filesystems. */
void paths_load_projects(struct session *session);

/**
 * The table's filesystem on which a path lies.
 *
 * @return   the index of its first mount entry, or -1
 */
int paths_find(const struct session *session, const char *path);

/** The table's first mount of a filesystem, or -1. */
int paths_find_dev(const struct session *session, dev_t dev);

/**
 * Read the size of a filesystem, or say that it cannot be read.
 *
 * @directory on the filesystem, see fsq_filesystem_space()
 * @space     set, in bytes and inodes
 * @return    false: an error was reported
 */
bool paths_read_space(struct session *session, const struct path_entry *path, const char *directory,
		      struct fsq_space space[FSQ_FORMS]);

/* --- scopes select projects: all of a filesystem, one, or those at or below a directory --- */

/* Selects projects of a filesystem. */
struct scope {
	dev_t dev;
	bool whole;	 /* all projects */
	uint32_t id;	 /* this project, or 0 */
	char *directory; /* projects registered at or below it; without symlinks; or NULL */
	char *given;	 /* as the user gave it, without slashes at its end */
};

/* Zero-initialised, it selects everything. */
struct scopes {
	struct scope *list;
	size_t count, capacity;
};

/** Add a scope. The set takes ownership of its texts. @return  false without memory */
bool scopes_add(struct scopes *scopes, const struct scope *scope);

/**
 * Add a filesystem to the table of paths, and a scope on it; failures are reported.
 *
 * @path     a device or a mount point: all projects; another directory: those at or below it
 * @own      select also the project to which that directory belongs
 */
void scopes_add_path(struct scopes *scopes, struct session *session, const char *path, bool own);

/** @return  whether a project is in a scope of its filesystem; @directory is one of its, or NULL */
bool scope_has(const struct scope *scope, uint32_t id, const char *directory);

/** @return  whether a project of a filesystem is wanted; @directory is one of its, or NULL */
bool scopes_want(const struct scopes *scopes, dev_t dev, uint32_t id, const char *directory);

/** @return  whether anything of a filesystem is wanted */
bool scopes_want_some(const struct scopes *scopes, dev_t dev);

/** @return  the lowest ID above @above that a scope names, or 0 */
uint32_t scopes_next_id(const struct scopes *scopes, dev_t dev, uint32_t above);

void scopes_free(struct scopes *scopes);

#endif
