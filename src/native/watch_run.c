/* SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <search.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A text of the environment can have 128 KiB, and so can all together where the stack is small. */
#define DIRECTORIES_MAX (64 * 1024)

/* What a command is told: these, and each field of the row. Words of tenants stand in values only. */
enum { FACT_EVENTS, FACT_DIRECTORY, FACT_DIRECTORIES_LEFT, FACT_FIRST_FIELD };
#define FACTS_MAX (FACT_FIRST_FIELD + WATCH_FIELDS)

/* The ID of a filesystem, for which one command runs at a time. */
struct watch_job {
	dev_t dev;
	enum fsq_type type;
	uint32_t id;
	pid_t process;		/* 0: it does not run */
	char *facts[FACTS_MAX]; /* NAME=VALUE for the next command */
	uint64_t directory_count;
	uint64_t events; /* that are in them; 0: there is no next command */
	uint64_t count;
	struct watch_job *next_waiting;
};

static int compare(const void *one, const void *other)
{
	const struct watch_job *a = one, *b = other;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	return (a->dev > b->dev) - (a->dev < b->dev);
}

static void clear_facts(struct watch_job *job)
{
	for (int i = 0; i < FACTS_MAX; i++) {
		free(job->facts[i]);
		job->facts[i] = NULL;
	}
	job->events = job->count = 0;
}

static void drop(struct watch_run *run, struct watch_job *job)
{
	tdelete(job, &run->jobs, compare);
	clear_facts(job);
	free(job);
}

static struct watch_job *find(struct watch_run *run, const struct watch_row *row, dev_t dev)
{
	const struct watch_job key = { .dev = dev, .type = row->record.type, .id = row->record.id };
	struct watch_job *const *node = tfind(&key, &run->jobs, compare);
	struct watch_job *job;

	if (node)
		return *node;
	job = calloc(1, sizeof(*job));
	if (!job)
		return NULL;
	*job = key;
	if (tsearch(job, &run->jobs, compare))
		return job;
	free(job);
	return NULL;
}

/* --- the facts --- */

/* @value    NULL: the variable is empty */
static bool set(struct watch_job *job, int fact, const char *name, const char *value)
{
	char *text;

	if (asprintf(&text, "FSQUOTA_%s=%s", name, value ? value : "") < 0)
		return false;
	for (char *at = text; *at != '='; at++)
		*at = (char)toupper((unsigned char)*at);
	free(job->facts[fact]);
	job->facts[fact] = text;
	return true;
}

static bool set_left_out(struct watch_job *job, uint64_t count)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, count);
	return set(job, FACT_DIRECTORIES_LEFT, "directories_left", text);
}

/* A line of the projects file has no newline, so one can stand between them. */
static bool set_directories(struct watch_job *job, int fact, const struct watch_row *row)
{
	size_t length = 1, count = 0;
	char *text, *end;
	bool done;

	for (; count < row->directories.count; count++) {
		length += strlen(row->directories.texts[count]) + 1;
		if (length > DIRECTORIES_MAX)
			break;
	}
	text = end = malloc(length);
	if (!text)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (i)
			*end++ = '\n';
		end = stpcpy(end, row->directories.texts[i]);
	}
	*end = '\0';
	job->directory_count = row->directories.count;
	done = set(job, fact, "directories", text) &&
	       set(job, FACT_DIRECTORY, "directory", count ? row->directories.texts[0] : NULL) &&
	       set_left_out(job, row->directories.count - count);
	free(text);
	return done;
}

/* All kinds that came, in the order of their first one: "space:soft-reached space:hard-reached". */
static bool add_to_events(struct watch_job *job, const struct watch_row *row)
{
	const char *before = job->events ? strchr(job->facts[FACT_EVENTS], '=') + 1 : "";
	char kind[64], *text;
	const char *at;
	bool done;

	snprintf(kind, sizeof(kind), "%s:%s", row->limit, row->event);
	at = strstr(before, kind);
	if (at && (at[strlen(kind)] == ' ' || at[strlen(kind)] == '\0'))
		return true;
	if (asprintf(&text, "%s%s%s", before, *before ? " " : "", kind) < 0)
		return false;
	done = set(job, FACT_EVENTS, "events", text);
	free(text);
	return done;
}

static bool set_facts(const struct watch_run *run, struct watch_job *job,
		      const struct watch_row *row)
{
	const struct field *fields = run->fields;
	struct watch_row sum = *row;
	bool done = add_to_events(job, row);

	sum.count = job->count += row->count;
	for (int i = 0; done && (fields[i].column || fields[i].key); i++) {
		char cell[FIELD_CELL];

		if (fields[i].type == FIELD_TEXTS)
			done = set_directories(job, FACT_FIRST_FIELD + i, row);
		else
			done = set(job, FACT_FIRST_FIELD + i, fields[i].key,
				   field_cell(&fields[i], &sum, true, cell));
	}
	return done;
}

/* --- running --- */

/* @return   pointers into the environment and the facts, for free(3) */
static char **environment_of(const struct watch_job *job)
{
	size_t count = 0;
	char **all;

	while (environ && environ[count])
		count++;
	all = calloc(count + FACTS_MAX + 1, sizeof(*all));
	if (!all)
		return NULL;
	count = 0;
	for (char **at = environ; at && *at; at++) {
		size_t length = strcspn(*at, "=") + 1;
		/* What is for this process alone. */
		bool ours = strncmp(*at, "NOTIFY_SOCKET=", length) == 0;

		for (int i = 0; i < FACTS_MAX && !ours; i++)
			ours = job->facts[i] && strncmp(*at, job->facts[i], length) == 0;
		if (!ours)
			all[count++] = *at;
	}
	for (int i = 0; i < FACTS_MAX; i++)
		if (job->facts[i])
			all[count++] = job->facts[i];
	return all;
}

/* Its output must not mix with the events. */
static int spawn(const struct watch_run *run, char **environment, pid_t *process)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int rc;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	rc = posix_spawnattr_setsigmask(&attributes, &none);
	if (rc == 0)
		rc = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	if (rc == 0)
		rc = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY,
						      0);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
	if (rc == 0)
		rc = posix_spawn(process, run->words[0], &actions, &attributes, run->words,
				 environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

/* With our own environment it may be too large. */
static bool leave_out_large_facts(const struct watch_run *run, struct watch_job *job)
{
	const struct field *fields = run->fields;
	bool done = set_left_out(job, job->directory_count);

	for (int i = 0; done && (fields[i].column || fields[i].key); i++)
		if (fields[i].type == FIELD_TEXTS || strcmp(fields[i].key, "name") == 0)
			done = set(job, FACT_FIRST_FIELD + i, fields[i].key, NULL);
	return done;
}

static void start(struct watch_run *run, struct watch_job *job)
{
	int rc = E2BIG;

	for (int i = 0; i < 2 && rc == E2BIG && (i == 0 || leave_out_large_facts(run, job)); i++) {
		char **environment = environment_of(job);

		rc = environment ? spawn(run, environment, &job->process) : ENOMEM;
		free(environment);
	}
	if (rc) {
		session_errno(run->session, 0, rc, run->words[0], "%s: cannot run it",
			      run->words[0]);
		job->process = 0;
		drop(run, job);
		return;
	}
	clear_facts(job);
	run->running[run->running_count++] = job;
}

static void start_some(struct watch_run *run)
{
	while (run->first_waiting && run->running_count < WATCH_RUNNING) {
		struct watch_job *job = run->first_waiting;

		run->first_waiting = job->next_waiting;
		if (!run->first_waiting)
			run->last_waiting = NULL;
		start(run, job);
	}
}

static void wait_for_turn(struct watch_run *run, struct watch_job *job)
{
	job->next_waiting = NULL;
	if (run->last_waiting)
		run->last_waiting->next_waiting = job;
	else
		run->first_waiting = job;
	run->last_waiting = job;
}

void watch_run(struct watch_run *run, const struct watch_row *row, dev_t dev)
{
	struct watch_job *job = find(run, row, dev);
	bool is_next = job && job->events == 0;

	if (!job || !set_facts(run, job, row)) {
		session_errno(run->session, 0, ENOMEM, run->words[0], "%s: cannot run it",
			      run->words[0]);
		/* One that waits or runs has what it was told before. */
		if (job && is_next && !job->process)
			drop(run, job);
		return;
	}
	job->events++;
	if (is_next && !job->process)
		wait_for_turn(run, job);
	start_some(run);
}

/* --- ending --- */

void watch_run_reap(struct watch_run *run)
{
	pid_t process;
	int status;

	while ((process = waitpid(-1, &status, WNOHANG)) > 0) {
		for (size_t i = 0; i < run->running_count; i++) {
			struct watch_job *job = run->running[i];

			if (job->process != process)
				continue;
			run->running[i] = run->running[--run->running_count];
			if (WIFSIGNALED(status))
				session_warn(run->session, run->words[0], "%s: ended by signal %d",
					     run->words[0], WTERMSIG(status));
			else if (WEXITSTATUS(status))
				session_warn(run->session, run->words[0],
					     "%s: ended with exit status %d", run->words[0],
					     WEXITSTATUS(status));
			job->process = 0;
			if (job->events)
				wait_for_turn(run, job);
			else
				drop(run, job);
			break;
		}
	}
	start_some(run);
}

void watch_run_stop(struct watch_run *run)
{
	struct watch_job *job;

	while ((job = run->first_waiting)) {
		run->first_waiting = job->next_waiting;
		drop(run, job);
	}
	run->last_waiting = NULL;
	for (size_t i = 0; i < run->running_count; i++)
		clear_facts(run->running[i]);
}

bool watch_run_is_busy(const struct watch_run *run)
{
	return run->running_count > 0 || run->first_waiting;
}

void watch_run_free(struct watch_run *run)
{
	watch_run_stop(run);
	while (run->running_count > 0)
		drop(run, run->running[--run->running_count]);
	free(run->words);
}
