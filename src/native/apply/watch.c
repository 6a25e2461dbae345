/* SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "quota/mounts/mount_table.h"
#include "shared/array.h"
#include "shared/clock.h"
#include "shared/sort.h"

/* How often to look if not everything can be watched, and the least time between two looks. */
#define POLL_MILLISECONDS 10000
#define PAUSE_MILLISECONDS 10

#define OF_DIRECTORY (IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF)
#define OF_LINES (IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CREATE)

struct watched_directory {
	int number; /* of inotify */
	bool has_lines;
	const char *only;  /* in this file of it; NULL: in any */
	unsigned int look; /* the last one that wanted it */
};

bool apply_watch_begin(struct apply_watch *watch, struct session *session)
{
	struct fsq_error err;

	*watch = (struct apply_watch){ .session = session, .mounts = -1, .signals = -1 };
	watch->events = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (watch->events < 0)
		return session_errno(session, 0, errno, NULL, "cannot watch directories");
	watch->mounts = fsq_mounts_changes(&err);
	if (watch->mounts < 0)
		return session_fail(session, &err);
	watch->signals = session_open_signals(session, SIGTERM);
	watch->began = clock_milliseconds(CLOCK_MONOTONIC);
	return watch->signals >= 0;
}

void apply_watch_end(struct apply_watch *watch)
{
	if (watch->events >= 0)
		close(watch->events);
	if (watch->mounts >= 0)
		close(watch->mounts);
	if (watch->signals >= 0)
		close(watch->signals);
	free(watch->list);
}

/* --- what is watched --- */

static int compare_watched(const void *one, const void *other)
{
	const struct watched_directory *a = one, *b = other;

	return a->number - b->number;
}

/* Binary search: the numbers of inotify grow. */
static struct watched_directory *find_watched(struct apply_watch *watch, int number)
{
	const struct watched_directory key = { .number = number };

	return array_search(&key, watch->list, watch->count, sizeof(key), compare_watched);
}

static void be_limited(struct apply_watch *watch, const char *path, int errnum)
{
	watch->limited = true;
	if (watch->warned)
		return;
	watch->warned = true;
	session_warn(watch->session, path, "cannot be watched: looking every %d seconds instead%s",
		     POLL_MILLISECONDS / 1000,
		     errnum == ENOSPC ? " (see fs.inotify.max_user_watches)" : "");
}

/*
 * @how      OF_LINES or OF_DIRECTORY, and perhaps IN_DONT_FOLLOW
 * @only     the file that has lines, which must stay; or NULL
 * @return   whether it was not watched before
 */
static bool add_watched(struct apply_watch *watch, const char *directory, uint32_t how,
			const char *only)
{
	const bool has_lines = how == OF_LINES;
	struct watched_directory new = { .has_lines = has_lines,
					 .only = only,
					 .look = watch->look };
	struct watched_directory *known;

	new.number = inotify_add_watch(watch->events, directory, how | IN_ONLYDIR | IN_MASK_ADD);
	if (new.number < 0) {
		/* A missing path is covered by the watch of its parent. */
		if (!apply_is_gone(errno))
			be_limited(watch, directory, errno);
		return false;
	}
	known = find_watched(watch, new.number);
	if (!known) {
		watch->limited |= !array_add(&watch->list, &watch->count, &watch->capacity, &new,
					     sizeof(new));
		return true;
	}
	if (has_lines && known->has_lines && known->look == watch->look &&
	    (!only || !known->only || strcmp(only, known->only) != 0))
		only = NULL;
	if (has_lines)
		known->only = only;
	known->look = watch->look;
	known->has_lines |= has_lines;
	return false;
}

/* Watch each directory above a path: the next part of it may appear there. */
static bool add_above(struct apply_watch *watch, const char *path)
{
	char above[PATH_MAX];
	bool any = add_watched(watch, "/", OF_DIRECTORY, NULL);

	for (const char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		size_t length = (size_t)(slash - path);

		if (length >= sizeof(above))
			break;
		*(char *)mempcpy(above, path, length) = '\0';
		any |= add_watched(watch, above, OF_DIRECTORY, NULL);
	}
	return any;
}

/* The directories in which a part of a pattern is looked for. */
static bool add_pattern(struct apply_watch *watch, const char *pattern)
{
	const char *special = strpbrk(pattern, "*?[\\");
	char *begin = strdup(pattern), *slash;
	size_t fixed = 0;
	bool any = false;

	/* Treat a lack of memory as a lack of watches. */
	if (!begin) {
		watch->limited = true;
		return false;
	}
	for (const char *at = pattern; special && at < special; at++)
		if (*at == '/')
			fixed = (size_t)(at - pattern);
	begin[fixed + 1] = '\0';
	any |= add_above(watch, begin);
	strcpy(begin, pattern);
	for (slash = begin + fixed + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		glob_t found;
		int rc;

		*slash = '\0';
		rc = apply_glob(begin, &found);
		if (rc)
			be_limited(watch, begin, -rc);
		for (size_t i = 0; i < found.gl_pathc; i++)
			any |= add_watched(watch, found.gl_pathv[i], OF_DIRECTORY | IN_DONT_FOLLOW,
					   NULL);
		globfree(&found);
	}
	free(begin);
	return any;
}

/* A directory of lines, or a file of them, which may be replaced by another one of its name. */
static bool add_file(struct apply_watch *watch, const char *file)
{
	const char *slash = strrchr(file, '/');
	bool any = file[0] == '/' && add_above(watch, file);
	char *directory;
	struct stat st;

	if (stat(file, &st) == 0 && S_ISDIR(st.st_mode))
		return add_watched(watch, file, OF_LINES, NULL) || any;
	directory = slash ? strndup(file, (size_t)(slash - file) + 1) : strdup(".");
	if (!directory)
		watch->limited = true;
	else
		any |= add_watched(watch, directory, OF_LINES, slash ? slash + 1 : file);
	free(directory);
	return any;
}

bool apply_watch_follow(struct apply_watch *watch, const struct apply_list *list,
			char *const *files, int count)
{
	size_t kept = 0;
	bool any = false;

	/* Try again what could not be watched the last time. */
	watch->limited = false;
	for (int i = 0; i < count; i++)
		any |= add_file(watch, files[i]);
	for (size_t i = 0; i < list->pattern_count; i++)
		any |= add_pattern(watch, list->patterns[i]);
	for (size_t i = 0; i < list->count; i++)
		if (list->entries[i].request.directory && !list->entries[i].pattern)
			any |= add_above(watch, list->entries[i].request.directory);
	for (size_t i = 0; i < watch->count; i++) {
		if (watch->list[i].look == watch->look)
			watch->list[kept++] = watch->list[i];
		else
			inotify_rm_watch(watch->events, watch->list[i].number);
	}
	watch->count = kept;
	watch->warned &= watch->limited;
	watch->look++;
	watch->ended = clock_milliseconds(CLOCK_MONOTONIC);
	if (any)
		watch->began = watch->ended;
	return any;
}

/* --- waiting --- */

/* @return   whether one of them may concern a line */
static bool read_events(struct apply_watch *watch)
{
	const uint32_t of_directories =
		IN_ISDIR | IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_Q_OVERFLOW;
	_Alignas(struct inotify_event) char buffer[16 * 1024];
	bool any = false;
	ssize_t got;

	while ((got = read(watch->events, buffer, sizeof(buffer))) > 0) {
		const struct inotify_event *event;

		for (char *at = buffer; at < buffer + got; at += sizeof(*event) + event->len) {
			const struct watched_directory *from;
			bool of_lines;

			event = (const void *)at;
			from = find_watched(watch, event->wd);
			of_lines = from && from->has_lines &&
				   (!from->only ||
				    (event->len && strcmp(event->name, from->only) == 0));
			any |= of_lines || (event->mask & of_directories);
		}
	}
	return any;
}

bool apply_watch_wait(struct apply_watch *watch)
{
	/* During a pause wait only for signals. */
	struct pollfd sources[] = { { .fd = watch->signals, .events = POLLIN },
				    { .fd = watch->events, .events = POLLIN },
				    { .fd = watch->mounts, .events = POLLPRI } };
	int64_t pause = watch->ended - watch->began;
	int ready;

	do {
		ready = poll(sources, 3, watch->limited ? POLL_MILLISECONDS : -1);
		if (ready < 0 && errno != EINTR)
			return session_errno(watch->session, 0, errno, NULL, "cannot wait");
	} while (!sources[0].revents && !(sources[1].revents && read_events(watch)) &&
		 !sources[2].revents && ready != 0);
	pause = watch->ended + (pause > PAUSE_MILLISECONDS ? pause : PAUSE_MILLISECONDS) -
		clock_milliseconds(CLOCK_MONOTONIC);
	if (!sources[0].revents && pause > 0) {
		poll(sources, 1, pause < INT_MAX ? (int)pause : INT_MAX);
		read_events(watch);
	}
	watch->began = clock_milliseconds(CLOCK_MONOTONIC);
	return !sources[0].revents;
}
