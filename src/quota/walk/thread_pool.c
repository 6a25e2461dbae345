/* SPDX-License-Identifier: Apache-2.0 */
#include "thread_pool.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "shared/clock.h"

/* More threads gain nothing. */
#define THREADS_MAX 8

/* An event of a segment, or a child. */
struct item {
	struct item *next;
	struct fsq_segment *child;
	struct fsq_walk_event event;
	char path[];
};

struct fsq_segment {
	struct fsq_segment *parent;
	bool alone;		   /* nothing of it is submitted */
	struct item *first, *last; /* the head keeps none */
	bool done;
};

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
	/* The queue holds descriptors, too, and so does the thread that walks the head. */
	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 1;
	while (threads > 1 && limit.rlim_cur < (rlim_t)(threads + 2) * descriptors)
		threads--;
	return threads;
}

/* --- the order --- */

static void stop(struct fsq_thread_pool *pool, int rc)
{
	if (rc == 0 || pool->rc)
		return;
	pool->rc = rc;
	atomic_store_explicit(&pool->stopped, true, memory_order_relaxed);
	pthread_cond_broadcast(&pool->emitted);
}

static size_t size_of(const struct item *item)
{
	size_t more = item->child ? sizeof(*item->child) : strlen(item->path) + 1;

	return sizeof(*item) + more;
}

static int append(struct fsq_thread_pool *pool, struct fsq_segment *segment,
		  struct fsq_segment *child, const struct fsq_walk_event *event)
{
	size_t length = event ? strlen(event->path) + 1 : 0;
	struct item *item = calloc(1, sizeof(*item) + length);

	if (!item)
		return -ENOMEM;
	item->child = child;
	if (event) {
		item->event = *event;
		memcpy(item->path, event->path, length);
		item->event.path = item->path;
	}
	if (segment->last)
		segment->last->next = item;
	else
		segment->first = item;
	segment->last = item;
	pool->pending += size_of(item);
	return 0;
}

/* On EINTR every event seen so far is still emitted. */
static bool is_emitting(const struct fsq_thread_pool *pool)
{
	return pool->rc == 0 || pool->rc == -EINTR;
}

static void deliver(struct fsq_thread_pool *pool, const struct fsq_walk_event *event)
{
	if (pool->emit(event, pool->emit_arg) == FSQ_VISIT_STOP)
		stop(pool, FSQ_WALK_STOPPED);
}

/* Advance from the head to the first segment that is not finished. */
static void emit_pending(struct fsq_thread_pool *pool)
{
	while (pool->head) {
		struct fsq_segment *segment = pool->head;
		struct item *item = segment->first;

		if (!item) {
			if (!segment->done)
				return;
			pool->head = segment->parent;
			if (pool->waiting > 0)
				pthread_cond_broadcast(&pool->emitted);
			free(segment);
			continue;
		}
		segment->first = item->next;
		if (!segment->first)
			segment->last = NULL;
		pool->pending -= size_of(item);
		if (pool->waiting > 0)
			pthread_cond_broadcast(&pool->emitted);
		if (item->child)
			pool->head = item->child;
		else if (is_emitting(pool))
			deliver(pool, &item->event);
		free(item);
	}
}

struct fsq_segment *fsq_thread_pool_init(struct fsq_thread_pool *pool, fsq_walk_handler emit,
					 void *emit_arg)
{
	*pool = (struct fsq_thread_pool){ .emit = emit, .emit_arg = emit_arg, .working = 1 };
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->changed, NULL);
	pthread_cond_init(&pool->emitted, NULL);
	pool->head = calloc(1, sizeof(*pool->head));
	return pool->head;
}

static void finish(struct fsq_thread_pool *pool, struct fsq_segment *segment, int rc)
{
	stop(pool, rc);
	segment->done = true;
	if (segment == pool->head)
		emit_pending(pool);
	pool->working--;
	if (pool->working == 0)
		pthread_cond_broadcast(&pool->changed);
}

static struct fsq_thread_job *queue_slot(struct fsq_thread_pool *pool, size_t index)
{
	return &pool->queue[(pool->queue_first + index) % FSQ_THREAD_POOL_QUEUE];
}

/* One of the queue, the first being 0. */
static void do_job(struct fsq_thread_pool *pool, size_t index)
{
	struct fsq_thread_job job = *queue_slot(pool, index);
	int rc;

	for (; index > 0; index--)
		*queue_slot(pool, index) = *queue_slot(pool, index - 1);
	pool->queue_first = (pool->queue_first + 1) % FSQ_THREAD_POOL_QUEUE;
	pool->queued--;
	pool->working++;
	pthread_mutex_unlock(&pool->lock);
	rc = pool->work(&job, pool->work_arg);
	pthread_mutex_lock(&pool->lock);
	finish(pool, job.segment, rc);
}

/* Work until the queue is empty and no other thread can fill it. */
static void *work(void *arg)
{
	struct fsq_thread_pool *pool = arg;

	pthread_mutex_lock(&pool->lock);
	for (;;) {
		while (pool->queued == 0 && pool->working > 0)
			pthread_cond_wait(&pool->changed, &pool->lock);
		if (pool->queued == 0)
			break;
		do_job(pool, 0);
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

/* Walk the head here, if it is still queued while all others wait for it. */
static bool do_head(struct fsq_thread_pool *pool)
{
	for (size_t i = 0; i < pool->queued; i++)
		if (queue_slot(pool, i)->segment == pool->head) {
			pool->head->alone = true;
			do_job(pool, i);
			return true;
		}
	return false;
}

static void wait_for_capacity(struct fsq_thread_pool *pool, const struct fsq_segment *segment)
{
	while (pool->rc == 0 && segment != pool->head &&
	       pool->pending >= FSQ_THREAD_POOL_PENDING_MAX)
		if (!do_head(pool)) {
			pool->waiting++;
			pthread_cond_wait(&pool->emitted, &pool->lock);
			pool->waiting--;
		}
}

int fsq_thread_pool_emit(struct fsq_thread_pool *pool, struct fsq_segment *segment,
			 const struct fsq_walk_event *event)
{
	int rc;

	pthread_mutex_lock(&pool->lock);
	wait_for_capacity(pool, segment);
	if (is_emitting(pool) && segment == pool->head)
		deliver(pool, event);
	else if (is_emitting(pool))
		stop(pool, append(pool, segment, NULL, event));
	rc = pool->rc;
	pthread_mutex_unlock(&pool->lock);
	return rc;
}

bool fsq_thread_pool_try_submit(struct fsq_thread_pool *pool, struct fsq_segment *segment,
				struct fsq_thread_job *job)
{
	bool taken = false;

	job->segment = NULL;
	pthread_mutex_lock(&pool->lock);
	if (pool->count > 0 && pool->queued < FSQ_THREAD_POOL_QUEUE && !segment->alone &&
	    pool->pending < FSQ_THREAD_POOL_PENDING_MAX) {
		job->segment = calloc(1, sizeof(*job->segment));
		taken = job->segment && append(pool, segment, job->segment, NULL) == 0;
	}
	if (taken) {
		job->segment->parent = segment;
		*queue_slot(pool, pool->queued) = *job;
		pool->queued++;
		pthread_cond_signal(&pool->changed);
		if (segment == pool->head)
			emit_pending(pool);
	} else {
		free(job->segment);
	}
	pthread_mutex_unlock(&pool->lock);
	return taken;
}

int fsq_thread_pool_finish(struct fsq_thread_pool *pool, struct fsq_segment *root, int rc)
{
	pthread_mutex_lock(&pool->lock);
	finish(pool, root, rc);
	pthread_mutex_unlock(&pool->lock);
	work(pool);
	while (pool->count > 0)
		pthread_join(pool->threads[--pool->count], NULL);
	pthread_cond_destroy(&pool->emitted);
	pthread_cond_destroy(&pool->changed);
	pthread_mutex_destroy(&pool->lock);
	return pool->rc;
}
