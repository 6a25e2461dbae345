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
#include <time.h>
#include <unistd.h>

#include "inode_map.h"
#include "interrupt.h"

/* Every so many entries we look whether somebody wants us to stop. */
#define PATIENCE 256

/* What there is to tell. */
enum { CANNOT_OPEN = 1, CANNOT_SET, STRANGER, STOPPED };

struct fsq_tree_tag {
	const struct fsq_tree_order *order;
	/* Something went wrong: from here on entries are only looked at, to know which have had the
	 * new ID before. */
	atomic_bool failed;
	bool again; /* not the first walk */
	atomic_uint visited;
	atomic_bool changed, lost, unsettled; /* in this walk */
	struct timespec began;
	pthread_mutex_t lock; /* of the exceptions */
	/* What had not what most had, and all with several names that was changed: at its next name
	 * it must not be taken for what had the new ID before. */
	struct fsq_inode_map exceptions;
	int rc;
	struct fsq_error *err;
};

static int stat_entry(const struct fsq_walk_entry *entry, struct stat *st)
{
	return fstatat(entry->dirfd, entry->name, st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) ? -errno
											   : 0;
}

static int remember(struct fsq_tree_tag *tag, const struct stat *st,
		    const struct fsq_inode_project *was)
{
	const struct fsq_inode_note note = { st->st_ino, was->id, was->inherit };
	int rc;

	pthread_mutex_lock(&tag->lock);
	rc = fsq_inode_map_add(&tag->exceptions, &note);
	pthread_mutex_unlock(&tag->lock);
	return rc < 0 ? rc : 0;
}

/* What has the new ID before the first walk must not get the old one when it is undone. */
static int keep(struct fsq_tree_tag *tag, const struct fsq_walk_entry *entry,
		const struct fsq_inode_project *was)
{
	struct stat st;
	int rc;

	if (was->id != tag->order->to.id || tag->order->is_new || tag->again)
		return 0;
	rc = stat_entry(entry, &st);
	return rc ? rc : remember(tag, &st, was);
}

/* Before it is changed. */
static int note(struct fsq_tree_tag *tag, const struct fsq_walk_entry *entry,
		const struct fsq_inode_project *was, bool is_directory)
{
	const struct fsq_tree_order *order = tag->order;
	bool usual =
		was->id == order->from.id && was->inherit == (is_directory && order->from.inherit);
	struct stat st;
	int rc;

	/* If nothing had the new ID before, what has it at its next name has it from us. */
	if (usual && (is_directory || order->is_new))
		return 0;
	rc = stat_entry(entry, &st);
	if (rc || (usual && st.st_nlink == 1))
		return rc;
	return remember(tag, &st, was);
}

static int compare_paths(const void *key, const void *member)
{
	return strcmp(key, *(char *const *)member);
}

/* A directory of a project of its own. */
static bool is_other(const struct fsq_tree_order *order, const struct fsq_walk_entry *entry)
{
	return order->other_count > 0 && entry->kind == FSQ_WALK_DIRECTORY &&
	       bsearch(entry->path, order->others, order->other_count, sizeof(*order->others),
		       compare_paths);
}

static int compare_ids(const void *one, const void *other)
{
	const uint32_t *a = one, *b = other;

	return *a < *b ? -1 : *a > *b;
}

static bool is_stray(const struct fsq_tree_order *order, uint32_t id)
{
	return order->stray_count > 0 &&
	       bsearch(&id, order->strays, order->stray_count, sizeof(id), compare_ids);
}

/* @return   0, -ENOTTY where there is no ID to be set, or another negative errno; 1 a stranger */
static int change(struct fsq_tree_tag *tag, const struct fsq_walk_entry *entry,
		  struct fsq_inode_project *now)
{
	const struct fsq_tree_order *order = tag->order;
	bool is_directory, inherit;
	int rc = fsq_walk_project_get(entry, now);

	if (rc)
		return rc;
	is_directory = fsq_walk_is_directory(entry, now);
	inherit = is_directory && order->to.inherit;
	if (now->id != order->from.id && now->id != order->to.id) {
		if (order->rule == FSQ_TREE_LEAVE && !is_stray(order, now->id))
			return 0;
		if (order->rule == FSQ_TREE_CLAIM && now->id != 0)
			return 1;
	}
	if (now->id == order->to.id &&
	    (now->inherit == inherit || order->rule == FSQ_TREE_LEAVE || atomic_load(&tag->failed)))
		return keep(tag, entry, now);
	if (atomic_load(&tag->failed))
		return 0;
	rc = note(tag, entry, now, is_directory);
	if (rc == 0)
		rc = fsq_walk_project_set(entry, now, order->to.id, inherit);
	atomic_store(&tag->changed, true);
	return rc;
}

static int tag_entry(struct fsq_tree_tag *tag, const struct fsq_walk_entry *entry,
		     struct fsq_walk_finding *finding)
{
	struct fsq_inode_project now;
	int rc;

	if (is_other(tag->order, entry))
		return FSQ_WALK_PRUNE;
	rc = change(tag, entry, &now);
	/* Neither what cannot have an ID nor what is gone needs one. */
	if (rc == 0 || rc == -ENOTTY || (rc == -ENOENT && entry->fd < 0))
		return 0;
	finding->what = rc > 0 ? STRANGER : CANNOT_SET;
	finding->id = now.id;
	finding->errnum = rc > 0 ? 0 : -rc;
	return 0;
}

/* Only who takes IDs away wants to know. */
static int leave(struct fsq_tree_tag *tag, const struct fsq_walk_entry *entry)
{
	if (tag->order->rule == FSQ_TREE_LEAVE && !atomic_load(&tag->unsettled) &&
	    fsq_walk_changed_since(entry, &tag->began))
		atomic_store(&tag->unsettled, true);
	return 0;
}

static int visit(const struct fsq_walk_entry *entry, struct fsq_walk_finding *finding, void *arg)
{
	struct fsq_tree_tag *tag = arg;
	unsigned int visited;
	bool stopped;
	int rc = 0;

	if (entry->kind == FSQ_WALK_LEAVE)
		return leave(tag, entry);
	visited = atomic_fetch_add(&tag->visited, 1);
	stopped = visited % PATIENCE == PATIENCE - 1 && !atomic_load(&tag->failed) &&
		  fsq_interrupt_pending();
	if (stopped)
		atomic_store(&tag->failed, true);
	if (entry->kind == FSQ_WALK_NO_STAT || entry->kind == FSQ_WALK_NO_OPEN) {
		if (entry->errnum == ESTALE)
			atomic_store(&tag->lost, true);
		else if (entry->errnum != ENOENT)
			finding->what = CANNOT_OPEN;
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
static int walk_tree(struct fsq_tree_tag *tag, fsq_walk_visitor visitor,
		     const struct fsq_walk_manner *manner, struct fsq_error *err)
{
	struct fsq_walk walk = {
		.root = tag->order->path,
		.root_fd = tag->order->fd,
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

struct fsq_tree_tag *fsq_tree_tag_new(const struct fsq_tree_order *order)
{
	struct fsq_tree_tag *tag = calloc(1, sizeof(*tag));

	if (!tag)
		return NULL;
	pthread_mutex_init(&tag->lock, NULL);
	tag->order = order;
	return tag;
}

int fsq_tree_tag_walk(struct fsq_tree_tag *tag, struct fsq_tree_found *found, struct fsq_error *err)
{
	int rc;

	tag->err = err;
	atomic_store(&tag->changed, false);
	atomic_store(&tag->lost, false);
	atomic_store(&tag->unsettled, false);
	/* The clock of the times of files. */
	clock_gettime(CLOCK_REALTIME_COARSE, &tag->began);
	rc = walk_tree(tag, visit, tag->order->manner, err);
	tag->again = true;
	found->changed = atomic_load(&tag->changed);
	found->lost = atomic_load(&tag->lost);
	found->unsettled = atomic_load(&tag->unsettled);
	return rc ? rc : tag->rc;
}

static int put_back(const struct fsq_walk_entry *entry, struct fsq_walk_finding *finding, void *arg)
{
	const struct fsq_tree_tag *tag = arg;
	const struct fsq_tree_order *order = tag->order;
	const struct fsq_inode_note *exception = NULL;
	struct fsq_inode_project now;
	struct stat st;

	(void)finding;
	if (!entry->has_project || entry->depth == 0)
		return 0;
	if (is_other(order, entry))
		return FSQ_WALK_PRUNE;
	if (fsq_walk_project_get(entry, &now) || now.id != order->to.id)
		return 0;
	if (tag->exceptions.count > 0 && stat_entry(entry, &st) == 0)
		exception = fsq_inode_map_find(&tag->exceptions, st.st_ino);
	if (exception)
		fsq_walk_project_set(entry, &now, exception->id, exception->inherit);
	else
		fsq_walk_project_set(entry, &now, order->from.id,
				     order->from.inherit && fsq_walk_is_directory(entry, &now));
	return 0;
}

void fsq_tree_tag_undo(struct fsq_tree_tag *tag)
{
	struct fsq_walk_manner manner = { 0 };

	if (!tag || !tag->again)
		return;
	manner.threads = tag->order->manner ? tag->order->manner->threads : 0;
	walk_tree(tag, put_back, &manner, NULL);
}

void fsq_tree_tag_free(struct fsq_tree_tag *tag)
{
	if (!tag)
		return;
	pthread_mutex_destroy(&tag->lock);
	fsq_inode_map_free(&tag->exceptions);
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
