/* SPDX-License-Identifier: Apache-2.0 */
/* What fsq_cache_new() makes. */
#ifndef FSQ_CACHE_H
#define FSQ_CACHE_H

#include "quota/mounts/mount.h"
#include "quota/registry/project_cache.h"

struct fsq_cache {
	struct fsq_mount_cache mounts;
	struct fsq_project_cache projects;
};

#endif
