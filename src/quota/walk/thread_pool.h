/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several threads walk one tree, and its events come out in the order in which one thread alone
 * would have emitted them.
 *
 * Each thread walks a directory and all that is below it. When it comes to a directory and the
 * queue has space, it submits it instead of entering it: open, so that no other thread has to find
 * it again.
 *
 * The order. A segment is what one thread does without a break: a directory with everything below it that was not
 * submitted. It holds a list of items, each an event or a child segment. One segment is the head: everything before
 * it has been emitted, so its own events are emitted at once, while the events of all others wait in their lists.
 * When the head comes to a child, or ends and returns to its parent, the list of the next head is emitted up to its
 * first child that is not finished.
 *
 * The bound. Events that wait take memory. From FSQ_THREAD_POOL_PENDING_MAX bytes on, a thread that
 * is not the head waits. The head may still be in the queue while every thread waits for it: then
 * one of them walks it itself, and nothing of it is submitted, so it stays the head to its end and
 * never waits.
 */
#ifndef FSQ_THREAD_POOL_H
#define FSQ_THREAD_POOL_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "tree_walk.h"

#define FSQ_THREADS_MAX 16
/* A longer queue wakes fewer threads for one directory each; each job holds a descriptor. */
#define FSQ_THREAD_POOL_QUEUE 32
#define FSQ_THREAD_POOL_PENDING_MAX (8 * 1024 * 1024)

/* Wall clock and processor time of the calling thread, in nanoseconds. */
struct fsq_clock_sample {
	int64_t wall, cpu;
};

struct fsq_clock_sample fsq_clock_sample(void);
int64_t fsq_clock_monotonic(void);

/**
 * Find out how many threads help: eight when the calling thread has waited for the storage and so
 * left its processor to others, else as many as there are processors, eight at most.
 *
 * @threads  as many instead, unless it is 0
 * @since    fsq_clock_sample() some time ago
 * @descriptors that each needs: there are no more threads than RLIMIT_NOFILE allows
 */
unsigned int fsq_thread_count(unsigned int threads, const struct fsq_clock_sample *since,
			      unsigned int descriptors);

struct fsq_segment;

/* A directory to be walked. */
struct fsq_thread_job {
	struct fsq_segment *segment;
	int fd; /* open for reading; the worker closes it */
	dev_t dev;
	ino_t ino;
	char *path; /* the worker frees it */
	int depth;
};

/* @return   0, or what ends the walk */
typedef int (*fsq_thread_worker)(const struct fsq_thread_job *job, void *arg);

struct fsq_thread_pool {
	fsq_walk_handler emit;
	void *emit_arg;
	fsq_thread_worker work;
	void *work_arg;
	pthread_mutex_t lock;
	pthread_cond_t changed;	  /* a job was submitted, or nobody works any more */
	pthread_cond_t emitted;	  /* less is pending, or there is another head */
	struct fsq_segment *head; /* its events are emitted at once */
	struct fsq_thread_job queue[FSQ_THREAD_POOL_QUEUE];
	size_t queue_first, queued;
	unsigned int working;
	size_t pending;	      /* bytes of events that wait */
	unsigned int waiting; /* threads that wait for less of them */
	int rc;		      /* what ended the walk */
	atomic_bool stopped;
	pthread_t threads[FSQ_THREADS_MAX];
	unsigned int count;
};

/**
 * Begin with the calling thread alone.
 *
 * @emit     called for each event, under a lock; NULL: there are none
 * @return   the segment that begins at the root, or NULL without memory
 */
struct fsq_segment *fsq_thread_pool_init(struct fsq_thread_pool *pool, fsq_walk_handler emit,
					 void *emit_arg);

/** Start at most so many threads; with fewer, or none, the walk goes on all the same. */
void fsq_thread_pool_start(struct fsq_thread_pool *pool, unsigned int threads,
			   fsq_thread_worker work, void *arg);

/**
 * Emit an event, or keep it until it is its turn. May block.
 *
 * @return   0, or what ends the walk: FSQ_WALK_STOPPED when the handler did
 */
int fsq_thread_pool_emit(struct fsq_thread_pool *pool, struct fsq_segment *segment,
			 const struct fsq_walk_event *event);

/**
 * Give a directory to another thread, if the queue has space.
 *
 * @segment  of the caller: the directory comes at this point of its list
 * @job      without its segment
 * @return   whether it was taken, with its descriptor and path
 */
bool fsq_thread_pool_try_submit(struct fsq_thread_pool *pool, struct fsq_segment *segment,
				struct fsq_thread_job *job);

/** @return  whether something has ended the walk */
static inline bool fsq_thread_pool_is_stopped(struct fsq_thread_pool *pool)
{
	return atomic_load_explicit(&pool->stopped, memory_order_relaxed);
}

/**
 * Finish the root's segment, help the other threads until nothing is left, and join them.
 *
 * @rc       how the root's segment ended
 * @return   0, or what ended the walk
 */
int fsq_thread_pool_finish(struct fsq_thread_pool *pool, struct fsq_segment *root, int rc);

#endif
