/* SPDX-License-Identifier: Apache-2.0 */
#include "thread_pool.h"

#include <sched.h>
#include <sys/resource.h>

#include "shared/clock.h"

/* More threads gain nothing. */
#define THREADS_MAX 8

/* --- how many --- */

int64_t fsq_clock_monotonic(void)
{
	return clock_nanoseconds(CLOCK_MONOTONIC);
}

struct fsq_clock_sample fsq_clock_sample(void)
{
	return (struct fsq_clock_sample){ fsq_clock_monotonic(),
					  clock_nanoseconds(CLOCK_THREAD_CPUTIME_ID) };
}

unsigned int fsq_thread_count(unsigned int threads, const struct fsq_clock_sample *since,
			      unsigned int descriptors)
{
	struct rlimit limit;
	cpu_set_t cpus;

	if (threads == 0) {
		const struct fsq_clock_sample now = fsq_clock_sample();
		int64_t wall = now.wall - since->wall, cpu = now.cpu - since->cpu;
		unsigned int processors = 1;

		if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
			processors = (unsigned int)CPU_COUNT(&cpus);
		threads = processors < THREADS_MAX && wall <= cpu + cpu / 4 ? processors
									    : THREADS_MAX;
	}
	/* The queue and the calling thread hold descriptors, too. */
	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 1;
	while (threads > 1 && limit.rlim_cur < (rlim_t)(threads + 2) * descriptors)
		threads--;
	return threads;
}

/* --- the pool --- */

void fsq_thread_pool_init(struct fsq_thread_pool *pool)
{
	*pool = (struct fsq_thread_pool){ .working = 1 };
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->changed, NULL);
}

void fsq_thread_pool_stop(struct fsq_thread_pool *pool, int rc)
{
	if (rc == 0 || pool->rc)
		return;
	pool->rc = rc;
	atomic_store_explicit(&pool->stopped, true, memory_order_relaxed);
}

static void finish(struct fsq_thread_pool *pool, int rc)
{
	fsq_thread_pool_stop(pool, rc);
	pool->working--;
	if (pool->working == 0)
		pthread_cond_broadcast(&pool->changed);
}

/* Work until the queue is empty and no other thread can fill it. */
static void *work(void *arg)
{
	struct fsq_thread_pool *pool = arg;
	struct fsq_thread_job job;
	int rc;

	pthread_mutex_lock(&pool->lock);
	for (;;) {
		while (pool->queued == 0 && pool->working > 0)
			pthread_cond_wait(&pool->changed, &pool->lock);
		if (pool->queued == 0)
			break;
		job = pool->queue[--pool->queued];
		pool->working++;
		pthread_mutex_unlock(&pool->lock);
		rc = pool->work(&job, pool->work_arg);
		pthread_mutex_lock(&pool->lock);
		finish(pool, rc);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

void fsq_thread_pool_start(struct fsq_thread_pool *pool, unsigned int threads,
			   fsq_thread_worker worker, void *arg)
{
	pthread_mutex_lock(&pool->lock);
	pool->work = worker;
	pool->work_arg = arg;
	while (pool->count < threads && pool->count < FSQ_THREADS_MAX &&
	       pthread_create(&pool->threads[pool->count], NULL, work, pool) == 0)
		pool->count++;
	pthread_mutex_unlock(&pool->lock);
}

bool fsq_thread_pool_try_submit(struct fsq_thread_pool *pool, const struct fsq_thread_job *job)
{
	bool taken;

	pthread_mutex_lock(&pool->lock);
	taken = pool->count > 0 && pool->queued < FSQ_THREAD_POOL_QUEUE;
	if (taken) {
		pool->queue[pool->queued++] = *job;
		pthread_cond_signal(&pool->changed);
	}
	pthread_mutex_unlock(&pool->lock);
	return taken;
}

int fsq_thread_pool_finish(struct fsq_thread_pool *pool, int rc)
{
	pthread_mutex_lock(&pool->lock);
	finish(pool, rc);
	pthread_mutex_unlock(&pool->lock);
	work(pool);
	while (pool->count > 0)
		pthread_join(pool->threads[--pool->count], NULL);
	pthread_cond_destroy(&pool->changed);
	pthread_mutex_destroy(&pool->lock);
	return pool->rc;
}
