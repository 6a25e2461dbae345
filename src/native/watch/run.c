/* SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A text of the environment can have 128 KiB, and so can all together where the stack is small. */
#define DIRECTORIES_MAX (64 * 1024)

/*
 * The environment of a command: these variables, and one for each field of the row. Strings of tenants are in
 * values only.
 */
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
	struct watch_job *next;
};

static void clear_facts(struct watch_job *job)
{
	for (int i = 0; i < FACTS_MAX; i++) {
		free(job->facts[i]);
		job->facts[i] = NULL;
	}
	job->events = job->count = 0;
}

static void take_out(struct watch_run *run, const struct watch_job *job)
{
	struct watch_job **at = &run->jobs;

	while (*at != job)
		at = &(*at)->next;
	*at = job->next;
}

static void drop(struct watch_run *run, struct watch_job *job)
{
	take_out(run, job);
	clear_facts(job);
	free(job);
}

/* @return   the job of an ID, or a new one behind all others; NULL without memory */
static struct watch_job *find(struct watch_run *run, const struct watch_row *row, dev_t dev)
{
	struct watch_job **at = &run->jobs, *job;

	for (; (job = *at); at = &job->next)
		if (job->id == row->record.id && job->type == row->record.type && job->dev == dev)
			return job;
	job = *at = calloc(1, sizeof(*job));
	if (job)
		*job = (struct watch_job){ .dev = dev,
					   .type = row->record.type,
					   .id = row->record.id };
	return job;
}

bool watch_run_set(struct watch_run *run, const char *file, const struct word_list *arguments)
{
	struct session *session = run->session;
	struct stat st;

	if (!file && arguments->count)
		return session_usage_error(session, "--exec-arg is for --exec");
	if (!file)
		return true;
	if (session->has_root)
		return session_usage_error(session, "--exec does not go with --root: the program "
						    "would be one of that directory");
	if (!strchr(file, '/'))
		return session_usage_error(session, "--exec is the path of a program, not \"%s\"",
					   file);
	if (stat(file, &st) || access(file, X_OK))
		return session_errno(session, 0, errno, file, "%s: cannot run it", file);
	if (!S_ISREG(st.st_mode))
		return session_usage_error(session, "--exec is the path of a program: %s is none",
					   file);
	run->words = calloc(arguments->count + 2, sizeof(char *));
	if (!run->words)
		return session_no_memory(session);
	run->words[0] = (char *)file;
	for (size_t i = 0; i < arguments->count; i++)
		run->words[i + 1] = (char *)arguments->words[i];
	return true;
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

/* A line of the projects file has no newline, so newlines can separate them. */
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
	run->running++;
}

static void start_some(struct watch_run *run)
{
	struct watch_job *next;

	for (struct watch_job *job = run->jobs; job && run->running < WATCH_RUNNING; job = next) {
		next = job->next;
		if (!job->process)
			start(run, job);
	}
}

void watch_run(struct watch_run *run, const struct watch_row *row, dev_t dev)
{
	struct watch_job *job = find(run, row, dev);

	if (!job || !set_facts(run, job, row)) {
		session_errno(run->session, 0, ENOMEM, run->words[0], "%s: cannot run it",
			      run->words[0]);
		/* Its command, running or waiting, has the earlier state. */
		if (job && job->events == 0 && !job->process)
			drop(run, job);
		return;
	}
	job->events++;
	start_some(run);
}

/* --- ending --- */

void watch_run_reap(struct watch_run *run)
{
	struct watch_job *job, **end;
	pid_t process;
	int status;

	while ((process = waitpid(-1, &status, WNOHANG)) > 0) {
		for (job = run->jobs; job && job->process != process; job = job->next)
			;
		if (!job)
			continue;
		if (WIFSIGNALED(status))
			session_warn(run->session, run->words[0], "ended by signal %d",
				     WTERMSIG(status));
		else if (WEXITSTATUS(status))
			session_warn(run->session, run->words[0], "ended with exit status %d",
				     WEXITSTATUS(status));
		run->running--;
		job->process = 0;
		if (!job->events) {
			drop(run, job);
			continue;
		}
		/* It waits again, behind all others. */
		take_out(run, job);
		job->next = NULL;
		for (end = &run->jobs; *end; end = &(*end)->next)
			;
		*end = job;
	}
	start_some(run);
}

void watch_run_stop(struct watch_run *run)
{
	struct watch_job *next;

	for (struct watch_job *job = run->jobs; job; job = next) {
		next = job->next;
		if (job->process)
			clear_facts(job);
		else
			drop(run, job);
	}
}

bool watch_run_is_busy(const struct watch_run *run)
{
	return run->jobs != NULL;
}

void watch_run_free(struct watch_run *run)
{
	while (run->jobs)
		drop(run, run->jobs);
	free(run->words);
}
