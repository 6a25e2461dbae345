/* SPDX-License-Identifier: Apache-2.0 */
/* The directories that an overlay writes to: upperdir and workdir. */
#ifndef FSQ_OVERLAY_H
#define FSQ_OVERLAY_H

#include "mount.h"
#include "quota/fsquota.h"

/**
 * Find the two directories that an overlay writes to, as it was mounted with.
 *
 * @upper, @work set, each for free(3), or to NULL
 * Source: kernel documentation, "Overlay Filesystem"
 */
void fsq_overlay_layers(const struct fsq_mount *mount, char **upper, char **work);

/**
 * Find the directory that an engine has made for the two and nothing else.
 *
 * @upper, @work absolute
 * @return   for free(3); or NULL: there is none, or with errno ENOMEM no memory
 */
char *fsq_overlay_own(const char *upper, const char *work);

/**
 * Find the directories in which an overlay writes. With them in one project the overlay is limited, and nothing else.
 *
 * @path     a directory in it
 * @directory set for free(3): the upper directory; or that of a container engine, which holds the upper and the work
 *           directory and nothing else
 * @work     set for free(3): the work directory; or to NULL, it is in @directory
 * @return   0; FSQ_E_NOT_SUPPORTED it is on no overlay, or on one that cannot be written; FSQ_E_NOT_FOUND;
 *           FSQ_E_FAILED
 * Source: kernel documentation, "Overlay Filesystem"
 */
int fsq_overlay_directories(const char *path, char **directory, char **work, struct fsq_error *err);

#endif
