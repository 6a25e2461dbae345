/* SPDX-License-Identifier: Apache-2.0 */
#include "cache.h"

#include <errno.h>
#include <stdlib.h>

#include "quota/base/error.h"

int fsq_cache_new(struct fsq_cache **cache, struct fsq_error *err)
{
	*cache = calloc(1, sizeof(**cache));
	if (!*cache)
		return fsq_fail(err, FSQ_E_FAILED, ENOMEM, NULL, "cannot go on");
	fsq_mount_cache_open(&(*cache)->mounts);
	return 0;
}

void fsq_cache_check(struct fsq_cache *cache)
{
	fsq_mount_cache_check(&cache->mounts);
	fsq_project_cache_check(&cache->projects);
}

int fsq_cache_names(struct fsq_cache *cache, const char *file, struct fsq_project_names **names,
		    struct fsq_error *err)
{
	return fsq_project_cache_names(&cache->projects, file, names, err);
}

void fsq_cache_free(struct fsq_cache *cache)
{
	if (!cache)
		return;
	fsq_mount_cache_close(&cache->mounts);
	fsq_project_cache_clear(&cache->projects);
	free(cache);
}
