/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The projects of filesystems: those with a record of use or limits, and those of the projects
 * file, each with its directories. Or the users or groups that have a record.
 */
#ifndef FSQ_PROJECTS_H
#define FSQ_PROJECTS_H

#include "native/cli/options.h"
#include "native/cli/paths.h"
#include "native/cli/pods.h"
#include "native/cli/session.h"
#include "native/cli/until.h"
#include "quota/fsquota.h"
#include "quota/mounts/mount_table.h"
#include "shared/texts.h"

/* --- listing.c: the row that commands which show projects have in common --- */

/* Whether limits hold in the directories of a project. */
struct in_force {
	enum fsq_in_force is; /* the worst */
	const char *outside;  /* the directory of which that is true, or NULL */
	unsigned int gone;    /* how many directories are not there */
	uint32_t carried_id;  /* by that */
};

/* A directory, or in a list a project, user or group. */
struct project_row {
	enum fsq_type type;
	const char *path;		/* or NULL: not known */
	struct field_texts directories; /* in a list: all known directories */
	uint32_t id;
	const char *name;		  /* or NULL */
	const char *shown_name;		  /* in a table, also NO_PROJECT, or @pod */
	uint64_t used_bytes, used_inodes; /* or FIELD_NOT_KNOWN */
	uint64_t tree_bytes;		  /* with those in its directory; or FIELD_NOT_KNOWN */
	/* 0: no limit */
	uint64_t soft_bytes, hard_bytes;
	uint64_t soft_inodes, hard_inodes;
	/* As a table shows them, also those that statfs(2) reports. */
	uint64_t shown_hard_bytes, shown_hard_inodes;
	uint64_t available_bytes;	    /* or FIELD_NOT_KNOWN */
	uint64_t limit_bytes, limit_inodes; /* of statfs(2), or FIELD_NOT_KNOWN */
	bool limits_at_least, bytes_at_least, inodes_at_least;
	enum row_change used_at_least; /* ROW_ONLY_SHOWN: @source is not statfs */
	int64_t bytes_grace_seconds, inodes_grace_seconds; /* or FIELD_NO_SECONDS */
	int64_t full_seconds; /* of check --full-within; or FIELD_NO_SECONDS */
	int64_t until;	      /* of list, check and usage: milliseconds since 1970, or 0 */
	double percent;	      /* of the limit that is nearer, see listing_percent() */
	const char *source;   /* "quota", "walk" or "statfs" */
	const char *filesystem;
	const char *mountpoint;
	bool accounting, enforced;
	struct in_force force;
	const char *in_force;	 /* the word for it, or NULL */
	const char *pod;	 /* of a volume of kubelet: NAMESPACE/POD/VOLUME; or NULL */
	bool warned;		 /* that its filesystem enforces nothing was said */
	uint64_t mounts_skipped; /* in the walk; FIELD_NOT_KNOWN: no walk */
	uint64_t special; /* files that cannot carry the ID; FIELD_NOT_KNOWN: none, or no walk */
	enum row_change change;
	const char *
		over_budget; /* the directory or mount point whose budget the limit exceeds, or NULL */
};

/* Rows of list, check and usage. They differ in their columns. */
extern const struct row_fields list_rows, shown_list_rows, total_list_rows, total_tree_rows,
	check_rows, within_rows, usage_rows, shown_usage_rows;
/* The same of users and groups. */
extern const struct row_fields user_list_rows, user_check_rows, user_within_rows;

/**
 * @return   how full it is in percent of the hard limit, or of the soft limit if there is no hard one; the higher of
 *           space and inodes. -1: there is no limit
 */
double listing_percent(const struct project_row *row);

/**
 * @return   the space that is free for ordinary users; FIELD_NOT_KNOWN: the caller cannot reach the filesystem, or an
 *           error was reported
 */
uint64_t listing_free_bytes(struct session *session, const char *mountpoint);

/** @return  the size of the filesystem in bytes; 0: it is not known */
uint64_t listing_total_bytes(const char *mountpoint);

/**
 * Set the bytes that can still be written: the least that the filesystem and the limits leave.
 *
 * @free_bytes  as listing_free_bytes()
 */
void listing_set_available(struct project_row *row, uint64_t free_bytes);

/**
 * Make a row of a usage. Looks up the name of the project, unless its ID is 0.
 *
 * @path     its directory, or NULL: not known
 */
struct project_row listing_row(struct session *session, const char *path,
			       const struct fsq_usage *usage);

/** The same of a type, without a name. */
struct project_row listing_row_unnamed(enum fsq_type type, const char *path,
				       const struct fsq_usage *usage);

/** Look up the name of the project, user or group of a row. Project 0 has none. */
void listing_set_name(struct session *session, struct project_row *row);

/** Set what NAME shows: the name, or the pod where it is one that was made; in a table for people, nothing. */
void listing_set_shown_name(struct session *session, struct project_row *row);

/**
 * Look at each directory. One that is gone has nothing in it; a failure is a warning.
 *
 * @points   NULL: the directories were named by the caller
 * @id       of the project
 * @enforced the filesystem enforces limits
 */
struct in_force listing_look(struct session *session, const struct fsq_mount_points *points,
			     const struct field_texts *directories, uint32_t id, bool enforced);

/** @return  yes, or the word for why not; NULL: not known */
const char *listing_in_force_word(enum fsq_in_force is);

/** @return  whether limits hold, as far as is known; else a warning was printed that names the repair */
bool listing_is_in_force(struct session *session, const struct project_row *row);

/** If another filesystem answers for that of a directory, and shows no limit of its own: say that it may be its size. */
void listing_tell_of_size(struct session *session, const char *directory,
			  const struct fsq_usage *usage);

/** Warn if limits of a project do not hold in a directory, unless that cannot be seen. @points  or NULL: named by the caller */
void listing_warn_if_outside(struct session *session, const struct fsq_mount_points *points,
			     const char *directory, uint32_t id);

/* A directory whose quota a command has changed, or in a dry run would change. */
struct listing_change {
	const char *directory;
	uint32_t id;
	struct fsq_limits limits; /* in a dry run those it would have */
	const char *name;	  /* name that it would get in a dry run; or NULL */
	bool changed, enforced;
	bool walked;
	uint64_t mounts_skipped;       /* if so */
	uint64_t special;	       /* files that cannot carry the ID */
	const struct fsq_budget *over; /* the limit was forced above this budget, or NULL */
	int64_t until;		       /* when the limits go back, in seconds since 1970; or 0 */
};

/**
 * Print its row.
 *
 * @return   whether it was printed; else an error was reported
 */
bool listing_show_change(struct session *session, const struct listing_change *change);

/** Show the result of a dry run. The use of a new project is unknown. */
void listing_plan_change(struct fsq_usage *usage, const struct listing_change *change);

/* --- projects.c --- */

/* A line of the projects file. */
struct known_directory {
	uint32_t id;
	size_t filesystem; /* index in the table of paths */
	const char *directory;
};

struct project {
	struct fsq_usage usage;	   /* without device and mountpoint */
	size_t filesystem;	   /* index in the table of paths */
	size_t known, known_count; /* its directories: first index in @known, number */
};

/* A filesystem, and with want_sums the totals of all its projects. */
struct project_sum {
	bool asked;		      /* it is in a scope */
	bool has_state;		      /* the next two are known */
	bool accounting, enforced;    /* of projects */
	bool success;		      /* false: an error was reported */
	uint64_t scan_nanoseconds;    /* how long reading it took */
	uint64_t scanned_nanoseconds; /* when that ended, since 1970 */
	bool known;		      /* all records were read */
	uint64_t projects;	      /* with use or limits */
	uint64_t hard_bytes;
	uint64_t unlimited;    /* projects without a hard limit of space */
	struct fsq_usage none; /* what belongs to no project */
	uint64_t gone;	       /* of metrics: registered directories that are not there */
	uint64_t free_bytes;   /* what is left for writers, once a row has asked for it */
	bool knows_free;
};

/* Zero-initialise all but the session and the settings. */
struct projects {
	struct session *session;
	enum fsq_type type; /* users and groups have no directories, and ID 0 is one of them */
	struct scopes scopes;
	const uint32_t *ids; /* of users or groups: read only these; NULL: all */
	size_t id_count;
	struct known_directory *known; /* sorted by filesystem, ID and directory */
	size_t known_count, known_capacity, next_known;
	struct texts texts; /* the directories */
	struct pods pods;
	const char **directories; /* of a row */
	/* Called for each project, sorted by filesystem and ID; NULL: keep them in @all. */
	void (*visit)(struct projects *projects, const struct project *project, void *arg);
	void *arg;
	struct project *all;
	size_t count, capacity;
	bool want_none;		   /* include ID 0 of filesystems that are wanted whole */
	bool no_names;		   /* of users and groups: the caller calls listing_set_name() */
	bool want_available;	   /* set available_bytes of rows */
	const struct until *until; /* set until of rows by these lines; or NULL */
	bool want_in_force;	   /* set in_force of rows: look at each directory */
	struct project_sum *sums;  /* by index in the table of paths */
	bool want_sums;
	bool pass_over;	     /* skip filesystems without project quota */
	bool by_statfs;	     /* if records cannot be read, use statfs(2) on directories ... */
	bool tell_of_statfs; /* ... and say that others may be missing */
	bool no_memory;
	size_t gone;	 /* with want_in_force, directories of rows that are not there */
	bool any_counts; /* a filesystem counts this type */
	size_t warned;	 /* 1 + the last filesystem of which it was said that it enforces nothing */
	/* of the filesystem being read: */
	size_t filesystem;
	struct fsq_state state;
};

/** As scopes_add_path(); any path on a filesystem stands for all users or groups of it. */
void projects_add_path(struct projects *projects, const char *path, bool own);

/**
 * Read all projects in a scope; failures are reported.
 *
 * @all      no path was named: read those of the filesystems of --at, or of all that have quota
 * @return   whether there was anything to read
 */
bool projects_collect_scopes(struct projects *projects, bool all);

/** @return  whether a project that was read is in a scope */
bool projects_has_any(const struct projects *projects, const struct scope *scope);

/** Tell a person of the directories that were named and have no project at or below them. @none  nothing has */
void projects_tell_of_empty(const struct projects *projects, bool none);

/**
 * Read the project, user or group of --id or --name, once for each filesystem that has it.
 *
 * @return   whether there is one; else an error was reported
 */
bool projects_collect_chosen(struct projects *projects);

/** The same of the user who called, or of the groups of the process, which needs no privileges. */
bool projects_collect_own(struct projects *projects);

/* Name of the row of ID 0 in tables and in top. Not in JSON, where programs would take it for a name. */
#define NO_PROJECT "(no project)"

/** @return  a project as a row; its directories are valid until the next call */
struct project_row projects_row(struct projects *projects, const struct project *project);

/** As listing_is_in_force(); that limits of a filesystem are not enforced is said once. */
bool projects_is_in_force(struct projects *projects, const struct project *project,
			  const struct project_row *row);

/**
 * Print a project that was read before it was changed, without its directories.
 *
 * @change   what was done to it, or NULL
 */
void projects_show_change(struct projects *projects, const struct project *project,
			  const struct listing_change *change);

void projects_free(struct projects *projects);

/**
 * Print the project of --id or --name, a row for each filesystem that has it; failures are reported.
 *
 * @dev      only of this filesystem, or NULL
 * @change   what was done to it, or NULL
 */
void projects_show_chosen(struct session *session, const dev_t *dev,
			  const struct listing_change *change);

#endif
