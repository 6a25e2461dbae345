/* SPDX-License-Identifier: Apache-2.0 */
#include "marks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "quota/directory/marks.h"
#include "quota/mounts/lookup.h"
#include "shared/array.h"
#include "shared/sort.h"

/* The file of /etc/projects, and where it was before 0.3.0. Another projects file has its own beside it. */
#define MARKS_DIRECTORY "/var/lib/fsquota"
#define FORMER_FILE FSQ_PROJECTS_FILE ".applied"

static const struct fsq_error no_memory = { .kind = FSQ_E_FAILED, .errnum = ENOMEM };

static bool is_usual(const struct session *session)
{
	return strcmp(session->projects_file, FSQ_PROJECTS_FILE) == 0;
}

void marks_find_file(const struct session *session, const char *name, char file[PATH_MAX])
{
	if (is_usual(session))
		snprintf(file, PATH_MAX, MARKS_DIRECTORY "/%s", name);
	else
		snprintf(file, PATH_MAX, "%s.%s", session->projects_file, name);
}

struct fsq_marks *marks_open(const struct session *session, const char *name)
{
	char file[PATH_MAX];

	marks_find_file(session, name, file);
	if (is_usual(session))
		mkdir(MARKS_DIRECTORY, 0700);
	return fsq_marks_new(file, session->lock_seconds);
}

struct taking {
	struct fsq_marks *marks;
	struct fsq_error *err;
	int rc;
};

static enum fsq_visit take_over_mark(uint32_t id, const char *directory, void *arg)
{
	struct taking *taking = arg;

	taking->rc = fsq_marks_add(taking->marks, id, directory, taking->err);
	return taking->rc ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

/* Until all are taken over they stay where they were, and apply_marks_read() reads both. */
static int take_over(struct fsq_marks *marks, struct fsq_error *err)
{
	struct taking taking = { marks, err, 0 };
	int rc = fsq_projects_each(FORMER_FILE, take_over_mark, &taking, err);

	if (rc == 0 && taking.rc == 0)
		unlink(FORMER_FILE);
	return rc == FSQ_E_NOT_FOUND ? 0 : rc ? rc : taking.rc;
}

/* Get the file ready to be changed: session->marks. @return  0 or as of fsq_marks_add() */
static int prepare(struct session *session, struct fsq_error *err)
{
	if (session->marks)
		return 0;
	session->marks = marks_open(session, "applied");
	if (!session->marks) {
		*err = no_memory;
		return err->kind;
	}
	return is_usual(session) ? take_over(session->marks, err) : 0;
}

static void warn(struct session *session, const char *directory, const char *what,
		 const struct fsq_error *err)
{
	char text[sizeof(struct fsq_error)];

	fsq_error_text(err, text, sizeof(text));
	session_warn(session, directory, "%s: %s", what, text);
}

int apply_marks_add(struct session *session, uint32_t id, const char *directory, bool *marked,
		    struct fsq_error *err)
{
	int rc = prepare(session, err);

	if (rc == 0)
		rc = fsq_marks_add(session->marks, id, directory, err);
	*marked |= rc == 0;
	if (rc == 0 || err->errnum == ENOMEM)
		return rc;
	warn(session, directory,
	     "apply cannot note that it has assigned this, so --prune will not release it", err);
	return 0;
}

static int compare_marks(const void *one, const void *other)
{
	const struct apply_mark *a = one, *b = other;

	return strcmp(a->directory, b->directory) ?: compare_numbers(a->id, b->id);
}

struct apply_mark *apply_marks_keep(struct apply_marks *marks, uint32_t id, const char *directory)
{
	struct apply_mark mark = { .id = id, .directory = strdup(directory) };

	if (mark.directory &&
	    array_add(&marks->list, &marks->count, &marks->capacity, &mark, sizeof(mark)))
		return &marks->list[marks->count - 1];
	free(mark.directory);
	marks->no_memory = true;
	return NULL;
}

struct apply_mark *apply_marks_find(const struct apply_marks *marks, uint32_t id,
				    const char *directory)
{
	const struct apply_mark key = { .id = id, .directory = (char *)(uintptr_t)directory };

	return array_search(&key, marks->list, marks->count, sizeof(key), compare_marks);
}

static enum fsq_visit take_mark(uint32_t id, const char *directory, void *marks)
{
	return apply_marks_keep(marks, id, directory) ? FSQ_VISIT_CONTINUE : FSQ_VISIT_STOP;
}

static enum fsq_visit take_registered(uint32_t id, const char *directory, void *arg)
{
	struct apply_mark *found = apply_marks_find(arg, id, directory);

	if (found)
		found->is_registered = true;
	return FSQ_VISIT_CONTINUE;
}

static int read_marks(const char *file, struct apply_marks *marks, struct fsq_error *err)
{
	int rc = fsq_projects_each(file, take_mark, marks, err);

	return rc == FSQ_E_NOT_FOUND ? 0 : rc;
}

bool apply_marks_read(struct session *session, struct apply_marks *marks)
{
	char file[PATH_MAX];
	struct fsq_error err;
	size_t kept = 0;
	int rc;

	marks_find_file(session, "applied", file);
	rc = is_usual(session) ? read_marks(FORMER_FILE, marks, &err) : 0;
	if (rc == 0)
		rc = read_marks(file, marks, &err);
	if (rc)
		return session_fail(session, &err);
	if (marks->no_memory)
		return session_no_memory(session);
	array_sort(marks->list, marks->count, sizeof(*marks->list), compare_marks);
	/* Of a directory that is in both files. */
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

static bool is_done(uint32_t id, const char *directory, void *arg)
{
	const struct apply_mark *found = apply_marks_find(arg, id, directory);

	return found && found->is_done;
}

static int forget(struct session *session, struct apply_marks *marks, struct fsq_error *err)
{
	int rc = prepare(session, err);

	return rc ? rc : fsq_marks_remove(session->marks, is_done, marks, err);
}

void apply_marks_forget(struct session *session, struct apply_marks *marks)
{
	struct fsq_error err;

	if (forget(session, marks, &err))
		session_fail(session, &err);
}

void apply_marks_tidy(struct session *session)
{
	struct apply_marks marks = { 0 };
	bool any = false;

	if (apply_marks_read(session, &marks)) {
		for (size_t i = 0; i < marks.count; i++) {
			marks.list[i].is_done = !marks.list[i].is_registered;
			any |= marks.list[i].is_done;
		}
		if (any)
			apply_marks_forget(session, &marks);
	}
	apply_marks_free(&marks);
}

void apply_marks_forget_one(struct session *session, uint32_t id, const char *directory)
{
	char file[PATH_MAX];
	struct apply_mark mark = { .id = id, .is_done = true };
	struct apply_marks one = { .list = &mark, .count = 1 };
	struct fsq_error err = no_memory;
	int rc;

	marks_find_file(session, "applied", file);
	if (access(file, F_OK) && errno == ENOENT &&
	    (!is_usual(session) || (access(FORMER_FILE, F_OK) && errno == ENOENT)))
		return;
	mark.directory = fsq_lookup_gone(NULL, directory);
	rc = mark.directory ? forget(session, &one, &err) : FSQ_E_FAILED;
	free(mark.directory);
	if (rc)
		warn(session, directory,
		     "is still noted as assigned by apply, so --prune may release it", &err);
}

void apply_marks_follow(struct session *session, uint32_t id, const char *from, const char *to)
{
	struct apply_marks marks = { 0 };
	struct fsq_error err;
	bool marked = false;

	if (apply_marks_read(session, &marks) && apply_marks_find(&marks, id, from) &&
	    apply_marks_add(session, id, to, &marked, &err))
		session_fail(session, &err);
	apply_marks_free(&marks);
}

void apply_marks_free(struct apply_marks *marks)
{
	for (size_t i = 0; i < marks->count; i++)
		free(marks->list[i].directory);
	free(marks->list);
}
