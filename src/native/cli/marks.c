/* SPDX-License-Identifier: Apache-2.0 */
#include "marks.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/array.h"
#include "shared/errno_words.h"
#include "shared/read_file.h"
#include "shared/sort.h"

/* The path of the file, beside the projects file. Needs no memory, so that a mark can always be written. */
static void find_file(const struct session *session, char file[PATH_MAX])
{
	snprintf(file, PATH_MAX, "%s.applied", session->projects_file);
}

/* @return   a descriptor, with a lock that ends with it; or -1 with errno */
static int open_locked(const struct session *session, int flags)
{
	char file[PATH_MAX];
	int fd, errnum;

	find_file(session, file);
	fd = open(file, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0 && flock(fd, LOCK_EX)) {
		errnum = errno;
		close(fd);
		fd = -1;
		errno = errnum;
	}
	return fd;
}

void apply_marks_add(struct session *session, uint32_t id, const char *directory)
{
	const char *name = strrchr(directory, '/');
	char above[PATH_MAX], path[PATH_MAX], line[2 * PATH_MAX];
	int fd = -1, length = 0;

	/* Resolve only what is above: the directory itself is no symlink, and may have been renamed by now. */
	snprintf(above, sizeof(above), "%.*s", name > directory ? (int)(name - directory) : 1,
		 directory);
	if (realpath(above, path)) {
		length = snprintf(line, sizeof(line), "%u:%s%s\n", id, path[1] ? path : "", name);
		fd = open_locked(session, O_WRONLY | O_APPEND | O_CREAT);
	}
	if (fd < 0 || write(fd, line, (size_t)length) != length)
		session_warn(
			session, directory,
			"cannot be noted as assigned by apply, so --prune will not release it: "
			"%s",
			errno_words(errno));
	if (fd >= 0)
		close(fd);
}

static int compare_marks(const void *one, const void *other)
{
	const struct apply_mark *a = one, *b = other;

	return strcmp(a->directory, b->directory) ?: compare_numbers(a->id, b->id);
}

static enum fsq_visit take_mark(uint32_t id, const char *directory, void *arg)
{
	struct apply_marks *marks = arg;
	struct apply_mark mark = { .id = id, .directory = strdup(directory) };

	if (mark.directory &&
	    array_add(&marks->list, &marks->count, &marks->capacity, &mark, sizeof(mark)))
		return FSQ_VISIT_CONTINUE;
	free(mark.directory);
	marks->no_memory = true;
	return FSQ_VISIT_STOP;
}

static enum fsq_visit take_registered(uint32_t id, const char *directory, void *arg)
{
	struct apply_marks *marks = arg;
	struct apply_mark key = { .id = id, .directory = (char *)(uintptr_t)directory };
	struct apply_mark *found =
		array_search(&key, marks->list, marks->count, sizeof(*marks->list), compare_marks);

	if (found)
		found->is_registered = true;
	return FSQ_VISIT_CONTINUE;
}

bool apply_marks_read(struct session *session, struct apply_marks *marks)
{
	char file[PATH_MAX];
	struct fsq_error err;
	size_t kept = 0;
	int rc;

	find_file(session, file);
	rc = fsq_projects_each(file, take_mark, marks, &err);
	if (rc == FSQ_E_NOT_FOUND)
		return true;
	if (rc)
		return session_fail(session, &err);
	if (marks->no_memory)
		return session_no_memory(session);
	array_sort(marks->list, marks->count, sizeof(*marks->list), compare_marks);
	/* A directory that was released by hand and assigned again is in it twice. */
	for (size_t i = 0; i < marks->count; i++) {
		if (kept && compare_marks(&marks->list[kept - 1], &marks->list[i]) == 0)
			free(marks->list[i].directory);
		else
			marks->list[kept++] = marks->list[i];
	}
	marks->count = kept;
	rc = fsq_projects_each(session->projects_file, take_registered, marks, &err);
	return rc == 0 || rc == FSQ_E_NOT_FOUND || session_fail(session, &err);
}

/*
 * Other processes may have added marks since. Write all of them at once before truncating the file: if we are
 * killed in between, it has empty lines at its end.
 *
 * @return   0 or a negative errno
 */
static int rewrite_without(const struct session *session, const struct apply_marks *marks)
{
	int fd = open_locked(session, O_RDWR), rc = fd < 0 ? -errno : 0;
	char *text = NULL, *rest, *line;
	struct text kept = { 0 };
	size_t length = 0, used;

	if (rc == -ENOENT)
		return 0;
	if (rc == 0)
		rc = fsq_read_fd(fd, &text, &length);
	for (rest = text; rc == 0 && (line = fsq_next_line(&rest, text + length));) {
		char *colon = strchr(line, ':'), *room;
		struct apply_mark key = { .directory = colon ? colon + 1 : line };
		const struct apply_mark *found = NULL;
		size_t size = strlen(line);

		key.id = (uint32_t)strtoul(line, NULL, 10);
		if (colon)
			found = array_search(&key, marks->list, marks->count, sizeof(key),
					     compare_marks);
		if (size == 0 || (found && found->is_done))
			continue;
		room = text_room(&kept, size + 1);
		if (!room)
			rc = -ENOMEM;
		else
			kept.used += (size_t)sprintf(room, "%s\n", line);
	}
	used = kept.used;
	if (rc == 0 && used < length) {
		char *room = text_room(&kept, length - used);

		if (!room)
			rc = -ENOMEM;
		else
			memset(room, '\n', length - used);
		if (rc == 0 && (pwrite(fd, kept.bytes, length, 0) != (ssize_t)length ||
				ftruncate(fd, (off_t)used)))
			rc = errno ? -errno : -EIO;
	}
	free(kept.bytes);
	free(text);
	if (fd >= 0)
		close(fd);
	return rc;
}

void apply_marks_forget(struct session *session, const struct apply_marks *marks)
{
	int rc = rewrite_without(session, marks);

	if (rc)
		session_errno(session, 0, -rc, NULL, "cannot forget what apply has released");
}

void apply_marks_forget_one(struct session *session, uint32_t id, const char *directory)
{
	char path[PATH_MAX];
	struct apply_mark mark = { .id = id, .directory = path, .is_done = true };
	const struct apply_marks one = { .list = &mark, .count = 1 };
	int rc;

	find_file(session, path);
	if (access(path, F_OK) && errno == ENOENT)
		return;
	rc = realpath(directory, path) ? rewrite_without(session, &one) : -errno;
	if (rc)
		session_warn(session, directory,
			     "is still noted as assigned by apply, so --prune may release it: %s",
			     errno_words(-rc));
}

void apply_marks_follow(struct session *session, uint32_t id, const char *from, const char *to)
{
	const struct apply_mark key = { .id = id, .directory = (char *)(uintptr_t)from };
	struct apply_marks marks = { 0 };

	if (apply_marks_read(session, &marks) &&
	    array_search(&key, marks.list, marks.count, sizeof(key), compare_marks))
		apply_marks_add(session, id, to);
	apply_marks_free(&marks);
}

void apply_marks_free(struct apply_marks *marks)
{
	for (size_t i = 0; i < marks->count; i++)
		free(marks->list[i].directory);
	free(marks->list);
}
