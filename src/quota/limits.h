/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of blocks and inodes: what they are, what they are to be. */
#ifndef FSQ_LIMITS_H
#define FSQ_LIMITS_H

#include <stdbool.h>

#include "error.h"
#include "kernel.h"

/** @return  the limits of a record, all in the mask but those of realtime */
struct fsq_limits fsq_limits_of(const struct fsq_dquot *dquot);

/** Are both the same, whatever their masks? */
bool fsq_limits_are_same(const struct fsq_limits *one, const struct fsq_limits *other);

/**
 * @before   limits as they are
 * @asked    what is to be changed of them
 * @unlimited take all away first
 * @fd       a file on the filesystem, whose largest value depends on its kind
 * @return   what they are to be; where there would be none, KEP-1029's largest value
 */
struct fsq_limits fsq_limits_wanted(const struct fsq_limits *before, const struct fsq_limits *asked,
				    bool unlimited, int fd);

/**
 * Set the limits of a project, unless a soft one would be above its hard one, which XFS would drop
 * without a word.
 *
 * @path     for @err
 * @return   0, FSQ_E_USAGE, or what an errno of fsq_kernel_set_limits() stands for
 */
int fsq_limits_set(const struct fsq_target *target, uint32_t id, const struct fsq_limits *limits,
		   const char *path, struct fsq_error *err);

#endif
