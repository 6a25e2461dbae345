/* SPDX-License-Identifier: Apache-2.0 */
/* What is used, by many calls that would read the same again, and whether there can be a quota. */
#ifndef FSQ_USAGE_H
#define FSQ_USAGE_H

#include "quota/fsquota.h"
#include "quota/kernel/inode_project.h"
#include "quota/kernel/quotactl.h"

/*
 * The mounts, the states of quota and the files of the registry, as they were read last. No file
 * system is kept open: it can be unmounted.
 */
struct fsq_cache;

/**
 * @cache    set; free it with fsq_cache_free(). One thread uses it at a time
 * @return   0; FSQ_E_FAILED no memory
 */
int fsq_cache_new(struct fsq_cache **cache, struct fsq_error *err);

/**
 * Let changes that others have made until now count in the calls that follow; without it, what a
 * call has read may be used by those behind it.
 *
 * Source: proc_pid_mountinfo(5), poll(2), stat(2)
 */
void fsq_cache_check(struct fsq_cache *cache);

void fsq_cache_free(struct fsq_cache *cache);

/** As fsq_usage_get(), with what a cache has read. @cache  or NULL */
int fsq_usage_get_cached(struct fsq_usage *usage, const struct fsq_usage_request *request,
			 struct fsq_cache *cache, struct fsq_error *err);

/** Fill use and limits from a quota record. ID 0 gets no grace time: it has those of all. */
void fsq_usage_set_dquot(struct fsq_usage *usage, const struct fsq_dquot *dquot);

/**
 * @id       the project
 * @carried  what the directory carries, or a file of it
 * @is_file  which hands no ID on
 * @enforced the file system enforces limits
 * @return   whether limits hold in it
 */
static inline enum fsq_in_force
fsq_in_force_of(uint32_t id, const struct fsq_inode_project *carried, bool is_file, bool enforced)
{
	if (carried->id != id)
		return FSQ_IN_FORCE_OTHER_ID;
	if (!carried->inherit && !is_file)
		return FSQ_IN_FORCE_NOT_INHERITED;
	return enforced ? FSQ_IN_FORCE_YES : FSQ_IN_FORCE_NOT_ENFORCED;
}

struct fsq_support {
	bool enforced;	  /* limits are enforced */
	char *device;	  /* the source in the mount table, or NULL: not known */
	char *mountpoint; /* or NULL */
};

/**
 * Find out whether the caller can put a quota on a directory.
 *
 * @support  filled on success; clear it with fsq_support_clear()
 * @return   0; FSQ_E_NOT_SUPPORTED not here; FSQ_E_PERMISSION not this caller; as fsq_assign()
 * Source: KEP-1029, "Operation Flow -- Applying a Quota"
 */
int fsq_supported(const char *directory, struct fsq_support *support, struct fsq_error *err);

/** Free what a support points to. */
void fsq_support_clear(struct fsq_support *support);

/**
 * The same from a cache, which reads the file when it has changed. The names are the cache's, and
 * hold until fsq_cache_check() or a call with another file.
 */
int fsq_cache_names(struct fsq_cache *cache, const char *file, struct fsq_project_names **names,
		    struct fsq_error *err);

#endif
