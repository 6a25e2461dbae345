/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several threads on one tree. Each takes a directory and walks all that is in it, but offers the
 * directories it comes to to the others while there is room in a short queue; they wait there open,
 * so that nobody has to find them again. What they tell comes out one at a time and in the order in
 * which one thread alone would have told it. What has to wait for that is bounded: beyond it a
 * thread waits itself, or does what the others wait for.
 */
#ifndef FSQ_WALK_CREW_H
#define FSQ_WALK_CREW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tree_walk.h"

#define FSQ_CREW_MAX 16
/* A longer queue wakes fewer threads for one directory each; each place holds a descriptor. */
#define FSQ_CREW_QUEUE 32
/* So many bytes of findings wait at most, and one finding of each thread. */
#define FSQ_CREW_WAITING (8 * 1024 * 1024)

/* How much time has passed, and how much of it the calling thread has run, in nanoseconds. */
struct fsq_crew_pace {
	int64_t wall, cpu;
};

/** @return  now */
struct fsq_crew_pace fsq_crew_pace(void);
int64_t fsq_crew_clock(void);

/**
 * How many threads are there work for? One that waits for the storage leaves its processor to
 * others: then eight; else as many as there are processors, but no more than eight.
 *
 * @since    fsq_crew_pace() some time ago
 */
unsigned int fsq_crew_measure(const struct fsq_crew_pace *since);

/** @return  so many threads, or as many as there are descriptors for, each with so many */
unsigned int fsq_crew_afford(unsigned int threads, unsigned int descriptors);

/* What one thread does without a break: a directory and what it has not given away of it. */
struct fsq_part;

/* A directory to be walked. */
struct fsq_crew_job {
	struct fsq_part *part;
	int fd; /* open for reading, to be closed by whoever walks it */
	dev_t dev;
	ino_t ino;
	char *path; /* to be freed likewise */
	int depth;
};

/* @return   0, or what is to end the walk */
typedef int (*fsq_crew_worker)(const struct fsq_crew_job *job, void *arg);

struct fsq_crew {
	fsq_walk_teller tell;
	void *tell_arg;
	fsq_crew_worker work;
	void *work_arg;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_cond_t told;   /* what waited, or that it is another's turn */
	struct fsq_part *head; /* the one whose findings are told at once */
	struct fsq_crew_job queue[FSQ_CREW_QUEUE];
	size_t queue_first, queued;
	unsigned int working;
	size_t waiting;	   /* bytes of what is to be told */
	unsigned int held; /* threads that wait for it to be less */
	int rc;		   /* what ended the walk */
	atomic_bool stopped;
	pthread_t threads[FSQ_CREW_MAX];
	unsigned int count;
};

/**
 * Begin alone, with the part of the caller.
 *
 * @tell     called for each finding, under a lock; a value other than 0 ends the walk
 * @return   the part that begins at the root, or NULL without memory
 */
struct fsq_part *fsq_crew_begin(struct fsq_crew *crew, fsq_walk_teller tell, void *tell_arg);

/** Get more threads, at most so many; with fewer, or none, the walk goes on all the same. */
void fsq_crew_hire(struct fsq_crew *crew, unsigned int threads, fsq_crew_worker work, void *arg);

/**
 * Tell, or keep it until it is its turn. When too much is kept the caller waits, or does meanwhile
 * what is to be told next, if nobody does.
 *
 * @return   0, or what is to end the walk
 */
int fsq_crew_tell(struct fsq_crew *crew, struct fsq_part *part,
		  const struct fsq_walk_finding *finding);

/**
 * Give a directory to whoever has time.
 *
 * @part     of the caller: the directory comes at this point of it
 * @job      without its part
 * @return   whether it was taken, with its descriptor and path
 */
bool fsq_crew_offer(struct fsq_crew *crew, struct fsq_part *part, struct fsq_crew_job *job);

/** @return  whether the walk is to end */
static inline bool fsq_crew_is_stopped(struct fsq_crew *crew)
{
	return atomic_load_explicit(&crew->stopped, memory_order_relaxed);
}

/**
 * The root's part is done: help the others until all is, and let them go.
 *
 * @rc       how it ended
 * @return   0, or what ended the walk
 */
int fsq_crew_end(struct fsq_crew *crew, struct fsq_part *root, int rc);

#endif
