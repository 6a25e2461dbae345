/* SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "quota/base/path.h"
#include "quota/mounts/lookup.h"
#include "quota/mounts/mount.h"
#include "shared/array.h"
#include "shared/clock.h"
#include "shared/sort.h"

/* How often to look at all; the same if not everything can be watched; and the least time between two looks. */
#define ALL_MILLISECONDS (5 * 60 * 1000)
#define POLL_MILLISECONDS 10000
#define PAUSE_MILLISECONDS 10

/* How often to look at lines with the word registered: nothing tells that limits were set. */
#define REGISTERED_MILLISECONDS 500

/* After how long it is told that directories appear all the time, and how often. */
#define BUSY_MILLISECONDS 1000
#define TELL_MILLISECONDS (60 * 60 * 1000)

#define OF_DIRECTORY (IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF)
#define OF_LINES (IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CREATE)

struct watched_directory {
	int number; /* of inotify */
	char *path; /* without symlinks */
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
	watch->all = true;
	return watch->signals >= 0;
}

static void forget_appeared(struct apply_watch *watch)
{
	for (size_t i = 0; i < watch->appeared_count; i++)
		free(watch->appeared[i]);
	watch->appeared_count = 0;
}

void apply_watch_end(struct apply_watch *watch)
{
	if (watch->events >= 0)
		close(watch->events);
	if (watch->mounts >= 0)
		close(watch->mounts);
	if (watch->signals >= 0)
		close(watch->signals);
	forget_appeared(watch);
	free(watch->appeared);
	for (size_t i = 0; i < watch->count; i++)
		free(watch->list[i].path);
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
 * @fd       of the directory
 * @directory its path; @is_real  it has no symlinks
 * @how      OF_LINES or OF_DIRECTORY
 * @only     the file that has lines, which must stay; or NULL
 * @return   whether it was not watched before
 */
static bool add_held(struct apply_watch *watch, int fd, const char *directory, bool is_real,
		     uint32_t how, const char *only)
{
	char link[FSQ_FD_LINK_SIZE];
	const bool has_lines = how == OF_LINES;
	struct watched_directory new = { .has_lines = has_lines,
					 .only = only,
					 .look = watch->look };
	struct watched_directory *known;

	fsq_fd_link(link, fd);
	new.number = inotify_add_watch(watch->events, link, how | IN_ONLYDIR | IN_MASK_ADD);
	if (new.number < 0) {
		be_limited(watch, directory, errno);
		return false;
	}
	known = find_watched(watch, new.number);
	new.path = is_real ? strdup(directory) : fsq_fd_path(fd);
	if (!known) {
		watch->limited |= !new.path || !array_add(&watch->list, &watch->count,
							  &watch->capacity, &new, sizeof(new));
		return true;
	}
	/* It may have been renamed. */
	free(known->path);
	known->path = new.path;
	if (has_lines && known->has_lines && known->look == watch->look &&
	    (!only || !known->only || strcmp(only, known->only) != 0))
		only = NULL;
	if (has_lines)
		known->only = only;
	known->look = watch->look;
	known->has_lines |= has_lines;
	return false;
}

/* The same by its path. One that is missing is covered by the watch of what is above it. */
static bool add_watched(struct apply_watch *watch, const char *directory, uint32_t how,
			const char *only)
{
	const struct fsq_mount_points *points = session_mounts(watch->session);
	int fd = points ? fsq_lookup(points, directory, O_PATH | O_DIRECTORY, NULL) : -ENOENT;
	bool is_new = fd >= 0 && add_held(watch, fd, directory, false, how, only);

	if (fd >= 0)
		close(fd);
	else if (fd != -ENOENT && fd != -ENOTDIR && fd != -ELOOP && fd != -EXDEV)
		be_limited(watch, directory, -fd);
	return is_new;
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

void apply_watch_add(const char *path, int fd, int errnum, void *arg)
{
	struct apply_watch *watch = arg;

	if (errnum)
		be_limited(watch, path, errnum);
	else
		add_held(watch, fd, path, true, OF_DIRECTORY, NULL);
}

/* Where the file of a symlink is. One that is in another directory can be replaced there, too. */
static void add_target(struct apply_watch *watch, const char *file)
{
	char *target = realpath(file, NULL), *slash = target ? strrchr(target, '/') : NULL;

	if (slash) {
		slash[slash == target] = '\0';
		add_watched(watch, target, OF_LINES, NULL);
	}
	free(target);
}

/* A directory of lines, or a file of them, which may be replaced by another one of its name. */
static void add_file(struct apply_watch *watch, const char *file)
{
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
	char *directory;
	struct stat st;

	if (file[0] == '/')
		add_above(watch, file);
	if (stat(file, &st) == 0 && S_ISDIR(st.st_mode)) {
		add_watched(watch, file, OF_LINES, NULL);
		return;
	}
	directory = slash ? strndup(file, (size_t)(slash - file) + 1) : strdup(".");
	/* As that of a ConfigMap, which leads over another symlink beside it: any change there may be one of the file. */
	if (lstat(file, &st) == 0 && S_ISLNK(st.st_mode)) {
		add_target(watch, file);
		name = NULL;
	}
	if (!directory)
		watch->limited = true;
	else
		add_watched(watch, directory, OF_LINES, name);
	free(directory);
}

/* Are two paths in one directory? */
static bool is_beside(const char *one, const char *other)
{
	const size_t length = (size_t)(strrchr(one, '/') - one) + 1;

	return strncmp(one, other, length) == 0 && !strchr(other + length, '/');
}

void apply_watch_files(struct apply_watch *watch, char *const *files, int count)
{
	/* Try again what could not be watched the last time. */
	watch->limited = false;
	for (int i = 0; i < count; i++)
		add_file(watch, files[i]);
}

bool apply_watch_follow(struct apply_watch *watch, const struct apply_list *list)
{
	const char *last = "";
	size_t kept = 0;
	bool any = false;

	watch->has_registered = false;
	for (size_t i = 0; i < list->patterns.count; i++)
		any |= add_above(watch, list->patterns.list[i].pattern);
	for (size_t i = 0; i < list->directories.count; i++) {
		const struct apply_entry *entry = &list->directories.list[i];
		const char *path = entry->request.directory;

		watch->has_registered |= entry->registered;
		if (!path || entry->pattern || entry->registered || is_beside(path, last))
			continue;
		any |= add_above(watch, path);
		last = path;
	}
	for (size_t i = 0; i < watch->count; i++) {
		if (watch->list[i].look == watch->look) {
			watch->list[kept++] = watch->list[i];
			continue;
		}
		/* It may be gone already. */
		inotify_rm_watch(watch->events, watch->list[i].number);
		free(watch->list[i].path);
	}
	watch->count = kept;
	watch->warned &= watch->limited;
	watch->look++;
	watch->pending |= any;
	return any;
}

void apply_watch_follow_one(struct apply_watch *watch, const struct apply_list *list,
			    const char *path)
{
	for (size_t i = 0; i < list->directories.count; i++) {
		const struct apply_entry *entry = &list->directories.list[i];
		const char *below =
			entry->real ? fsq_path_below(path, entry->real, strlen(entry->real)) : NULL;

		if (below && *below)
			add_above(watch, entry->request.directory);
	}
}

/* --- waiting --- */

static void add_appeared(struct apply_watch *watch, const char *directory, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", strcmp(directory, "/") ? directory : "", name) < 0)
		path = NULL;
	if (path && watch->appeared_count &&
	    strcmp(watch->appeared[watch->appeared_count - 1], path) == 0) {
		free(path);
		return;
	}
	if (path && array_add(&watch->appeared, &watch->appeared_count, &watch->appeared_capacity,
			      &path, sizeof(path)))
		return;
	free(path);
	watch->pending = true;
}

static void take_event(struct apply_watch *watch, const struct inotify_event *event)
{
	struct watched_directory *from = find_watched(watch, event->wd);
	const bool appears =
		event->len && (event->mask & IN_ISDIR) && (event->mask & (IN_CREATE | IN_MOVED_TO));

	if (event->mask & IN_Q_OVERFLOW)
		watch->pending = true;
	if (!from)
		return;
	/* Also when the directory of lines itself is moved or deleted. */
	if (from->has_lines && (!from->only || !event->len || strcmp(event->name, from->only) == 0))
		watch->lines = true;
	if (appears && from->path)
		add_appeared(watch, from->path, event->name);
	/* The watch has ended, since the directory is gone. Another one of its name appears in what is above it. */
	if (event->mask & IN_IGNORED) {
		free(from->path);
		memmove(from, from + 1,
			(size_t)(watch->list + --watch->count - from) * sizeof(*from));
	}
}

/* As many as fit in the buffer, so that a look ends soon. The others stay where they are. */
static void read_events(struct apply_watch *watch)
{
	_Alignas(struct inotify_event) char buffer[4 * 1024];
	ssize_t got = read(watch->events, buffer, sizeof(buffer));
	const struct inotify_event *event;

	for (char *at = buffer; got > 0 && at < buffer + got; at += sizeof(*event) + event->len) {
		event = (const void *)at;
		take_event(watch, event);
	}
}

/* The kernel says once that mounts have changed. */
static void note_mounts(struct apply_watch *watch, const struct pollfd *mounts)
{
	if (mounts->revents)
		watch->remounted = watch->pending = true;
}

bool apply_watch_remounted(struct apply_watch *watch)
{
	const bool now = fsq_mounts_have_changed(watch->mounts), before = watch->remounted;

	watch->pending |= now;
	watch->remounted = false;
	return now || before;
}

bool apply_watch_ask(struct apply_watch *watch)
{
	struct pollfd sources[] = { { .fd = watch->events, .events = POLLIN },
				    { .fd = watch->mounts, .events = POLLPRI } };

	forget_appeared(watch);
	if (poll(sources, 2, 0) <= 0)
		return false;
	note_mounts(watch, &sources[1]);
	if (!sources[0].revents || sources[1].revents)
		return false;
	read_events(watch);
	return watch->appeared_count > 0;
}

/* When to look at all, whatever comes until then; in milliseconds. */
static int64_t time_of_all(const struct apply_watch *watch)
{
	int64_t at = watch->all_ended + (watch->limited ? POLL_MILLISECONDS : ALL_MILLISECONDS);

	if (watch->lines)
		return 0;
	if (watch->wake && watch->wake < at)
		at = watch->wake;
	return watch->pending || at < watch->not_before ? watch->not_before : at;
}

/* When to look at lines with the word registered. */
static int64_t time_of_registered(const struct apply_watch *watch)
{
	return watch->has_registered ? watch->registered_ended + REGISTERED_MILLISECONDS
				     : INT64_MAX;
}

/* Whoever makes directories faster than they get their quotas delays those of all. */
static void tell_of_delay(struct apply_watch *watch, bool waited)
{
	if (waited)
		watch->busy = 0;
	else if (!watch->busy)
		watch->busy = watch->began;
	if (waited || watch->began - watch->busy < BUSY_MILLISECONDS || !watch->appeared_count ||
	    (watch->told && watch->began - watch->told < TELL_MILLISECONDS))
		return;
	watch->told = watch->began;
	session_warn(watch->session, watch->appeared[0],
		     "is one of more directories than can get their limits at once: all new ones "
		     "wait for them");
}

/*
 * A look at all is followed by as much time without one, unless lines change. A look at some is followed by twice as much of nothing, and
 * delays the next one at all by that, too: so all together take half of the time at most, whoever makes directories.
 *
 * @return   until when nothing is to be done
 */
static int64_t end_look(struct apply_watch *watch, int64_t now)
{
	const int64_t took = now - watch->began;

	forget_appeared(watch);
	if (watch->all || watch->at_registered)
		watch->registered_ended = now;
	watch->at_registered = false;
	if (watch->all) {
		watch->all_ended = now;
		watch->not_before = now + took;
		watch->all = false;
		return now;
	}
	watch->not_before += 2 * took;
	return now + (took > PAUSE_MILLISECONDS / 2 ? 2 * took : PAUSE_MILLISECONDS);
}

bool apply_watch_wait(struct apply_watch *watch)
{
	struct pollfd sources[] = { { .fd = watch->signals, .events = POLLIN },
				    { .fd = watch->events, .events = POLLIN },
				    { .fd = watch->mounts, .events = POLLPRI } };
	int64_t now = clock_milliseconds(CLOCK_MONOTONIC);
	const int64_t rest = end_look(watch, now);

	while (!watch->all && !watch->appeared_count && !watch->at_registered) {
		const bool rests = now < rest;
		const int64_t all = time_of_all(watch), registered = time_of_registered(watch);
		const int64_t next = registered < all ? registered : all;
		const int64_t until = (rests ? rest : next) - now;
		int ready = poll(sources, rests ? 1 : 3, until < 0 ? 0 : (int)until);

		if (ready < 0 && errno != EINTR)
			return session_errno(watch->session, 0, errno, NULL, "cannot wait");
		if (ready > 0 && sources[0].revents)
			return false;
		now = clock_milliseconds(CLOCK_MONOTONIC);
		if (rests)
			continue;
		if (ready > 0 && sources[1].revents)
			read_events(watch);
		if (ready > 0)
			note_mounts(watch, &sources[2]);
		watch->all = now >= time_of_all(watch);
		watch->at_registered = now >= time_of_registered(watch);
	}
	watch->pending &= !watch->all;
	watch->lines &= !watch->all;
	watch->began = now;
	tell_of_delay(watch, watch->began - rest > PAUSE_MILLISECONDS);
	return true;
}
