/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run of watch, and its parts: watch.c waits and polls, ids.c knows whom and how often; report.c prints, and run.c
 * runs the program of --exec.
 */
#ifndef FSQ_WATCH_H
#define FSQ_WATCH_H

#include <poll.h>
#include <sys/types.h>

#include "native/cli/session.h"
#include "native/rows/growth.h"
#include "native/rows/records.h"
#include "quota/fsquota.h"
#include "quota/mounts/mount_table.h"

/* --- the filesystems. None is kept open, since it could not be unmounted then; quotas are asked for by
 * the device. --- */

struct watch_volume {
	dev_t dev;
	char *device;
	char *directory; /* mount point */
	bool has_device;
	bool type[FSQ_TYPES]; /* that are counted there */
	bool is_mounted, reported_failure;
	struct growth growth[FSQ_TYPES]; /* with --full-within */
};

/* --- ids.c: the IDs that are at a limit, or were reported. Events of an ID are gathered for a
 * second, and then reported together, each kind once with a count. --- */

enum watch_event {
	WATCH_SOFT_REACHED,
	WATCH_GRACE_OVER,
	WATCH_HARD_REACHED,
	WATCH_BELOW_SOFT,
	WATCH_BELOW_HARD,
	WATCH_PERCENT_REACHED,
	WATCH_BELOW_PERCENT,
	WATCH_FULL_SOON,
	WATCH_NOT_FULL_SOON,
	WATCH_EVENTS,
};

/* Blocks and inodes. */
#define WATCH_FORMS 2

/* Events of one kind. */
struct watch_tally {
	uint64_t count; /* 0: none */
	int64_t first;	/* when, in milliseconds since 1970 */
	uint64_t last;	/* number of the last one: their order */
	bool from_kernel, has_writer;
	uid_t writer; /* of the last one */
};

enum watch_level {
	LEVEL_SOFT = 1,
	LEVEL_HARD = 2,
	LEVEL_GRACE = 4,
	LEVEL_PERCENT = 8,
	LEVEL_FULL_SOON = 16,
};

struct watch_id {
	struct watch_volume *volume;
	enum fsq_type type;
	uint32_t id;
	struct {
		unsigned int reported; /* enum watch_level: it is above that */
		bool told_hard;	       /* LEVEL_HARD was printed, or was so at the beginning */
		uint64_t mark,
			mark_limit; /* use and hard limit when that was reported; 0: unknown */
	} form[WATCH_FORMS];
	struct watch_tally tally[WATCH_FORMS][WATCH_EVENTS];
	int64_t due; /* when they are due, in milliseconds of CLOCK_MONOTONIC; 0: there are none */
	struct watch_id *next_due;
	struct watch_id *next, *previous;
	unsigned int pass;    /* the last scan that saw it */
	int64_t full_seconds; /* as in struct growth_use, at the last look */
	/* While it is reported: */
	bool is_reported;
	char **directories;
	size_t directory_count, directory_capacity;
};

struct watch_ids {
	double over;	 /* percent, or 0 */
	uint64_t within; /* seconds, or 0 */
	struct watch_id *all;
	struct watch_id *first_due, **end_due; /* in the order in which they are due */
	void *tree;			       /* of tsearch(3) */
	uint64_t events;
	unsigned int pass;
	bool no_memory;
};

/* How a record is judged. */
enum watch_judgement {
	WATCH_BASELINE, /* remember the state, report nothing */
	WATCH_KERNEL,	/* report only what the kernel does not */
	WATCH_ALL,
};

/** @return  milliseconds of CLOCK_MONOTONIC */
int64_t watch_now(void);

/** @return  an ID that is known, or NULL */
struct watch_id *watch_ids_find(const struct watch_ids *ids, const struct watch_volume *volume,
				enum fsq_type type, uint32_t id);

/** Take a warning of the kernel. */
void watch_ids_warn(struct watch_ids *ids, struct watch_volume *volume,
		    const struct fsq_warning *warning);

/** Take a record as it is now. */
void watch_ids_judge(struct watch_ids *ids, struct watch_volume *volume, enum fsq_type type,
		     const struct fsq_dquot *dquot, enum watch_judgement judgement);

/**
 * Take the time until an ID is full. Report it once, and again only after an estimate that was a quarter
 * above the threshold: estimates go up and down.
 */
void watch_ids_estimate(struct watch_ids *ids, struct watch_volume *volume, enum fsq_type type,
			uint32_t id, int64_t seconds);

/**
 * Remove the IDs from the queue whose events are due.
 *
 * @volume    only of this filesystem, or NULL
 * @now      INT64_MAX: all
 * @return   the first, and so on by next_due; or NULL
 */
struct watch_id *watch_ids_take_due(struct watch_ids *ids, const struct watch_volume *volume,
				    int64_t now);

/**
 * Prepare to report its events, with these numbers. XFS warns also when a file is removed at the limit: then
 * report that use is below the limit.
 */
void watch_ids_settle(struct watch_ids *ids, struct watch_id *id, const struct fsq_dquot *dquot);

/** Its events were reported, with these numbers; NULL: unknown. It may be freed. */
void watch_ids_reported(struct watch_ids *ids, struct watch_id *id, const struct fsq_dquot *dquot);

/** Forget all of a filesystem, or with NULL of all. */
void watch_ids_forget(struct watch_ids *ids, const struct watch_volume *volume);

/* --- what is printed: a line for each event, which stands alone --- */

struct watch_words {
	const char *event;			/* "soft-reached" */
	const char *before_limit, *after_limit; /* the sentence around "space" or "inodes" */
};

/* Something that happened to a quota. */
struct watch_row {
	int64_t milliseconds; /* when, since 1970 */
	struct watch_words words;
	const char *limit; /* "space" or "inodes" */
	/* Its use is FIELD_NOT_KNOWN where the filesystem could not be asked. */
	struct record_row record;
	struct field_texts directories; /* of a project */
	const char *source;		/* "kernel" or "poll" */
	uint64_t writer;		/* user ID of who caused it, or FIELD_NOT_KNOWN */
	uint64_t count;			/* how often since the last one */
	int64_t full_seconds;		/* of --full-within */
};

extern const struct row_fields watch_rows;

/* --- run.c: the program of --exec, one at a time. Events that come while it runs wait, those of one ID together: its
 * next run gets them all, with the facts of the last one. --- */

struct watch_job;

/* Zeros, but for the session, the fields and the words, are an empty set. */
struct watch_run {
	struct session *session;
	const struct field *fields; /* of the rows */
	char **words;		    /* the file and its arguments, ended by NULL */
	struct watch_job *jobs;	    /* that wait, the oldest first */
	pid_t process;		    /* that runs, or 0 */
};

/**
 * Take --exec and --exec-arg, before something happens. @return  whether they are right; else an error was
 * reported
 */
bool watch_run_set(struct watch_run *run, const char *file, const struct word_list *arguments);

/** Run the program for an event, now or later. */
void watch_run(struct watch_run *run, const struct watch_row *row, dev_t dev);

/** If the program has ended, run the next. */
void watch_run_reap(struct watch_run *run);

/** Forget what waits. */
void watch_run_stop(struct watch_run *run);

/** @return  whether a program runs or waits */
bool watch_run_is_busy(const struct watch_run *run);

/** Free it; a program that still runs goes on. */
void watch_run_free(struct watch_run *run);

/* --- the run --- */

/* What is waited for. */
enum watch_source { WATCH_SIGNALS, WATCH_MOUNTS, WATCH_WARNINGS, WATCH_OUTPUT, WATCH_SOURCES };

struct watch {
	struct session *session;
	bool wanted[FSQ_TYPES];
	char **only; /* mount points; none: all */
	size_t only_count;
	struct watch_volume **volumes;
	size_t volume_count, volume_capacity;
	bool no_memory;			 /* for one of them */
	struct fsq_mount_points *points; /* NULL: not read since the mounts changed */
	struct growth_use *uses; /* of one type on a filesystem, in the order of their IDs */
	size_t use_count, use_capacity;
	struct watch_ids ids;
	struct watch_run run;
	struct fsq_warnings *warnings; /* NULL: the kernel sends none */
	uint64_t interval;	       /* seconds between polls */
	bool initial;		       /* begin with what is at a limit already */
	uint64_t left;		       /* report so many events; 0: any number */
	bool begun, ends;
	bool complete; /* --count events were reported */
	struct pollfd source[WATCH_SOURCES];
	int64_t next_poll;
	bool mounts_changed, looked_for_new; /* since then */
	bool mounts_missed;		     /* some could not be looked at: try again */
	unsigned int signals;		     /* that ask for the end */
};

/* --- report.c --- */

/** Address a filesystem for fsq_quota_ functions, until fsq_filesystem_close(). */
int watch_volume_open(const struct watch_volume *volume, struct fsq_filesystem **fs,
		      struct fsq_error *err);

/** Tell a person who waits for the first event what is watched. */
void watch_report_start(const struct watch *watch);

/** Report the events that are due, as watch_ids_take_due(). */
void watch_report(struct watch *watch, const struct watch_volume *volume, int64_t now);

#endif
