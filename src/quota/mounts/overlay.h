/* SPDX-License-Identifier: Apache-2.0 */
/* The directories that an overlay writes to: upperdir and workdir. */
#ifndef FSQ_OVERLAY_H
#define FSQ_OVERLAY_H

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

#endif
