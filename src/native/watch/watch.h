/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watch command. watch.c waits and polls, ids.c keeps the state of IDs and gathers events, report.c prints them,
 * and run.c runs the program of --exec.
 */
#ifndef FSQ_WATCH_H
#define FSQ_WATCH_H

#include <poll.h>
#include <sys/types.h>

#include "native/cli/paths.h"
#include "native/cli/pods.h"
#include "native/cli/session.h"
#include "native/rows/growth.h"
#include "native/rows/records.h"
#include "quota/fsquota.h"
#include "quota/mounts/mount_table.h"

/* --- the filesystems. None is kept open, or it could not be unmounted. Quotas are read by the device. --- */

struct watch_volume {
	dev_t dev;
	char *device;
	char *directory; /* mount point */
	bool has_device;
	bool type[FSQ_TYPES]; /* types that are accounted and wanted */
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
	uint64_t last;	/* sequence number of the last one */
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
		unsigned int reported; /* enum watch_level: reported as above these */
		bool told_hard;	       /* LEVEL_HARD was printed, or was reached at the start */
		uint64_t mark,
			mark_limit; /* use and hard limit when LEVEL_HARD was reported; 0: unknown */
	} form[WATCH_FORMS];
	struct watch_tally tally[WATCH_FORMS][WATCH_EVENTS];
	int64_t due; /* when its events are due, as watch_now(); 0: there are none */
	struct watch_id *next_due;
	struct watch_id *next, *previous;
	unsigned int pass;    /* the last scan that saw it */
	int64_t full_seconds; /* as in struct growth_use, at the last poll */
	/* While it is reported: */
	bool is_reported, is_wanted; /* wanted: an operand selects it */
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

/** Add the events of a warning of the kernel. */
void watch_ids_warn(struct watch_ids *ids, struct watch_volume *volume,
		    const struct fsq_warning *warning);

/** Add the events of a record that was read now. */
void watch_ids_judge(struct watch_ids *ids, struct watch_volume *volume, enum fsq_type type,
		     const struct fsq_dquot *dquot, enum watch_judgement judgement);

/**
 * Set the time until an ID is full, and add an event if it crosses the threshold. Once reported, it must exceed the
 * threshold by a quarter to count as not full soon: estimates go up and down.
 */
void watch_ids_estimate(struct watch_ids *ids, struct watch_volume *volume, enum fsq_type type,
			uint32_t id, int64_t seconds);

/**
 * Remove IDs whose events are due from the queue.
 *
 * @volume    only of this filesystem, or NULL
 * @now      INT64_MAX: all
 * @return   the first, and so on by next_due; or NULL
 */
struct watch_id *watch_ids_take_due(struct watch_ids *ids, const struct watch_volume *volume,
				    int64_t now);

/**
 * Call before reporting the events of an ID, with its current record. XFS warns of the hard limit also when a file is
 * removed: then drop a repeated warning, and add the event that use is below the limit.
 */
void watch_ids_settle(struct watch_ids *ids, struct watch_id *id, const struct fsq_dquot *dquot);

/** Call after reporting the events of an ID, with the record or NULL. May free the ID. */
void watch_ids_reported(struct watch_ids *ids, struct watch_id *id, const struct fsq_dquot *dquot);

/** Forget all IDs of a filesystem. @volume  NULL: of all filesystems */
void watch_ids_forget(struct watch_ids *ids, const struct watch_volume *volume);

/* --- the row of an event --- */

struct watch_words {
	const char *event;			/* "soft-reached" */
	const char *before_limit, *after_limit; /* the sentence around "space" or "inodes" */
};

/* Something that happened to a quota. */
struct watch_row {
	int64_t milliseconds; /* when, since 1970 */
	struct watch_words words;
	const char *limit; /* "space" or "inodes" */
	double over;	   /* the percentage that the event is about, or 0 */
	/* Its use is FIELD_NOT_KNOWN if the record could not be read. */
	struct record_row record;
	struct field_texts directories; /* of a project */
	const char *pod;		/* as in struct project_row */
	const char *source;		/* "kernel" or "poll" */
	uint64_t writer;		/* user ID of who caused it, or FIELD_NOT_KNOWN */
	uint64_t count;			/* how often since the last one */
	int64_t full_seconds;		/* of --full-within */
	const char *in_force;		/* as in struct project_row */
};

extern const struct row_fields watch_rows;

/* --- run.c: the program of --exec, one process at a time. Events that come while it runs are gathered by ID. It runs
 * once for each of these IDs, with the variables of the last event. --- */

struct watch_job;

/* Zero-initialise all but the session and the fields. */
struct watch_run {
	struct session *session;
	const struct field *fields; /* of the rows */
	char **words;		    /* the file and its arguments, ended by NULL */
	struct watch_job *jobs;	    /* that wait, the oldest first */
	pid_t process;		    /* that runs, or 0 */
};

/**
 * Check and store --exec and --exec-arg. @return  whether they are right; else an error was reported
 */
bool watch_run_set(struct watch_run *run, const char *file, const struct word_list *arguments);

/** Run the program for an event, now or later. */
void watch_run(struct watch_run *run, const struct watch_row *row, dev_t dev);

/** If the program has ended, report a failure and start the next job. */
void watch_run_reap(struct watch_run *run);

/** Drop the jobs that wait. */
void watch_run_stop(struct watch_run *run);

/** @return  whether the program is running or a job waits */
bool watch_run_is_busy(const struct watch_run *run);

/** Free it. A program that is still running is left alone. */
void watch_run_free(struct watch_run *run);

/* --- the run --- */

/* The descriptors that watch polls. */
enum watch_source { WATCH_SIGNALS, WATCH_MOUNTS, WATCH_WARNINGS, WATCH_OUTPUT, WATCH_SOURCES };

struct watch {
	struct session *session;
	bool wanted[FSQ_TYPES];
	char **only; /* mount points; none: all */
	size_t only_count;
	struct scopes scopes; /* of projects: one for each of @only; none: all */
	struct watch_volume **volumes;
	size_t volume_count, volume_capacity;
	bool no_memory;	  /* for a filesystem */
	struct pods pods; /* during watch_report(), as the names in @texts */
	struct texts texts;
	struct fsq_mount_points *points; /* NULL: not read since the mounts changed */
	struct growth_use *uses;	 /* of one type on one filesystem, by ID */
	size_t use_count, use_capacity;
	struct watch_ids ids;
	struct watch_run run;
	struct fsq_warnings *warnings; /* NULL: the kernel sends none */
	uint64_t interval;	       /* seconds between polls */
	bool initial;		       /* also report what is above a level at the start */
	uint64_t left;		       /* events to report until the end; 0: no limit */
	bool begun, ends;
	bool complete; /* --count events were reported */
	struct pollfd source[WATCH_SOURCES];
	int64_t next_poll;
	bool mounts_changed, looked_for_new; /* looked after that change */
	bool mounts_missed;		     /* some could not be read: try again */
	unsigned int signals;		     /* number of termination signals */
};

/* --- report.c --- */

/** Address a filesystem for fsq_quota_ functions, until fsq_filesystem_close(). */
int watch_volume_open(const struct watch_volume *volume, struct fsq_filesystem **fs,
		      struct fsq_error *err);

/** If stderr is a terminal, print there which filesystems are watched. */
void watch_report_start(const struct watch *watch);

/** Report the events that are due, as watch_ids_take_due(). */
void watch_report(struct watch *watch, const struct watch_volume *volume, int64_t now);

#endif
