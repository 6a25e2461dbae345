/* SPDX-License-Identifier: Apache-2.0 */
/* What the native commands that show projects have in common: util-linux's options, and the row. */
#ifndef FSQ_LISTING_H
#define FSQ_LISTING_H

#include "options.h"
#include "quota/fsquota.h"

/* A directory, or in a list a project. */
struct project_row {
	const char *path;		/* or NULL: not known */
	struct field_texts directories; /* in a list: all that are known */
	uint32_t id;
	const char *name;		  /* or NULL */
	uint64_t used_bytes, used_inodes; /* or FIELD_NOT_KNOWN */
	/* 0: no limit */
	uint64_t soft_bytes, hard_bytes;
	uint64_t soft_inodes, hard_inodes;
	/* As a table shows them: those of statfs(2), too. */
	uint64_t shown_hard_bytes, shown_hard_inodes;
	uint64_t limit_bytes, limit_inodes; /* of statfs(2), or FIELD_NOT_KNOWN */
	bool limits_at_least, bytes_at_least, inodes_at_least;
	enum row_change used_at_least;			   /* ROW_ONLY_SHOWN: not by statfs(2) */
	int64_t bytes_grace_seconds, inodes_grace_seconds; /* or FIELD_NO_SECONDS */
	int64_t full_seconds; /* of check --full-within; or FIELD_NO_SECONDS */
	double percent;	      /* of the limit that is nearer, see listing_percent() */
	const char *source;   /* "quota", "walk" or "statfs" */
	const char *filesystem;
	const char *mountpoint;
	bool accounting, enforced;
	uint64_t mounts_skipped; /* in the walk; FIELD_NOT_KNOWN: there was none */
	enum row_change change;
	const char *
		over_budget; /* the directory or mount point whose budget the limit exceeds, or NULL */
};

/* Of list, check and usage, which show other columns; assign and resize. */
extern const struct row_fields list_rows, total_list_rows, check_rows, within_rows, usage_rows;
extern const struct field project_fields[];

/** @return  how much of the hard limit is used, or of the soft one without; -1: there is no limit */
double listing_percent_of(uint64_t used, uint64_t soft, uint64_t hard);

/**
 * How full: of space or inodes what is nearer to its hard limit, or to the soft one without; -1: there is
 * no limit.
 */
double listing_percent(const struct project_row *row);

/** Forget what statfs(2) shows of limits. */
void listing_forget_limits(struct project_row *row);

/**
 * A usage as a row; the name is looked up if there is an ID.
 *
 * @path     its directory, or NULL: not known
 * @now      as records_row() has it, for many rows; NULL: for one
 */
struct project_row listing_row(struct session *session, const char *path,
			       const struct fsq_usage *usage, int64_t *now);

/* A directory whose quota a command has changed, or in a dry run would change. */
struct listing_change {
	const char *directory;
	uint32_t id;
	struct fsq_limits limits; /* in a dry run those that it would have */
	const char *name;	  /* the same, if the ID has none; or NULL */
	bool changed, enforced;
	bool walked;
	uint64_t mounts_skipped;       /* if so */
	const struct fsq_budget *over; /* the limit was forced above this budget, or NULL */
};

/**
 * Print its row.
 *
 * @return   whether it was printed; else an error was reported
 */
bool listing_show_change(struct session *session, struct table *table,
			 const struct listing_change *change);

/** As a dry run would leave it. What another project uses now is not known of this one. */
void listing_plan_change(struct fsq_usage *usage, const struct listing_change *change);

#endif
