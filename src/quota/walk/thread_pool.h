/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several threads walk one tree. Each thread walks a directory and all that is below it. When it comes to a
 * directory and the queue has space, it submits it instead of entering it: open, so that no other thread
 * has to find it again. Nothing has an order.
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

/* A directory to be walked. */
struct fsq_thread_job {
	int fd; /* open for reading; the worker closes it */
	dev_t dev;
	ino_t ino;
	char *path; /* the worker frees it */
	int depth;
};

/* @return   0, or what ends the walk */
typedef int (*fsq_thread_worker)(const struct fsq_thread_job *job, void *arg);

struct fsq_thread_pool {
	fsq_thread_worker work;
	void *work_arg;
	pthread_mutex_t lock;	/* also for what the threads share */
	pthread_cond_t changed; /* a job was submitted, or nobody works any more */
	struct fsq_thread_job queue[FSQ_THREAD_POOL_QUEUE];
	size_t queued;
	unsigned int working;
	int rc; /* what ended the walk */
	atomic_bool stopped;
	pthread_t threads[FSQ_THREADS_MAX];
	unsigned int count;
};

/** Begin with the calling thread alone. */
void fsq_thread_pool_init(struct fsq_thread_pool *pool);

/** Start at most so many threads; with fewer, or none, the walk goes on all the same. */
void fsq_thread_pool_start(struct fsq_thread_pool *pool, unsigned int threads,
			   fsq_thread_worker work, void *arg);

/**
 * Give a directory to another thread, if the queue has space.
 *
 * @return   whether it was taken, with its descriptor and path
 */
bool fsq_thread_pool_try_submit(struct fsq_thread_pool *pool, const struct fsq_thread_job *job);

/** End the walk, unless @rc is 0 or something has ended it before. The caller holds the lock. */
void fsq_thread_pool_stop(struct fsq_thread_pool *pool, int rc);

/** @return  whether something has ended the walk */
static inline bool fsq_thread_pool_is_stopped(struct fsq_thread_pool *pool)
{
	return atomic_load_explicit(&pool->stopped, memory_order_relaxed);
}

/**
 * Help the other threads until nothing is left, and join them.
 *
 * @rc       how the caller's own part ended
 * @return   0, or what ended the walk
 */
int fsq_thread_pool_finish(struct fsq_thread_pool *pool, int rc);

#endif
