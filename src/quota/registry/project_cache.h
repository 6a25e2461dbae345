/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the registry as they were read last, as long as they do not change. */
#ifndef FSQ_PROJECT_CACHE_H
#define FSQ_PROJECT_CACHE_H

#include "entries.h"
#include "shared/file_stamp.h"

/* A file that was read. */
struct fsq_cached_file {
	char *path;   /* NULL: none yet */
	bool checked; /* it is as on disk, as far as the last check knows */
	struct fsq_file_stamp stamp;
};

struct fsq_project_cache {
	struct fsq_cached_file projects, projid;
	struct fsq_entries entries;	 /* of the projects file */
	const struct fsq_entry **sorted; /* by word, then by place in the file */
	struct fsq_project_names *names;
};

void fsq_project_cache_clear(struct fsq_project_cache *cache);

/** From now on changes of the files count that were made before. */
void fsq_project_cache_check(struct fsq_project_cache *cache);

/** As fsq_projects_id_of(). */
int fsq_project_cache_id_of(struct fsq_project_cache *cache, const char *file,
			    const char *directory, uint32_t *id, struct fsq_error *err);

/** As fsq_project_names_read(); the names are the cache's, and hold until the next check. */
int fsq_project_cache_names(struct fsq_project_cache *cache, const char *file,
			    struct fsq_project_names **names, struct fsq_error *err);

#endif
