/* SPDX-License-Identifier: Apache-2.0 */
#include "cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	cache->projects.checked = cache->projid.checked = false;
}

static bool is_current(struct fsq_cached_file *cached, const char *file)
{
	if (!cached->path || strcmp(cached->path, file) != 0)
		return false;
	if (!cached->checked)
		cached->checked = fsq_file_stamp_is_current(&cached->stamp, file);
	return cached->checked;
}

/* Before the file is read. @return  0; FSQ_E_FAILED no memory */
static int remember(struct fsq_cached_file *cached, const char *file, struct fsq_error *err)
{
	free(cached->path);
	*cached = (struct fsq_cached_file){
		.path = strdup(file),
		.checked = true,
		.stamp = fsq_file_stamp_of(file),
	};
	return cached->path ? 0 : fsq_fail(err, FSQ_E_FAILED, ENOMEM, file, "cannot read");
}

/* It is read again, and its failure told again. */
static void forget(struct fsq_cached_file *cached)
{
	free(cached->path);
	cached->path = NULL;
}

int fsq_cache_id_of(struct fsq_cache *cache, const char *file, const char *directory, uint32_t *id,
		    struct fsq_error *err)
{
	int rc = 0;

	if (!is_current(&cache->projects, file)) {
		fsq_entries_free(&cache->entries);
		cache->entries = (struct fsq_entries){ 0 };
		rc = remember(&cache->projects, file, NULL);
		if (rc == 0)
			rc = fsq_entries_of_projects(&cache->entries, file, NULL);
		if (rc == 0)
			rc = fsq_entries_index_words(&cache->entries, NULL);
	}
	if (rc) {
		/* It fails as it does without a cache. */
		forget(&cache->projects);
		return fsq_projects_id_of(file, directory, id, err);
	}
	*id = fsq_entries_id_of_word(&cache->entries, directory);
	return 0;
}

int fsq_cache_names(struct fsq_cache *cache, const char *file, struct fsq_project_names **names,
		    struct fsq_error *err)
{
	int rc = 0;

	if (!is_current(&cache->projid, file)) {
		fsq_project_names_free(cache->names);
		cache->names = NULL;
		rc = remember(&cache->projid, file, err);
		if (rc == 0)
			rc = fsq_project_names_read(&cache->names, file, err);
		if (rc)
			forget(&cache->projid);
	}
	*names = cache->names;
	return rc;
}

void fsq_cache_free(struct fsq_cache *cache)
{
	if (!cache)
		return;
	fsq_mount_cache_close(&cache->mounts);
	fsq_entries_free(&cache->entries);
	free(cache->projects.path);
	fsq_project_names_free(cache->names);
	free(cache->projid.path);
	free(cache);
}
