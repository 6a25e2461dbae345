/* SPDX-License-Identifier: Apache-2.0 */
/* How much is used below a path, of what it may use: from its quota, or counted. */
#ifndef FSQ_USAGE_H
#define FSQ_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"
#include "kernel.h"
#include "tree_walk.h"

enum fsq_usage_source {
	FSQ_USAGE_QUOTA,  /* of its project, by the kernel */
	FSQ_USAGE_WALK,	  /* counted as du(1) does; deleted files that are open are not seen */
	FSQ_USAGE_STATFS, /* of its whole filesystem, which is in memory */
};

struct fsq_usage {
	enum fsq_usage_source source;
	uint32_t id; /* 0: no project */
	uint64_t used_bytes, used_inodes;
	/* 0: no limit; KEP-1029's largest value is none */
	uint64_t soft_bytes, hard_bytes;
	uint64_t soft_inodes, hard_inodes;
	bool accounting, enforced; /* of projects, on its filesystem */
	char *device;		   /* as the mount table has it */
	char *mountpoint;
};

/**
 * Find out what is used below a path. Of a directory in the projects file it is the project that
 * the file says, whatever its owner has made it carry; else the one that it carries.
 *
 * @path     a file or directory, not a symlink
 * @projects_file or NULL
 * @walk     count where there is no quota
 * @manner   of that, or NULL
 * @usage    filled on success, clear it with fsq_usage_clear()
 * @return   0; FSQ_E_NOT_FOUND no such path, or with a hint: no project; FSQ_E_NOT_SUPPORTED, with
 * a hint: no project quota on this filesystem; FSQ_E_PERMISSION; FSQ_E_FAILED Source: KEP-1029,
 * "Operation Flow -- Retrieving Storage Consumption"
 */
int fsq_usage_get(struct fsq_usage *usage, const char *path, const char *projects_file, bool walk,
		  const struct fsq_walk_manner *manner, struct fsq_error *err);

/** Fill use and limits of a usage from a quota record. */
void fsq_usage_fill(struct fsq_usage *usage, const struct fsq_dquot *dquot);

void fsq_usage_clear(struct fsq_usage *usage);

#endif
