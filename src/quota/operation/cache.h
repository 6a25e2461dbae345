/* SPDX-License-Identifier: Apache-2.0 */
/* What fsq_cache_new() makes: mounts, and the files of the registry as long as they do not change. */
#ifndef FSQ_CACHE_H
#define FSQ_CACHE_H

#include "quota/mounts/mount.h"
#include "quota/registry/entries.h"
#include "shared/file_stamp.h"

/* A file that was read. */
struct fsq_cached_file {
	char *path;   /* NULL: none yet */
	bool checked; /* it is as on disk, as far as the last check knows */
	struct fsq_file_stamp stamp;
};

struct fsq_cache {
	struct fsq_mount_cache mounts;
	struct fsq_cached_file projects, projid;
	struct fsq_entries entries; /* of the projects file, with an index by word */
	struct fsq_project_names *names;
};

/** As fsq_projects_id_of(). */
int fsq_cache_id_of(struct fsq_cache *cache, const char *file, const char *directory, uint32_t *id,
		    struct fsq_error *err);

#endif
