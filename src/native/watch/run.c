/* SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "native/cli/program.h"

/*
 * Bytes of directories, and of directories and our own environment together. execve(2) takes at least 128 KiB
 * of arguments and environment.
 */
#define DIRECTORIES_MAX ((size_t)64 * 1024)
#define ENVIRONMENT_MAX ((size_t)96 * 1024)
/* A variable whose value is longer is empty. */
#define FACT_MAX 4096

/* The events of an ID for which the program has not run yet. */
struct watch_job {
	dev_t dev;
	enum fsq_type type;
	uint32_t id;
	uint64_t count;
	char events[WATCH_FORMS * WATCH_EVENTS * 32]; /* " LIMIT:EVENT" of each kind */
	struct text facts; /* variables for the last event: NAME=VALUE, each ended by a NUL */
	struct watch_job *next;
};

static void free_job(struct watch_job *job)
{
	free(job->facts.bytes);
	free(job);
}

/* Say how words that are not a path are to be written: a whole command line, or a name. @return  false */
static bool refuse_words(struct session *session, const char *words)
{
	static const char *const places[] = { "/usr/local/bin/", "/usr/bin/", "/usr/sbin/" };
	const char *place = places[1], *next = words + strcspn(words, " ");
	char name[PATH_MAX], meant[PATH_MAX];
	size_t used;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(name, sizeof(name), "%s%.*s", places[i], (int)(next - words), words);
		if (access(name, X_OK) == 0) {
			place = places[i];
			break;
		}
	}
	used = (size_t)snprintf(meant, sizeof(meant), "--exec %s%.*s", *words == '/' ? "" : place,
				(int)(next - words), words);
	for (; *next && used < sizeof(meant); next += strcspn(next, " ")) {
		next += strspn(next, " ");
		used += (size_t)snprintf(meant + used, sizeof(meant) - used, " --exec-arg %.*s",
					 (int)strcspn(next, " "), next);
	}
	if (words[strcspn(words, "<>|&;$`*")])
		return session_usage_error(session,
					   "--exec is the path of one program, not \"%s\"; did you "
					   "mean --exec /bin/sh --exec-arg -c --exec-arg '%s'?",
					   words, words);
	if (strncmp(words, "mail", 4) == 0)
		return session_usage_error(
			session, "--exec is the path of one program, which reads nothing; "
				 "fsquota-watch-mail.service mails, see fsquota-watch(8)");
	return session_usage_error(
		session,
		"--exec is the path of one program, which reads nothing, not \"%s\"; did "
		"you mean %s, or fsquota watch ... | %s?",
		words, meant, words);
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
	if (!strchr(file, '/') || (strchr(file, ' ') && access(file, F_OK)))
		return refuse_words(session, file);
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

/* --- the variables FSQUOTA_...; untrusted text is in their values only --- */

/* @value    NULL: the variable is empty */
static void write_fact(struct writer *w, const char *name, const char *value)
{
	write_text(w, "FSQUOTA_");
	for (; *name; name++)
		write_char(w, (char)toupper((unsigned char)*name));
	write_char(w, '=');
	if (value && strlen(value) <= FACT_MAX)
		write_text(w, value);
	write_char(w, '\0');
}

/* Separate directories by newlines: a line of the projects file cannot contain one. */
static void write_directories(struct writer *w, const struct field_texts *directories)
{
	size_t used = 0, count = 0;
	char left[32];

	for (char **at = environ; at && *at; at++)
		used += strlen(*at) + 1 + sizeof(*at);
	used = used < ENVIRONMENT_MAX - DIRECTORIES_MAX ? 0
							: used + DIRECTORIES_MAX - ENVIRONMENT_MAX;
	write_text(w, "FSQUOTA_DIRECTORIES=");
	for (; count < directories->count; count++) {
		used += strlen(directories->texts[count]) + 1;
		if (used > DIRECTORIES_MAX)
			break;
		write_text(w, count ? "\n" : "");
		write_text(w, directories->texts[count]);
	}
	write_char(w, '\0');
	write_fact(w, "directory", directories->count ? directories->texts[0] : NULL);
	snprintf(left, sizeof(left), "%zu", directories->count - count);
	write_fact(w, "directories_left", left);
}

/* Set the variables, instead of those of an earlier event. @return  false without memory */
static bool set_facts(const struct watch_run *run, struct watch_job *job,
		      const struct watch_row *row)
{
	static struct writer w;
	struct watch_row sum = *row;
	struct text facts = { 0 };
	char kind[32];

	sum.count += job->count;
	snprintf(kind, sizeof(kind), " %s:%s", row->limit, row->words.event);
	if (!strstr(job->events, kind))
		strcpy(job->events + strlen(job->events), kind);
	writer_start_text(&w, &facts);
	write_fact(&w, "events", job->events + 1);
	for (const struct field *field = run->fields; field->column || field->key; field++) {
		char cell[FIELD_CELL];

		if (field->type == FIELD_TEXTS)
			write_directories(&w, &row->directories);
		else
			write_fact(&w, field->key, field_cell(field, &sum, true, cell));
	}
	if (writer_flush(&w)) {
		free(facts.bytes);
		return false;
	}
	free(job->facts.bytes);
	job->facts = facts;
	job->count = sum.count;
	return true;
}

/* --- running --- */

static bool has_fact(const struct text *facts, const char *variable)
{
	const char *end = facts->bytes + facts->used;
	size_t length = strcspn(variable, "=") + 1;

	for (const char *fact = facts->bytes; fact < end; fact += strlen(fact) + 1)
		if (strncmp(variable, fact, length) == 0)
			return true;
	return false;
}

/* @return   our environment and the variables; free(3) the array, not the strings. NULL without memory */
static char **environment_of(const struct text *facts)
{
	char *end = facts->bytes + facts->used, **all;
	size_t count = 1;

	for (char **at = environ; at && *at; at++)
		count++;
	for (char *fact = facts->bytes; fact < end; fact += strlen(fact) + 1)
		count++;
	all = calloc(count, sizeof(*all));
	count = 0;
	for (char **at = environ; all && at && *at; at++)
		/* Only this process may notify the service manager. */
		if (strncmp(*at, "NOTIFY_SOCKET=", strlen("NOTIFY_SOCKET=")) != 0 &&
		    !has_fact(facts, *at))
			all[count++] = *at;
	for (char *fact = facts->bytes; all && fact < end; fact += strlen(fact) + 1)
		all[count++] = fact;
	return all;
}

/* Unless the program is running, run it for the oldest job. */
static void start_next(struct watch_run *run)
{
	struct watch_job *job;

	while (!run->process && (job = run->jobs)) {
		char **environment = environment_of(&job->facts);
		const char *const *words = (const char *const *)run->words;
		/* Its output would mix with the events. */
		int rc = environment ? program_start(words, -1, STDERR_FILENO, environment,
						     &run->process)
				     : ENOMEM;

		if (rc) {
			session_errno(run->session, 0, rc, run->words[0], "%s: cannot run it",
				      run->words[0]);
			run->process = 0;
		}
		free(environment);
		run->jobs = job->next;
		free_job(job);
	}
}

void watch_run(struct watch_run *run, const struct watch_row *row, dev_t dev)
{
	struct watch_job **at = &run->jobs, *job;

	while ((job = *at) &&
	       (job->id != row->record.id || job->type != row->record.type || job->dev != dev))
		at = &job->next;
	if (!job && (job = calloc(1, sizeof(*job)))) {
		job->dev = dev;
		job->type = row->record.type;
		job->id = row->record.id;
	}
	if (job && set_facts(run, job, row)) {
		*at = job;
		start_next(run);
		return;
	}
	session_errno(run->session, 0, ENOMEM, run->words[0], "%s: cannot run it", run->words[0]);
	/* A job that was waiting keeps the variables of its earlier event. */
	if (!*at)
		free(job);
}

void watch_run_reap(struct watch_run *run)
{
	int status;

	if (!run->process || waitpid(run->process, &status, WNOHANG) != run->process)
		return;
	if (WIFSIGNALED(status))
		session_warn(run->session, run->words[0], "ended by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		session_warn(run->session, run->words[0], "ended with exit status %d",
			     WEXITSTATUS(status));
	run->process = 0;
	start_next(run);
}

void watch_run_stop(struct watch_run *run)
{
	struct watch_job *next;

	for (; run->jobs; run->jobs = next) {
		next = run->jobs->next;
		free_job(run->jobs);
	}
}

bool watch_run_is_busy(const struct watch_run *run)
{
	return run->process || run->jobs;
}

void watch_run_free(struct watch_run *run)
{
	watch_run_stop(run);
	free(run->words);
}
