/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The IDs that are at a limit, or were told about: what was told of each, and what will be. Events of
 * an ID are gathered for a second, and then told together, each kind once with a count.
 */
#ifndef FSQ_WATCH_IDS_H
#define FSQ_WATCH_IDS_H

#include "watch_places.h"
#include "quota/fsquota.h"

/* The first are fsq_warning_kind. */
enum watch_event {
	WATCH_SOFT_REACHED,
	WATCH_GRACE_OVER,
	WATCH_HARD_REACHED,
	WATCH_BELOW_SOFT,
	WATCH_BELOW_HARD,
	WATCH_PERCENT_REACHED,
	WATCH_BELOW_PERCENT,
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

enum watch_level { LEVEL_SOFT = 1, LEVEL_HARD = 2, LEVEL_GRACE = 4, LEVEL_PERCENT = 8 };

struct watch_id {
	struct watch_place *place;
	enum fsq_type type;
	uint32_t id;
	struct {
		unsigned int told; /* enum watch_level: it is above that */
		/* Use when the hard limit was told, and that limit. */
		bool marked;
		uint64_t mark, mark_limit;
	} form[WATCH_FORMS];
	struct watch_tally tally[WATCH_FORMS][WATCH_EVENTS];
	int64_t due; /* when they are told, in milliseconds of CLOCK_MONOTONIC; 0: there are none */
	struct watch_id *next_due;
	struct watch_id *next, *previous;
	unsigned int pass; /* the last scan that saw it */
	/* While it is told: */
	bool is_told;
	char **directories;
	size_t directory_count, directory_capacity;
};

struct watch_ids {
	double over; /* percent, or 0 */
	struct watch_id *all;
	struct watch_id *first_due, *last_due;
	void *tree; /* of tsearch(3) */
	uint64_t events;
	unsigned int pass;
	bool no_memory;
};

/* How a record is judged. */
enum watch_judgement {
	WATCH_BASELINE, /* remember where it is, tell nothing */
	WATCH_KERNEL,	/* the kernel tells what is reached: only what it does not tell */
	WATCH_ALL,
};

/** @return  milliseconds of CLOCK_MONOTONIC */
int64_t watch_now(void);

/** @return  an ID that is known, or NULL */
struct watch_id *watch_ids_find(const struct watch_ids *ids, const struct watch_place *place,
				enum fsq_type type, uint32_t id);

/** Take what the kernel has told. */
void watch_ids_warn(struct watch_ids *ids, struct watch_place *place,
		    const struct fsq_warning *warning);

/** Take a record as it is now. */
void watch_ids_judge(struct watch_ids *ids, struct watch_place *place, enum fsq_type type,
		     const struct fsq_dquot *dquot, enum watch_judgement judgement);

/** @return  the next ID whose events are due at @now, which is taken off the queue; or NULL */
struct watch_id *watch_ids_take_due(struct watch_ids *ids, int64_t now);

/**
 * Its events are about to be told, with these numbers. XFS warns also when a file is removed at the
 * limit: then it is told that use is below the limit.
 */
void watch_ids_settle(struct watch_ids *ids, struct watch_id *id, const struct fsq_dquot *dquot);

/** Its events were told, with these numbers; NULL: they are not known. It may be freed. */
void watch_ids_told(struct watch_ids *ids, struct watch_id *id, const struct fsq_dquot *dquot);

/** The events of a filesystem are due now. */
void watch_ids_make_due(struct watch_ids *ids, const struct watch_place *place);

/** Forget all of a filesystem, or with NULL of all. */
void watch_ids_forget(struct watch_ids *ids, const struct watch_place *place);

/** Percent of the limit of a form that is in use, -1: no limit. */
double watch_percent(const struct fsq_dquot *dquot, enum fsq_form form);

/** A limit of a form, 0: there is none. */
uint64_t watch_limit(enum fsq_form form, uint64_t limit);

#endif
