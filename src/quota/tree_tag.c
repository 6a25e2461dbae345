/* SPDX-License-Identifier: Apache-2.0 */
#include "tree_tag.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interrupt.h"
#include "tree_walk.h"

/* Every so many entries we look whether somebody wants us to stop. */
#define PATIENCE 256

/* Ends a walk, and is no error. */
#define STOP 2

/* An inode that had not what most had. */
struct exception {
	ino_t ino;
	uint32_t id;
	bool inherit;
};

struct fsq_tree_tag {
	struct fsq_inode_project from, to;
	bool strict;
	uint64_t visited, undone;
	struct exception *exceptions;
	size_t count, room;
	struct fsq_error *err;
};

static int remember(struct fsq_tree_tag *tag, int fd, const struct fsq_inode_project *was)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (tag->count == tag->room) {
		size_t room = tag->room ? 2 * tag->room : 64;
		struct exception *more = reallocarray(tag->exceptions, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		tag->exceptions = more;
		tag->room = room;
	}
	tag->exceptions[tag->count++] = (struct exception){ st.st_ino, was->id, was->inherit };
	return 0;
}

/* What has the new ID already must not get the old one when it is undone; of a file with several
 * names we may be the cause ourselves. */
static int remember_unchanged(struct fsq_tree_tag *tag, int fd, const struct fsq_inode_project *was)
{
	struct stat st;

	if (was->id != tag->to.id ||
	    (fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode) && st.st_nlink > 1))
		return 0;
	return remember(tag, fd, was);
}

static int cannot(struct fsq_tree_tag *tag, int errnum, const char *path)
{
	return fsq_fail(tag->err, fsq_code_of_errno(errnum), errnum, path,
			"cannot set the project ID");
}

static int tag_open(struct fsq_tree_tag *tag, const struct fsq_walk_entry *entry)
{
	bool is_directory = entry->kind == FSQ_WALK_DIRECTORY;
	bool inherit = is_directory && tag->to.inherit;
	struct fsq_inode_project now;
	int rc = fsq_inode_project_get(entry->fd, &now);

	if (rc == -ENOTTY)
		return 0; /* a special file, put there after it was listed */
	if (rc)
		return cannot(tag, -rc, entry->path);
	if (!tag->strict && now.id != tag->from.id) {
		if (now.id != tag->to.id && now.id != 0)
			return FSQ_WALK_PRUNE;
		rc = remember_unchanged(tag, entry->fd, &now);
		return rc ? cannot(tag, -rc, entry->path) : 0;
	}
	if (now.id == tag->to.id && now.inherit == inherit) {
		rc = remember_unchanged(tag, entry->fd, &now);
		return rc ? cannot(tag, -rc, entry->path) : 0;
	}
	if (now.id != tag->from.id && now.id != tag->to.id && now.id != 0)
		return fsq_fail(tag->err, FSQ_E_CONFLICT, 0, entry->path,
				"belongs to project %u already", now.id);
	if (now.id != tag->from.id || now.inherit != (is_directory && tag->from.inherit))
		rc = remember(tag, entry->fd, &now);
	if (rc == 0)
		rc = fsq_inode_project_set(entry->fd, &now, tag->to.id, inherit);
	return rc ? cannot(tag, -rc, entry->path) : 0;
}

static int visit(const struct fsq_walk_entry *entry, void *arg)
{
	struct fsq_tree_tag *tag = arg;

	if (tag->visited++ % PATIENCE == PATIENCE - 1 && fsq_interrupt_pending())
		return fsq_fail(tag->err, FSQ_E_FAILED, EINTR, entry->path, "stopped");
	switch (entry->kind) {
	case FSQ_WALK_FILE:
	case FSQ_WALK_DIRECTORY:
		return entry->depth > 0 ? tag_open(tag, entry) : 0;
	case FSQ_WALK_NO_STAT:
	case FSQ_WALK_NO_OPEN:
		/* What is gone needs no ID. */
		if (entry->errnum == ENOENT)
			return 0;
		if (entry->errnum == ESTALE)
			return fsq_fail(tag->err, FSQ_E_FAILED, ESTALE, entry->path,
					"was moved while it was worked on");
		return fsq_fail(tag->err, fsq_code_of_errno(entry->errnum), entry->errnum,
				entry->path, "cannot open");
	case FSQ_WALK_SPECIAL:
	case FSQ_WALK_LEAVE:
		break;
	}
	return 0;
}

int fsq_tree_tag(struct fsq_tree_tag **out, int fd, const char *path,
		 const struct fsq_inode_project *from, const struct fsq_inode_project *to,
		 bool strict, struct fsq_error *err)
{
	struct fsq_tree_tag *tag = calloc(1, sizeof(*tag));

	*out = tag;
	if (!tag)
		return fsq_fail(err, FSQ_E_FAILED, ENOMEM, path, "cannot walk the tree");
	tag->from = *from;
	tag->to = *to;
	tag->strict = strict;
	tag->err = err;
	return fsq_tree_walk_at(fd, path, false, visit, tag, err);
}

static int compare_inodes(const void *one, const void *other)
{
	const struct exception *a = one, *b = other;

	return a->ino < b->ino ? -1 : a->ino > b->ino;
}

static int put_back(const struct fsq_walk_entry *entry, void *arg)
{
	struct fsq_tree_tag *tag = arg;
	const struct exception *exception = NULL;
	struct exception key = { 0 };
	struct fsq_inode_project now;
	struct stat st;

	/* Only as far as we came: behind it there may be some who have had the new ID before. */
	if (tag->undone++ >= tag->visited)
		return STOP;
	if (entry->fd < 0 || entry->depth == 0 || fsq_inode_project_get(entry->fd, &now))
		return 0;
	if (now.id != tag->to.id)
		return tag->strict || now.id == 0 ? 0 : FSQ_WALK_PRUNE;
	if (tag->count > 0 && fstat(entry->fd, &st) == 0) {
		key.ino = st.st_ino;
		exception = bsearch(&key, tag->exceptions, tag->count, sizeof(key), compare_inodes);
	}
	if (exception)
		fsq_inode_project_set(entry->fd, &now, exception->id, exception->inherit);
	else
		fsq_inode_project_set(entry->fd, &now, tag->from.id,
				      entry->kind == FSQ_WALK_DIRECTORY && tag->from.inherit);
	return 0;
}

void fsq_tree_tag_undo(struct fsq_tree_tag *tag, int fd, const char *path)
{
	if (!tag)
		return;
	if (tag->count > 0)
		qsort(tag->exceptions, tag->count, sizeof(*tag->exceptions), compare_inodes);
	fsq_tree_walk_at(fd, path, false, put_back, tag, NULL);
}

void fsq_tree_tag_free(struct fsq_tree_tag *tag)
{
	if (!tag)
		return;
	free(tag->exceptions);
	free(tag);
}

bool fsq_tree_is_empty(int fd)
{
	char buffer[4096];
	ssize_t got = getdents64(fd, (void *)buffer, sizeof(buffer));

	if (got < 0)
		return false;
	for (ssize_t position = 0; position < got;) {
		const struct dirent64 *entry = (const void *)(buffer + position);

		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			return false;
		position += entry->d_reclen;
	}
	return true;
}
