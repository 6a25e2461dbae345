/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The projects of filesystems: those with a record of use or limits, and those of the projects
 * file, each with its directories.
 */
#ifndef FSQ_PROJECTS_H
#define FSQ_PROJECTS_H

#include <sys/types.h>

#include "listing.h"
#include "session.h"
#include "quota/fsquota.h"

/* A line of the projects file. */
struct known_directory {
	uint32_t id;
	size_t filesystem; /* index in the table of paths */
	char *directory;
};

struct project {
	struct fsq_usage usage;	   /* without device and mountpoint */
	size_t filesystem;	   /* index in the table of paths */
	size_t known, known_count; /* its directories */
};

/* What is wanted of a filesystem: all, or only what is registered at or below a directory. */
struct project_scope {
	dev_t dev;
	char *directory; /* absolute and without symlinks; NULL: all */
	char *given;	 /* as the user gave it */
};

/* What all projects of a filesystem add up to. */
struct project_sum {
	bool known; /* all records were read */
	uint64_t hard_bytes;
	uint64_t unlimited;    /* projects without a hard limit of space */
	struct fsq_usage none; /* what belongs to no project */
};

/* Zeros, but for the session, are an empty set. */
struct projects {
	struct session *session;
	struct project_scope *scopes;
	size_t scope_count, scope_capacity;
	struct known_directory *known; /* sorted by filesystem, ID and directory */
	size_t known_count, known_capacity, next_known;
	struct project *all; /* by filesystem, then ID */
	size_t count, capacity;
	struct project_sum *sums; /* one for each of the table of paths */
	bool no_memory;
	/* of the filesystem being read: */
	size_t filesystem;
	bool whole;
	struct fsq_state state;
};

/**
 * Add a filesystem to the table of paths, and what is wanted of it; failures are told.
 *
 * @path     a device or a mount point: all projects; another directory: those at or below it
 */
void projects_add_path(struct projects *projects, const char *path);

/** Read all that is wanted; failures are told. Without a scope: of the whole table of paths. */
void projects_collect(struct projects *projects);

/**
 * A project as a row.
 *
 * @directories room for known_count of them and one more; the row points to it
 */
struct project_row projects_row(const struct projects *projects, const struct project *project,
				const char **directories);

void projects_free(struct projects *projects);

#endif
