/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The projects of filesystems: those with a record of use or limits, and those of the projects
 * file, each with its directories.
 */
#ifndef FSQ_PROJECTS_H
#define FSQ_PROJECTS_H

#include "listing.h"
#include "paths.h"
#include "session.h"
#include "quota/fsquota.h"
#include "shared/texts.h"

/* A line of the projects file. */
struct known_directory {
	uint32_t id;
	size_t filesystem; /* index in the table of paths */
	const char *directory;
	bool by_name; /* it may lie elsewhere, if a symlink leads there */
};

struct project {
	struct fsq_usage usage;	   /* without device and mountpoint */
	size_t filesystem;	   /* index in the table of paths */
	size_t known, known_count; /* its directories */
};

/* What all projects of a filesystem add up to. */
struct project_sum {
	bool asked;		      /* the filesystem is in a scope */
	bool has_state;		      /* the next two are known */
	bool accounting, enforced;    /* of projects */
	bool success;		      /* else an error was reported */
	uint64_t scan_nanoseconds;    /* how long reading it took */
	uint64_t scanned_nanoseconds; /* when that ended, since 1970 */
	bool known;		      /* all records were read */
	uint64_t projects;	      /* with use or limits */
	uint64_t hard_bytes;
	uint64_t unlimited;    /* projects without a hard limit of space */
	struct fsq_usage none; /* what belongs to no project */
};

/* Zeros, but for the session, are an empty set. */
struct projects {
	struct session *session;
	struct scopes scopes;
	struct known_directory *known; /* sorted by filesystem, ID and directory */
	size_t known_count, known_capacity, next_known;
	struct texts texts;	  /* the directories */
	const char **directories; /* of a row */
	bool points_read;
	struct fsq_mount_points *points; /* NULL: not to be had */
	struct project *all;		 /* by filesystem, then ID */
	size_t count, capacity;
	struct project_sum *sums; /* if wanted: one for each of the table of paths */
	bool want_sums;
	bool pass_over; /* filesystems without project quota: no error */
	bool no_memory;
	int64_t now; /* when they were read, in seconds since 1970 */
	/* of the filesystem being read: */
	size_t filesystem;
	struct fsq_state state;
};

/**
 * Read all that is in a scope; failures are told.
 *
 * @all      no path was named: read those of the filesystems of --at, or of all that have quota
 * @return   whether there was anything to read
 */
bool projects_collect_scopes(struct projects *projects, bool all);

/** @return  whether there is a project in a scope, of those that were read */
bool projects_has_any(const struct projects *projects, const struct scope *scope);

/**
 * Read the project of --id or --name, once for each filesystem that has it.
 *
 * @return   whether there is one; else an error was reported
 */
bool projects_collect_chosen(struct projects *projects);

/** A project as a row; its directories stay until the next row. */
struct project_row projects_row(const struct projects *projects, const struct project *project);

/**
 * Print a project that was read before it was changed, without its directories.
 *
 * @change   what was done to it, or NULL
 */
void projects_show_change(const struct projects *projects, const struct project *project,
			  struct table *table, const struct listing_change *change);

void projects_free(struct projects *projects);

/**
 * Print the project of --id or --name, a row for each filesystem that has it; failures are told.
 *
 * @dev      only of this filesystem, or NULL
 * @change   what was done to it, or NULL
 */
void projects_show_chosen(struct session *session, struct table *table, const dev_t *dev,
			  const struct listing_change *change);

#endif
