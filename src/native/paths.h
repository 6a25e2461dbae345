/* SPDX-License-Identifier: Apache-2.0 */
/* The table of paths: the filesystems a run is about, and the project directories on them. */
#ifndef FSQ_PATHS_H
#define FSQ_PATHS_H

#include "session.h"

/**
 * Put the filesystem of a path into the table; failures are told, and the table goes without.
 *
 * @path     a mount point, device, or anything on the filesystem
 * @dev      set to the filesystem's device number
 * @return   whether it was found
 */
bool paths_add(struct session *session, const char *path, dev_t *dev);

/**
 * Put every filesystem that is mounted into the table, each once.
 *
 * @return   false: an error was reported
 */
bool paths_add_all(struct session *session);

/** The same of those with quota; if there is none an error is reported. */
void paths_add_all_with_quota(struct session *session, bool xfs_only);

/**
 * Put the directories of the projects file into the table, behind the filesystems.
 */
void paths_load_projects(struct session *session);

/** @return  whether that has found out of all directories of @id where they are */
bool paths_saw_all(const struct session *session, uint32_t id);

/**
 * The table's filesystem on which a path lies.
 *
 * @return   the index of its first mount entry, or -1
 */
int paths_find(const struct session *session, const char *path);

/** The table's first mount of a filesystem, or -1. */
int paths_find_dev(const struct session *session, dev_t dev);

#endif
