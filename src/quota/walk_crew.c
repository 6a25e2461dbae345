/* SPDX-License-Identifier: Apache-2.0 */
#include "walk_crew.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* More gain nothing, as tests/bench/walk shows. */
#define THREADS_MAX 8

/* Something a part has to tell, or a part that somebody else does at this point of it. */
struct item {
	struct item *next;
	struct fsq_part *child;
	struct fsq_walk_finding finding;
	char path[];
};

struct fsq_part {
	struct fsq_part *parent;
	bool alone;		   /* nothing of it is given away */
	struct item *first, *last; /* of the head there is none: all is told */
	bool done;
};

/* --- how many --- */

static int64_t read_clock(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t fsq_crew_clock(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

struct fsq_crew_pace fsq_crew_pace(void)
{
	return (struct fsq_crew_pace){ fsq_crew_clock(), read_clock(CLOCK_THREAD_CPUTIME_ID) };
}

unsigned int fsq_crew_measure(const struct fsq_crew_pace *since)
{
	struct fsq_crew_pace now = fsq_crew_pace();
	int64_t wall = now.wall - since->wall, cpu = now.cpu - since->cpu;
	unsigned int processors = 1;
	cpu_set_t cpus;

	if (wall > cpu + cpu / 4)
		return THREADS_MAX;
	if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
		processors = (unsigned int)CPU_COUNT(&cpus);
	return processors < THREADS_MAX ? processors : THREADS_MAX;
}

unsigned int fsq_crew_afford(unsigned int threads, unsigned int descriptors)
{
	struct rlimit limit;

	/* The queue has some, too, and so has who does what the others wait for. */
	while (threads > 1 && (getrlimit(RLIMIT_NOFILE, &limit) ||
			       limit.rlim_cur < (rlim_t)(threads + 2) * descriptors))
		threads--;
	return threads;
}

/* --- the order --- */

static void stop(struct fsq_crew *crew, int rc)
{
	if (rc == 0 || crew->rc)
		return;
	crew->rc = rc;
	atomic_store_explicit(&crew->stopped, true, memory_order_relaxed);
	pthread_cond_broadcast(&crew->told);
}

static size_t size_of(const struct item *item)
{
	size_t more = item->child ? sizeof(*item->child) : strlen(item->path) + 1;

	return sizeof(*item) + more;
}

static int append(struct fsq_crew *crew, struct fsq_part *part, struct fsq_part *child,
		  const struct fsq_walk_finding *finding)
{
	size_t length = finding ? strlen(finding->path) + 1 : 0;
	struct item *item = calloc(1, sizeof(*item) + length);

	if (!item)
		return -ENOMEM;
	item->child = child;
	if (finding) {
		item->finding = *finding;
		memcpy(item->path, finding->path, length);
		item->finding.path = item->path;
	}
	if (part->last)
		part->last->next = item;
	else
		part->first = item;
	part->last = item;
	crew->waiting += size_of(item);
	return 0;
}

/* Who is interrupted has done what was found until then. */
static bool is_told(const struct fsq_crew *crew)
{
	return crew->rc == 0 || crew->rc == -EINTR;
}

/* Go on from the head until it comes to a part that is not done. */
static void tell_on(struct fsq_crew *crew)
{
	while (crew->head) {
		struct fsq_part *part = crew->head;
		struct item *item = part->first;

		if (!item) {
			if (!part->done)
				return;
			crew->head = part->parent;
			if (crew->held > 0)
				pthread_cond_broadcast(&crew->told);
			free(part);
			continue;
		}
		part->first = item->next;
		if (!part->first)
			part->last = NULL;
		crew->waiting -= size_of(item);
		if (crew->held > 0)
			pthread_cond_broadcast(&crew->told);
		if (item->child)
			crew->head = item->child;
		else if (is_told(crew))
			stop(crew, crew->tell(&item->finding, crew->tell_arg));
		free(item);
	}
}

struct fsq_part *fsq_crew_begin(struct fsq_crew *crew, fsq_walk_teller tell, void *tell_arg)
{
	*crew = (struct fsq_crew){ .tell = tell, .tell_arg = tell_arg, .working = 1 };
	pthread_mutex_init(&crew->lock, NULL);
	pthread_cond_init(&crew->changed, NULL);
	pthread_cond_init(&crew->told, NULL);
	crew->head = calloc(1, sizeof(*crew->head));
	return crew->head;
}

static void finish(struct fsq_crew *crew, struct fsq_part *part, int rc)
{
	stop(crew, rc);
	part->done = true;
	if (part == crew->head)
		tell_on(crew);
	crew->working--;
	if (crew->working == 0)
		pthread_cond_broadcast(&crew->changed);
}

static struct fsq_crew_job *queue_place(struct fsq_crew *crew, size_t index)
{
	return &crew->queue[(crew->queue_first + index) % FSQ_CREW_QUEUE];
}

/* One of the queue, the first being 0. */
static void do_job(struct fsq_crew *crew, size_t index)
{
	struct fsq_crew_job job = *queue_place(crew, index);
	int rc;

	/* Those before it move up. */
	for (; index > 0; index--)
		*queue_place(crew, index) = *queue_place(crew, index - 1);
	crew->queue_first = (crew->queue_first + 1) % FSQ_CREW_QUEUE;
	crew->queued--;
	crew->working++;
	pthread_mutex_unlock(&crew->lock);
	rc = crew->work(&job, crew->work_arg);
	pthread_mutex_lock(&crew->lock);
	finish(crew, job.part, rc);
}

/* Until there is nothing left, and nobody who could find more. */
static void *work(void *arg)
{
	struct fsq_crew *crew = arg;

	pthread_mutex_lock(&crew->lock);
	for (;;) {
		while (crew->queued == 0 && crew->working > 0)
			pthread_cond_wait(&crew->changed, &crew->lock);
		if (crew->queued == 0)
			break;
		do_job(crew, 0);
	}
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

void fsq_crew_hire(struct fsq_crew *crew, unsigned int threads, fsq_crew_worker worker, void *arg)
{
	pthread_mutex_lock(&crew->lock);
	crew->work = worker;
	crew->work_arg = arg;
	while (crew->count < threads && crew->count < FSQ_CREW_MAX &&
	       pthread_create(&crew->threads[crew->count], NULL, work, crew) == 0)
		crew->count++;
	pthread_mutex_unlock(&crew->lock);
}

/*
 * The head is still in the queue, and everybody may be waiting for it. Nothing of it is given away
 * then, so it stays the head to its end: who does it never waits, nor does such a thing again.
 */
static bool do_head(struct fsq_crew *crew)
{
	for (size_t i = 0; i < crew->queued; i++)
		if (queue_place(crew, i)->part == crew->head) {
			crew->head->alone = true;
			do_job(crew, i);
			return true;
		}
	return false;
}

/* Whose part is the head goes on: the others wait for it. */
static void wait_for_room(struct fsq_crew *crew, const struct fsq_part *part)
{
	while (crew->rc == 0 && part != crew->head && crew->waiting >= FSQ_CREW_WAITING)
		if (!do_head(crew)) {
			crew->held++;
			pthread_cond_wait(&crew->told, &crew->lock);
			crew->held--;
		}
}

int fsq_crew_tell(struct fsq_crew *crew, struct fsq_part *part,
		  const struct fsq_walk_finding *finding)
{
	int rc;

	pthread_mutex_lock(&crew->lock);
	wait_for_room(crew, part);
	if (is_told(crew))
		stop(crew, part == crew->head ? crew->tell(finding, crew->tell_arg)
					      : append(crew, part, NULL, finding));
	rc = crew->rc;
	pthread_mutex_unlock(&crew->lock);
	return rc;
}

bool fsq_crew_offer(struct fsq_crew *crew, struct fsq_part *part, struct fsq_crew_job *job)
{
	bool taken = false;

	job->part = NULL;
	pthread_mutex_lock(&crew->lock);
	if (crew->count > 0 && crew->queued < FSQ_CREW_QUEUE && !part->alone &&
	    crew->waiting < FSQ_CREW_WAITING) {
		job->part = calloc(1, sizeof(*job->part));
		taken = job->part && append(crew, part, job->part, NULL) == 0;
	}
	if (taken) {
		job->part->parent = part;
		*queue_place(crew, crew->queued) = *job;
		crew->queued++;
		pthread_cond_signal(&crew->changed);
		if (part == crew->head)
			tell_on(crew);
	} else {
		free(job->part);
	}
	pthread_mutex_unlock(&crew->lock);
	return taken;
}

int fsq_crew_end(struct fsq_crew *crew, struct fsq_part *root, int rc)
{
	pthread_mutex_lock(&crew->lock);
	finish(crew, root, rc);
	pthread_mutex_unlock(&crew->lock);
	work(crew);
	while (crew->count > 0)
		pthread_join(crew->threads[--crew->count], NULL);
	pthread_cond_destroy(&crew->told);
	pthread_cond_destroy(&crew->changed);
	pthread_mutex_destroy(&crew->lock);
	return crew->rc;
}
