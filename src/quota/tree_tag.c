/* SPDX-License-Identifier: Apache-2.0 */
#include "tree_tag.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interrupt.h"

/* Every so many entries we look whether somebody wants us to stop. */
#define PATIENCE 256

/* What there is to tell. */
enum { CANNOT_OPEN = 1, CANNOT_SET, MOVED, STRANGER, STOPPED };

/* An inode that had not what most had. */
struct exception {
	ino_t ino;
	uint32_t id;
	bool inherit;
};

struct fsq_tree_tag {
	struct fsq_inode_project from, to;
	bool strict;
	unsigned int threads;
	/* Something went wrong: from here on entries are only looked at, to know which have had the
	 * new ID before. */
	atomic_bool failed;
	atomic_uint visited;
	pthread_mutex_t lock; /* of the exceptions */
	struct exception *exceptions;
	size_t count, room;
	int rc;
	struct fsq_error *err;
};

static int stat_entry(const struct fsq_walk_entry *entry, struct stat *st)
{
	return fstatat(entry->dirfd, entry->name, st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) ? -errno
											   : 0;
}

static int remember(struct fsq_tree_tag *tag, const struct fsq_walk_entry *entry,
		    const struct fsq_inode_project *was)
{
	struct stat st;
	int rc = stat_entry(entry, &st);

	if (rc)
		return rc;
	pthread_mutex_lock(&tag->lock);
	if (tag->count == tag->room) {
		size_t room = tag->room ? 2 * tag->room : 64;
		struct exception *more = reallocarray(tag->exceptions, room, sizeof(*more));

		if (more) {
			tag->exceptions = more;
			tag->room = room;
		} else {
			rc = -ENOMEM;
		}
	}
	if (rc == 0)
		tag->exceptions[tag->count++] =
			(struct exception){ st.st_ino, was->id, was->inherit };
	pthread_mutex_unlock(&tag->lock);
	return rc;
}

/* What has the new ID already must not get the old one when it is undone; of a file with several
 * names we may be the cause ourselves. */
static int remember_unchanged(struct fsq_tree_tag *tag, const struct fsq_walk_entry *entry,
			      const struct fsq_inode_project *was)
{
	struct stat st;

	if (was->id != tag->to.id ||
	    (stat_entry(entry, &st) == 0 && !S_ISDIR(st.st_mode) && st.st_nlink > 1))
		return 0;
	return remember(tag, entry, was);
}

/* @return   0, -ENOTTY where there is no ID to be set, or another negative errno; 1 a stranger */
static int change(struct fsq_tree_tag *tag, const struct fsq_walk_entry *entry,
		  struct fsq_inode_project *now)
{
	bool is_directory, inherit;
	int rc = fsq_walk_project_get(entry, now);

	if (rc)
		return rc;
	is_directory = fsq_walk_is_directory(entry, now);
	inherit = is_directory && tag->to.inherit;
	if (now->id != tag->from.id && now->id != tag->to.id) {
		if (now->id != 0)
			return 1;
		if (!tag->strict)
			return 0;
	}
	if (now->id == tag->to.id &&
	    (now->inherit == inherit || !tag->strict || atomic_load(&tag->failed)))
		return remember_unchanged(tag, entry, now);
	if (atomic_load(&tag->failed))
		return 0;
	if (now->id != tag->from.id || now->inherit != (is_directory && tag->from.inherit))
		rc = remember(tag, entry, now);
	return rc ? rc : fsq_walk_project_set(entry, now, tag->to.id, inherit);
}

static int tag_entry(struct fsq_tree_tag *tag, const struct fsq_walk_entry *entry,
		     struct fsq_walk_finding *finding)
{
	struct fsq_inode_project now;
	int rc = change(tag, entry, &now);

	/* Neither what cannot have an ID nor what is gone needs one. */
	if (rc == 0 || rc == -ENOTTY || (rc == -ENOENT && entry->fd < 0))
		return 0;
	if (rc > 0 && !tag->strict)
		return FSQ_WALK_PRUNE;
	finding->what = rc > 0 ? STRANGER : CANNOT_SET;
	finding->id = now.id;
	finding->errnum = rc > 0 ? 0 : -rc;
	return 0;
}

static int visit(const struct fsq_walk_entry *entry, struct fsq_walk_finding *finding, void *arg)
{
	struct fsq_tree_tag *tag = arg;
	unsigned int visited;
	bool stopped;
	int rc = 0;

	if (entry->kind == FSQ_WALK_LEAVE)
		return 0;
	visited = atomic_fetch_add(&tag->visited, 1);
	stopped = visited % PATIENCE == PATIENCE - 1 && !atomic_load(&tag->failed) &&
		  fsq_interrupt_pending();
	if (stopped)
		atomic_store(&tag->failed, true);
	if (entry->kind == FSQ_WALK_NO_STAT || entry->kind == FSQ_WALK_NO_OPEN) {
		if (entry->errnum != ENOENT)
			finding->what = entry->errnum == ESTALE ? MOVED : CANNOT_OPEN;
		finding->errnum = entry->errnum;
	} else if (entry->has_project && entry->depth > 0) {
		rc = tag_entry(tag, entry, finding);
	}
	if (stopped) {
		finding->what = STOPPED;
		finding->id = visited;
	}
	if (finding->what)
		atomic_store(&tag->failed, true);
	return rc;
}

/* The first is what the caller hears of. */
static int tell(const struct fsq_walk_finding *finding, void *arg)
{
	struct fsq_tree_tag *tag = arg;
	struct fsq_error *err = tag->err;
	const char *path = finding->path;
	int errnum = finding->errnum;

	if (tag->rc)
		return 0;
	switch (finding->what) {
	case CANNOT_OPEN:
		tag->rc = fsq_fail(err, fsq_code_of_errno(errnum), errnum, path, "cannot open");
		break;
	case CANNOT_SET:
		tag->rc = fsq_fail(err, fsq_code_of_errno(errnum), errnum, path,
				   "cannot set the project ID");
		break;
	case MOVED:
		tag->rc = fsq_fail(err, FSQ_E_FAILED, errnum, path,
				   "was moved while it was worked on");
		break;
	case STRANGER:
		tag->rc = fsq_fail(err, FSQ_E_CONFLICT, 0, path, "belongs to project %u already",
				   finding->id);
		break;
	case STOPPED:
		tag->rc =
			fsq_fail(err, FSQ_E_FAILED, EINTR, path,
				 "stopped after %u files and directories, and undone", finding->id);
		break;
	}
	return 0;
}

/* To its end, whatever signals wait: what is not looked at cannot be undone. */
static int walk_tree(struct fsq_tree_tag *tag, int fd, const char *path, fsq_walk_visitor visitor,
		     const struct fsq_walk_manner *manner, struct fsq_error *err)
{
	struct fsq_walk walk = {
		.root = path,
		.root_fd = fd,
		.max_depth = FSQ_WALK_INFINITE,
		.reach = FSQ_WALK_PROJECTS,
		.uninterrupted = true,
		.manner = manner,
		.visit = visitor,
		.tell = tell,
		.arg = tag,
	};

	return fsq_tree_walk(&walk, err);
}

int fsq_tree_tag(struct fsq_tree_tag **out, int fd, const char *path,
		 const struct fsq_inode_project *from, const struct fsq_inode_project *to,
		 bool strict, const struct fsq_walk_manner *manner, struct fsq_error *err)
{
	struct fsq_tree_tag *tag = calloc(1, sizeof(*tag));
	int rc;

	*out = tag;
	if (!tag)
		return fsq_fail(err, FSQ_E_FAILED, ENOMEM, path, "cannot walk the tree");
	pthread_mutex_init(&tag->lock, NULL);
	tag->from = *from;
	tag->to = *to;
	tag->strict = strict;
	tag->threads = manner ? manner->threads : 0;
	tag->err = err;
	rc = walk_tree(tag, fd, path, visit, manner, err);
	return rc ? rc : tag->rc;
}

static int compare_inodes(const void *one, const void *other)
{
	const struct exception *a = one, *b = other;

	return a->ino < b->ino ? -1 : a->ino > b->ino;
}

static int put_back(const struct fsq_walk_entry *entry, struct fsq_walk_finding *finding, void *arg)
{
	const struct fsq_tree_tag *tag = arg;
	const struct exception *exception = NULL;
	struct exception key = { 0 };
	struct fsq_inode_project now;
	struct stat st;

	(void)finding;
	if (!entry->has_project || entry->depth == 0 || fsq_walk_project_get(entry, &now))
		return 0;
	if (now.id != tag->to.id)
		return tag->strict || now.id == 0 ? 0 : FSQ_WALK_PRUNE;
	if (tag->count > 0 && stat_entry(entry, &st) == 0) {
		key.ino = st.st_ino;
		exception = bsearch(&key, tag->exceptions, tag->count, sizeof(key), compare_inodes);
	}
	if (exception)
		fsq_walk_project_set(entry, &now, exception->id, exception->inherit);
	else
		fsq_walk_project_set(entry, &now, tag->from.id,
				     tag->from.inherit && fsq_walk_is_directory(entry, &now));
	return 0;
}

void fsq_tree_tag_undo(struct fsq_tree_tag *tag, int fd, const char *path)
{
	struct fsq_walk_manner manner = { 0 };

	if (!tag)
		return;
	manner.threads = tag->threads;
	if (tag->count > 0)
		qsort(tag->exceptions, tag->count, sizeof(*tag->exceptions), compare_inodes);
	walk_tree(tag, fd, path, put_back, &manner, NULL);
}

void fsq_tree_tag_free(struct fsq_tree_tag *tag)
{
	if (!tag)
		return;
	pthread_mutex_destroy(&tag->lock);
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
