/* SPDX-License-Identifier: Apache-2.0 */
#include "until.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "marks.h"
#include "options.h"
#include "program.h"
#include "quota/base/path.h"
#include "quota/directory/marks.h"
#include "quota/directory/resize.h"
#include "quota/limits/limits.h"
#include "quota/mounts/lookup.h"
#include "shared/array.h"
#include "shared/read_file.h"

/* --- the time --- */

/* @answer    set to what date(1) prints. @return  its exit status, or a negative errno */
static int run_date(const char *option, char **answer)
{
	const char *words[] = { "date", option, "+%s", NULL };
	int output = memfd_create("date", MFD_CLOEXEC), rc, status = 0;
	size_t length;
	pid_t process;

	if (output < 0)
		return -errno;
	rc = -program_start(words, -1, output, environ, &process);
	if (rc == 0)
		status = program_wait(process);
	if (rc == 0)
		rc = lseek(output, 0, SEEK_SET) ? -errno : fsq_read_fd(output, answer, &length);
	close(output);
	return rc ? rc : status;
}

/* @return   whether date(1) understands it; else an error was reported */
static bool ask_date(struct session *session, const char *text, int64_t *when)
{
	char *option = NULL, *answer = NULL, *end = NULL;
	int rc;
	bool good;

	if (asprintf(&option, "--date=%s", text) < 0)
		return session_no_memory(session);
	rc = run_date(option, &answer);
	if (rc == 0)
		*when = strtoll(answer, &end, 10);
	good = rc == 0 && end != answer && strcmp(end, "\n") == 0;
	if (rc < 0)
		session_error(session, ERROR_OF_FILE, FSQ_E_FAILED, -rc, "date",
			      "cannot run date for --until; a time such as 3d needs none");
	else if (!good)
		session_usage_error(session,
				    "--until is a time such as 3d or \"monday 8:00\", not \"%s\"; "
				    "without it limits last",
				    text);
	free(answer);
	free(option);
	return good;
}

/* A day of the week or a time of day that is over today is the next one. */
static void take_next(const char *text, int64_t *when)
{
	static const struct {
		const char *format;
		int days;
	} again[] = {
		{ "%a", 7 }, { "%a %R", 7 }, { "%a %I%p", 7 }, { "%R", 1 }, { "%I%p", 1 },
	};
	const time_t seconds = (time_t)*when;
	struct tm parsed, tm;

	for (size_t i = 0; i < sizeof(again) / sizeof(again[0]); i++) {
		const char *end = strptime(text, again[i].format, &parsed);

		if (!end || *end || !localtime_r(&seconds, &tm))
			continue;
		tm.tm_mday += again[i].days;
		tm.tm_isdst = -1;
		*when = mktime(&tm);
		return;
	}
}

const char *until_date(char date[UNTIL_DATE], int64_t when)
{
	field_put_local_time(date, 1000 * when);
	return date;
}

static bool refuse_past(struct session *session, const char *text, int64_t when)
{
	char date[UNTIL_DATE];

	return session_usage_error(session, "--until %s is %s, which is not in the future", text,
				   until_date(date, when));
}

#define ENABLED_TIMER "/etc/systemd/system/timers.target.wants/fsquota-until.timer"

void until_tell(struct session *session, const char *directory, int64_t when)
{
	const bool is_enabled = access(ENABLED_TIMER, F_OK) == 0;
	char date[UNTIL_DATE];

	if (!is_enabled || session_has_person(session))
		session_warn(
			session, directory, "the limits go back on %s%s", until_date(date, when),
			is_enabled ? ""
				   : ", but only with systemctl enable --now fsquota-until.timer");
}

bool until_parse(struct session *session, const char *text, int64_t *when)
{
	size_t digits = strspn(text, "0123456789");
	int64_t now = time(NULL);
	uint64_t seconds;

	if (options_parse_duration(text, &seconds) && seconds <= INT32_MAX)
		*when = now + (int64_t)seconds;
	/* A zone to date(1). */
	else if (digits && strcmp(text + digits, "s") == 0)
		return session_usage_error(session, "--until takes no seconds: write 1m");
	else if (session->has_root)
		return session_usage_error(session,
					   "with --root --until is a time from now on, such as 3d");
	else if (!ask_date(session, text, when))
		return false;
	/* For date(1), "today" is the second in which it ran. */
	now = time(NULL);
	if (*when <= now)
		take_next(text, when);
	return *when > now || refuse_past(session, text, *when);
}

/* --- the file --- */

/* Parse /WHEN,BEFORE,AFTER/DIRECTORY, with the limits of write_word(); of "/" nothing is behind them. @return  whether it is one */
static bool parse_word(struct until_line *line)
{
	uint64_t *amounts[] = {
		&line->before.soft[FSQ_BLOCKS], &line->before.hard[FSQ_BLOCKS],
		&line->before.soft[FSQ_INODES], &line->before.hard[FSQ_INODES],
		&line->after.soft[FSQ_BLOCKS],	&line->after.hard[FSQ_BLOCKS],
		&line->after.soft[FSQ_INODES],	&line->after.hard[FSQ_INODES],
	};
	char *at = line->word + 1;

	line->when = strtoll(at, &at, 10);
	for (size_t i = 0; i < sizeof(amounts) / sizeof(amounts[0]); i++) {
		if (*at != ',')
			return false;
		*amounts[i] = strtoull(at + 1, &at, 10);
	}
	line->directory = *at ? at : "/";
	return *at == '/' || *at == '\0';
}

static char *write_word(const struct until_line *line)
{
	const struct fsq_limits *a = &line->before, *b = &line->after;
	char *word = NULL;

	if (asprintf(&word,
		     "/%" PRId64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
		     ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "%s",
		     line->when, a->soft[FSQ_BLOCKS], a->hard[FSQ_BLOCKS], a->soft[FSQ_INODES],
		     a->hard[FSQ_INODES], b->soft[FSQ_BLOCKS], b->hard[FSQ_BLOCKS],
		     b->soft[FSQ_INODES], b->hard[FSQ_INODES],
		     strcmp(line->directory, "/") == 0 ? "" : line->directory) < 0)
		return NULL;
	return word;
}

static enum fsq_visit take_line(uint32_t id, const char *word, void *arg)
{
	const unsigned int all = FSQ_SOFT(FSQ_BLOCKS) | FSQ_HARD(FSQ_BLOCKS) |
				 FSQ_SOFT(FSQ_INODES) | FSQ_HARD(FSQ_INODES);
	struct until_line line = {
		.id = id, .word = strdup(word), .before.mask = all, .after.mask = all
	};
	struct until *until = arg;

	until->no_memory |= !line.word;
	if (line.word && parse_word(&line)) {
		if (array_add(&until->list, &until->count, &until->capacity, &line, sizeof(line)))
			return FSQ_VISIT_CONTINUE;
		until->no_memory = true;
	}
	free(line.word);
	return until->no_memory ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

bool until_read(struct session *session, struct until *until, bool to_write)
{
	char file[PATH_MAX];
	struct fsq_error err;
	int rc = 0;

	marks_find_file(session, "until", file);
	if (to_write) {
		until->marks = marks_open(session, "until");
		if (!until->marks)
			return session_no_memory(session);
		rc = fsq_marks_lock(until->marks, &err);
	}
	if (rc == 0)
		rc = fsq_projects_each(file, take_line, until, &err);
	if (rc && err.errnum == EACCES && !to_write)
		return session_error(session, ERROR_AT_PATH, FSQ_E_PERMISSION, EACCES, file,
				     "run it as root: cannot read which limits go back");
	if (rc && rc != FSQ_E_NOT_FOUND)
		return session_fail(session, &err);
	return !until->no_memory || session_no_memory(session);
}

bool until_read_silently(struct session *session, struct until *until)
{
	bool good;

	session->silent = true;
	good = until_read(session, until, false);
	session->silent = false;
	return good;
}

const struct until *until_read_shown(struct session *session, struct until *until)
{
	return table_shows(&session->style, "UNTIL") && until_read_silently(session, until) ? until
											    : NULL;
}

struct until_line *until_find(struct session *session, const struct until *until, uint32_t id,
			      dev_t dev)
{
	struct stat st;

	for (size_t i = 0; i < until->count; i++) {
		struct until_line *line = &until->list[i];

		if (line->id == id && !line->is_done && session_mounts(session) &&
		    fsq_lookup_stat(session_mounts(session), line->directory, 0, &st, NULL) == 0 &&
		    st.st_dev == dev)
			return line;
	}
	return NULL;
}

const struct until_line *until_find_at(struct session *session, const struct until *until,
				       uint32_t id, const char *path)
{
	struct stat st;

	return id && until && until->count && fsq_lookup_stat(NULL, path, 0, &st, NULL) == 0
		       ? until_find(session, until, id, st.st_dev)
		       : NULL;
}

bool until_add(struct session *session, struct until *until, const struct until_line *line)
{
	struct until_line new = *line;
	char *word = write_word(line);
	struct fsq_error err;
	bool good;

	if (!word)
		return session_no_memory(session);
	for (size_t i = 0; i < until->count; i++) {
		if (until->list[i].id == line->id && strcmp(until->list[i].word, word) == 0) {
			until->list[i].is_done = false;
			free(word);
			return true;
		}
	}
	new.word = word;
	new.is_new = true;
	/* It could not be read again. */
	if (strlen(word) >= PATH_MAX || strchr(word, '\n'))
		good = session_error(session, ERROR_AT_PATH, FSQ_E_USAGE, 0, line->directory,
				     "is too long for --until, or has a newline");
	else
		good = fsq_marks_add(until->marks, line->id, word, &err) == 0 ||
		       session_fail(session, &err);
	if (good && array_add(&until->list, &until->count, &until->capacity, &new, sizeof(new)))
		return true;
	free(word);
	return good && session_no_memory(session);
}

static bool is_done(uint32_t id, const char *word, void *arg)
{
	const struct until *until = arg;

	for (size_t i = 0; i < until->count; i++)
		if (until->list[i].is_done && until->list[i].id == id &&
		    strcmp(until->list[i].word, word) == 0)
			return true;
	return false;
}

bool until_remove(struct session *session, struct until *until)
{
	struct fsq_error err;

	return fsq_marks_remove(until->marks, is_done, until, &err) == 0 ||
	       session_fail(session, &err);
}

/* --- the limits --- */

static enum fsq_visit find_registered(uint32_t id, const char *directory, void *arg)
{
	const struct until_line **line = arg;

	if (id != (*line)->id || strcmp(directory, (*line)->directory) != 0)
		return FSQ_VISIT_CONTINUE;
	*line = NULL;
	return FSQ_VISIT_STOP;
}

enum until_end until_put_back(struct session *session, const struct until_line *line, bool dry_run,
			      struct fsq_resized *resized, struct fsq_error *err)
{
	const struct fsq_registry registry = session_registry(session);
	const struct fsq_call_options options = { .size = sizeof(options),
						  .mounts = session_mounts(session) };
	const struct fsq_resize_request request = {
		.size = sizeof(request),
		.directory = line->directory,
		.id = line->id,
		.dry_run = dry_run,
		.registry = &registry,
		.options = &options,
	};
	const struct until_line *missing = line;
	int rc = fsq_resize_from(&request, &line->after, &line->before, resized, err);

	if (rc == 0)
		return UNTIL_IS_BACK;
	if (rc == FSQ_E_CONFLICT)
		return UNTIL_IS_VOID;
	if (rc != FSQ_E_NOT_FOUND)
		return UNTIL_FAILED;
	/* Its filesystem may not be mounted: what is still registered may come again. */
	rc = fsq_projects_each(session->projects_file, find_registered, &missing, NULL);
	return missing && (rc == 0 || rc == FSQ_E_NOT_FOUND) ? UNTIL_IS_VOID : UNTIL_WAITS;
}

bool until_read_if_any(struct session *session, struct until *until, bool to_write,
		       bool (*chooses)(const struct until_line *line, const void *arg),
		       const void *arg)
{
	bool any = false;

	if (until_read(session, until, false))
		for (size_t i = 0; i < until->count; i++)
			any |= chooses(&until->list[i], arg);
	until_free(until);
	*until = (struct until){ 0 };
	return any && until_read(session, until, to_write);
}

bool until_is_of_id(const struct until_line *line, const void *id)
{
	return line->id == *(const uint32_t *)id;
}

void until_forget(struct session *session, uint32_t id, dev_t dev, const struct fsq_limits *is)
{
	struct until until = { 0 };
	struct until_line *line;
	char date[UNTIL_DATE];
	bool any = false;

	if (until_read_if_any(session, &until, true, until_is_of_id, &id)) {
		while ((line = until_find(session, &until, id, dev))) {
			if (!fsq_limits_are_same(is, &line->before))
				session_warn(session, line->directory,
					     "the limits do not go back on %s any more",
					     until_date(date, line->when));
			any = line->is_done = true;
		}
		if (any)
			until_remove(session, &until);
	}
	until_free(&until);
}

void until_tidy(struct session *session, uint32_t id)
{
	struct until until = { 0 };
	struct fsq_resized resized;
	struct fsq_error err;

	if (until_read_if_any(session, &until, true, until_is_of_id, &id)) {
		for (size_t i = 0; i < until.count; i++)
			until.list[i].is_done = until.list[i].id == id &&
						until_put_back(session, &until.list[i], true,
							       &resized, &err) == UNTIL_IS_VOID;
		until_remove(session, &until);
	}
	until_free(&until);
}

/* @return   whether the line is of @from or below it, and with the new path is written */
static bool follow(struct session *session, struct until *until, const struct until_line *line,
		   const char *from, const char *to)
{
	const char *below = fsq_path_below(from, line->directory, strlen(line->directory));
	struct until_line moved = *line;
	char *directory = NULL;
	bool good;

	if (!below)
		return false;
	if (asprintf(&directory, *below ? "%s/%s" : "%s", to, below) < 0)
		return session_no_memory(session);
	moved.directory = directory;
	good = until_add(session, until, &moved);
	free(directory);
	return good;
}

static bool is_any(const struct until_line *line, const void *arg)
{
	(void)line, (void)arg;
	return true;
}

void until_follow(struct session *session, const char *from, const char *to)
{
	char *old = NULL, *new = NULL;
	struct until until = { 0 };
	size_t count;

	if (!until_read_if_any(session, &until, true, is_any, NULL))
		goto out;
	count = until.count;
	old = fsq_lookup_gone(NULL, from);
	new = old ? fsq_lookup_gone(NULL, to) : NULL;
	if (!new)
		session_errno(session, ERROR_AT_PATH, errno, to,
			      "limits that go back do not follow");
	for (size_t i = 0; i < count && new; i++) {
		const bool done = follow(session, &until, &until.list[i], old, new);

		until.list[i].is_done = done;
	}
	until_remove(session, &until);
out:
	until_free(&until);
	free(old);
	free(new);
}

void until_free(struct until *until)
{
	for (size_t i = 0; i < until->count; i++)
		free(until->list[i].word);
	free(until->list);
	if (until->marks)
		fsq_marks_unlock(until->marks);
	fsq_marks_free(until->marks);
}
