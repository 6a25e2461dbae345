/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mountinfo.h"
#include "mounts.h"
#include "quota/base/error.h"
#include "shared/array.h"
#include "shared/sort.h"

enum reach { NOT_ASKED, REACHED, COVERED };

struct point {
	uint64_t id, parent;
	dev_t dev;
	char *directory;
	size_t length;	  /* of it; 0 for "/" */
	enum reach reach; /* does its own path lead to the place where it is mounted? */
};

struct fsq_mount_points {
	struct point
		*all; /* by parent and directory; in the end those that are seen, by directory */
	size_t count, capacity;
	struct point **by_id; /* until then */
	bool incomplete;
};

static int compare_names(const char *one, size_t length, const char *other, size_t other_length)
{
	int rc = memcmp(one, other, length < other_length ? length : other_length);

	return rc ? rc : length < other_length ? -1 : length > other_length;
}

static int compare_directories(const void *one, const void *other)
{
	const struct point *a = one, *b = other;

	return compare_names(a->directory, a->length, b->directory, b->length);
}

static int compare_children(const void *one, const void *other)
{
	const struct point *a = one, *b = other;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	return compare_directories(one, other);
}

static int compare_ids(const void *one, const void *other)
{
	const struct point *const *a = one, *const *b = other;

	return (*a)->id < (*b)->id ? -1 : (*a)->id > (*b)->id;
}

static enum fsq_visit add_point(const struct fsq_mountinfo_line *line, void *arg)
{
	struct fsq_mount_points *points = arg;
	struct point *all = array_grow(points->all, points->count, &points->capacity, sizeof(*all));
	char *copy = all ? strdup(line->directory) : NULL;

	if (all)
		points->all = all;
	points->incomplete |= !copy;
	if (!copy)
		return FSQ_VISIT_STOP;
	all[points->count++] = (struct point){
		.id = line->id,
		.parent = line->parent,
		.dev = line->dev,
		.directory = copy,
		.length = strcmp(copy, "/") == 0 ? 0 : strlen(copy),
	};
	return FSQ_VISIT_CONTINUE;
}

/* The length of what is above a path: "/a" is above "/a/b", and "" above "/a". */
static size_t length_above(const char *path, size_t length)
{
	while (length > 0 && path[--length] != '/')
		;
	return length;
}

/* What is mounted on a mount at a directory, or NULL. */
static struct point *child_at(const struct fsq_mount_points *points, uint64_t parent,
			      const char *directory, size_t length)
{
	const struct point wanted = { .parent = parent,
				      .directory = (char *)(uintptr_t)directory,
				      .length = length };

	return bsearch(&wanted, points->all, points->count, sizeof(wanted), compare_children);
}

static struct point *find_mount(const struct fsq_mount_points *points, uint64_t id)
{
	const struct point wanted = { .id = id }, *key = &wanted;
	struct point **found =
		bsearch(&key, points->by_id, points->count, sizeof(key), compare_ids);

	return found ? *found : NULL;
}

/* Does another mount on the same one cover the place? */
static bool is_covered(const struct fsq_mount_points *points, const struct point *point)
{
	size_t length = point->length;

	while (length > 0) {
		const struct point *other;

		length = length_above(point->directory, length);
		other = child_at(points, point->parent, point->directory, length);
		if (other && other != point)
			return true;
	}
	return false;
}

/* A mount is reached if the one below it is. */
static bool is_reached(const struct fsq_mount_points *points, struct point *point)
{
	struct point *parent;

	if (point->reach != NOT_ASKED)
		return point->reach == REACHED;
	/* Should there be a circle, it ends here. */
	point->reach = COVERED;
	parent = point->id == point->parent ? NULL : find_mount(points, point->parent);
	if ((!parent || is_reached(points, parent)) && !is_covered(points, point))
		point->reach = REACHED;
	return point->reach == REACHED;
}

/* Is it seen at its directory? Then it is reached, and nothing is mounted over it. */
static bool is_seen(const struct fsq_mount_points *points, struct point *point)
{
	const struct point *over = child_at(points, point->id, point->directory, point->length);

	return is_reached(points, point) && (!over || over == point);
}

/* @return   0 or -ENOMEM */
static int find_seen(struct fsq_mount_points *points)
{
	bool *seen = calloc(points->count, sizeof(*seen));
	size_t kept = 0;

	points->by_id = reallocarray(NULL, points->count, sizeof(struct point *));
	if (!seen || !points->by_id) {
		free(seen);
		return -ENOMEM;
	}
	array_sort(points->all, points->count, sizeof(*points->all), compare_children);
	for (size_t i = 0; i < points->count; i++)
		points->by_id[i] = &points->all[i];
	array_sort(points->by_id, points->count, sizeof(struct point *), compare_ids);
	for (size_t i = 0; i < points->count; i++)
		seen[i] = is_seen(points, &points->all[i]);
	for (size_t i = 0; i < points->count; i++) {
		if (seen[i])
			points->all[kept++] = points->all[i];
		else
			free(points->all[i].directory);
	}
	points->count = kept;
	free(seen);
	array_sort(points->all, points->count, sizeof(*points->all), compare_directories);
	return 0;
}

int fsq_mount_points_read(struct fsq_mount_points **out, struct fsq_error *err)
{
	struct fsq_mount_points *points = calloc(1, sizeof(*points));
	int rc = points ? fsq_mountinfo_each(add_point, points) : -ENOMEM;

	if (rc == 0 && points->incomplete)
		rc = -ENOMEM;
	if (rc == 0 && points->count)
		rc = find_seen(points);
	if (rc) {
		fsq_mount_points_free(points);
		return fsq_fail(err, fsq_error_kind_of(-rc), -rc, FSQ_MOUNTINFO,
				"cannot read the mount table");
	}
	*out = points;
	return 0;
}

void fsq_mount_points_free(struct fsq_mount_points *points)
{
	for (size_t i = 0; points && i < points->count; i++)
		free(points->all[i].directory);
	if (points) {
		free(points->all);
		free(points->by_id);
	}
	free(points);
}

/* A name from which a slash and a dot lead elsewhere tells nothing by itself. */
static bool is_plain(const char *path)
{
	if (path[0] != '/')
		return false;
	for (const char *slash = path; slash; slash = strchr(slash + 1, '/')) {
		const char *part = slash + 1;
		size_t length = strcspn(part, "/");

		if ((length == 0 && (part != path + 1 || *part)) ||
		    (length == 1 && part[0] == '.') ||
		    (length == 2 && part[0] == '.' && part[1] == '.'))
			return false;
	}
	return true;
}

static const struct point *find_point(const struct fsq_mount_points *points, const char *path)
{
	struct point wanted = { .directory = (char *)(uintptr_t)path };
	const struct point *found;

	if (!is_plain(path))
		return NULL;
	wanted.length = strcmp(path, "/") == 0 ? 0 : strlen(path);
	for (;;) {
		found = bsearch(&wanted, points->all, points->count, sizeof(wanted),
				compare_directories);
		if (found || wanted.length == 0)
			return found;
		wanted.length = length_above(path, wanted.length);
	}
}

dev_t fsq_mount_points_find(const struct fsq_mount_points *points, const char *path)
{
	const struct point *found = find_point(points, path);

	return found ? found->dev : 0;
}

uint64_t fsq_mount_points_find_id(const struct fsq_mount_points *points, const char *path)
{
	const struct point *found = find_point(points, path);

	return found ? found->id : 0;
}
