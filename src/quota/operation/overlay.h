/* SPDX-License-Identifier: Apache-2.0 */
/* What an overlay writes to. */
#ifndef FSQ_OVERLAY_H
#define FSQ_OVERLAY_H

#include "quota/fsquota.h"

/**
 * Find its two directories.
 *
 * @upper, @work set, each for free(3), or to NULL
 * Source: kernel documentation, "Overlay Filesystem"
 */
void fsq_overlay_layers(const struct fsq_mount *mount, char **upper, char **work);

/** @return  the deepest directory above both, for free(3), or NULL without memory */
char *fsq_overlay_above(const char *upper, const char *work);

#endif
