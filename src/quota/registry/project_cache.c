/* SPDX-License-Identifier: Apache-2.0 */
#include "project_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "project_files.h"
#include "quota/base/error.h"
#include "shared/sort.h"

static void forget_projects(struct fsq_project_cache *cache)
{
	fsq_entries_free(&cache->entries);
	free(cache->sorted);
	free(cache->projects.path);
	cache->entries = (struct fsq_entries){ 0 };
	cache->sorted = NULL;
	cache->projects = (struct fsq_cached_file){ 0 };
}

static void forget_names(struct fsq_project_cache *cache)
{
	fsq_project_names_free(cache->names);
	free(cache->projid.path);
	cache->names = NULL;
	cache->projid = (struct fsq_cached_file){ 0 };
}

void fsq_project_cache_clear(struct fsq_project_cache *cache)
{
	forget_projects(cache);
	forget_names(cache);
}

void fsq_project_cache_check(struct fsq_project_cache *cache)
{
	cache->projects.checked = false;
	cache->projid.checked = false;
}

static bool is_current(struct fsq_cached_file *cached, const char *file)
{
	if (!cached->path || strcmp(cached->path, file) != 0)
		return false;
	if (!cached->checked)
		cached->checked = fsq_file_stamp_is_current(&cached->stamp, file);
	return cached->checked;
}

/* Before the file is read. @return  whether there was memory */
static bool remember(struct fsq_cached_file *cached, const char *file)
{
	*cached = (struct fsq_cached_file){
		.path = strdup(file),
		.checked = true,
		.stamp = fsq_file_stamp_of(file),
	};
	return cached->path != NULL;
}

static int compare_words(const void *one, const void *other)
{
	const struct fsq_entry *const *a = one, *const *b = other;
	int order = strcmp((*a)->word, (*b)->word);

	return order ? order : (*a > *b) - (*a < *b);
}

static int read_projects(struct fsq_project_cache *cache, const char *file, struct fsq_error *err)
{
	int rc;

	forget_projects(cache);
	if (!remember(&cache->projects, file))
		return fsq_fail(err, FSQ_E_FAILED, ENOMEM, file, "cannot read the projects file");
	rc = fsq_entries_of_projects(&cache->entries, file, err);
	if (rc == 0)
		cache->sorted = calloc(cache->entries.count + 1, sizeof(*cache->sorted));
	if (rc == 0 && !cache->sorted)
		rc = fsq_fail(err, FSQ_E_FAILED, ENOMEM, file, "cannot read the projects file");
	if (rc) {
		forget_projects(cache);
		return rc;
	}
	for (size_t i = 0; i < cache->entries.count; i++)
		cache->sorted[i] = &cache->entries.list[i];
	array_sort(cache->sorted, cache->entries.count, sizeof(*cache->sorted), compare_words);
	return 0;
}

int fsq_project_cache_id_of(struct fsq_project_cache *cache, const char *file,
			    const char *directory, uint32_t *id, struct fsq_error *err)
{
	size_t low = 0, high;

	*id = 0;
	/* An unreadable file fails as it does without a cache. */
	if (!is_current(&cache->projects, file) && read_projects(cache, file, NULL))
		return fsq_projects_id_of(file, directory, id, err);
	high = cache->entries.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(cache->sorted[middle]->word, directory) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < cache->entries.count && strcmp(cache->sorted[low]->word, directory) == 0)
		*id = cache->sorted[low]->id;
	return 0;
}

int fsq_project_cache_names(struct fsq_project_cache *cache, const char *file,
			    struct fsq_project_names **names, struct fsq_error *err)
{
	int rc = 0;

	if (!is_current(&cache->projid, file)) {
		forget_names(cache);
		rc = remember(&cache->projid, file)
			     ? fsq_project_names_read(&cache->names, file, err)
			     : fsq_fail(err, FSQ_E_FAILED, ENOMEM, file,
					"cannot read the projid file");
		/* It is read again, and told again. */
		if (rc)
			cache->projid.stamp.young = true;
	}
	*names = cache->names;
	return rc;
}
