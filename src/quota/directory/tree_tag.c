/* SPDX-License-Identifier: Apache-2.0 */
#include "tree_tag.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "quota/base/error.h"
#include "quota/kernel/openat2.h"
#include "quota/mounts/handle.h"
#include "quota/mounts/lookup.h"

/* How many entries between two checks for cancellation. */
#define CHECK_INTERVAL 256

/* How many walks a rollback makes, while directories are moved. */
#define WALKS 8
/* A rollback walks while both files are locked, so leave it descriptors. */
#define SPARE 2

/* Events. */
enum { CANNOT_OPEN = 1, CANNOT_SET, FOREIGN_ID, OTHER_ID, CANCELLED };

struct fsq_tree_tag {
	const struct fsq_tree_tag_request *request;
	/* Set: change nothing more, and only note which files had the new ID before. */
	atomic_bool failed;
	/* Of the first walk: */
	bool first_done;
	bool first_was_cut; /* it has not seen everything, for want of memory */
	bool none_opened;   /* the directory itself could not be opened */
	atomic_uint visited;
	/* In this walk: */
	atomic_uint_fast64_t changed, special;
	atomic_bool lost, unsettled;
	uint64_t entries,
		first_entries; /* how many entries the last walk and the first one visited */
	atomic_bool unrestored, half_read; /* of the rollback */
	struct timespec began;
	pthread_mutex_t lock; /* of the exceptions */
	/*
	 * What a rollback must know of a file: its ID, if that was not request->from; and that a file with several
	 * links was changed, since at its next name it looks as if it had the new ID before.
	 */
	struct fsq_inode_map exceptions;
	/* Directories that the first walk could not open or read, so nothing in them was changed. */
	struct fsq_inode_map closed;
	_Atomic ino_t entered; /* the directory that was entered last, and at which entry */
	atomic_uint entered_at;
	int rc;
	struct fsq_error *err;
};

static int remember_exception(struct fsq_tree_tag *tag, const struct stat *st,
			      const struct fsq_inode_project *was)
{
	const struct fsq_inode_note note = { st->st_ino, was->id, was->inherit };
	int rc;

	pthread_mutex_lock(&tag->lock);
	rc = fsq_inode_map_add(&tag->exceptions, &note);
	pthread_mutex_unlock(&tag->lock);
	return rc < 0 ? rc : 0;
}

/* A rollback must not touch files that had the new ID before the first walk. */
static int remember_former(struct fsq_tree_tag *tag, const struct fsq_walk_entry *entry,
			   const struct fsq_inode_project *was)
{
	struct stat st;
	int rc;

	if (tag->request->is_new || tag->first_done)
		return 0;
	rc = fsq_walk_stat(entry, &st);
	return rc ? rc : remember_exception(tag, &st, was);
}

/* Note the ID of a file before it is changed. */
static int note_entry(struct fsq_tree_tag *tag, const struct fsq_walk_entry *entry,
		      const struct fsq_inode_project *was, bool is_directory)
{
	const struct fsq_tree_tag_request *request = tag->request;
	bool usual = was->id == request->from.id &&
		     was->inherit == (is_directory && request->from.inherit);
	struct stat st;
	int rc;

	/* The new ID was unused, so a hard link that already has it was tagged by this walk. */
	if (usual && (is_directory || request->is_new))
		return 0;
	rc = fsq_walk_stat(entry, &st);
	if (rc || (usual && st.st_nlink == 1))
		return rc;
	return remember_exception(tag, &st, was);
}

/* @return   the project of its own that a directory has; or NULL */
static const struct fsq_inode_note *other_of(const struct fsq_tree_tag_request *request,
					     const struct fsq_walk_entry *entry)
{
	return request->others.count > 0 && entry->kind == FSQ_WALK_DIRECTORY
		       ? fsq_inode_map_find(&request->others, entry->st->st_ino)
		       : NULL;
}

/* @now      what the directory carries */
static bool is_spared(const struct fsq_tree_tag_request *request,
		      const struct fsq_inode_note *other, const struct fsq_inode_project *now)
{
	return !request->others_carry || (now->id == other->id && now->inherit);
}

/* A directory of another project that is registered by another path: of a bind mount, or over a symlink. */
static bool is_elsewhere(const struct fsq_tree_tag_request *request,
			 const struct fsq_walk_entry *entry, uint32_t id)
{
	size_t count;
	const struct fsq_entry *const *lines = fsq_entries_of_id(&request->elsewhere, id, &count);

	for (size_t i = 0; entry->kind == FSQ_WALK_DIRECTORY && i < count; i++)
		if (fsq_lookup_leads_to(lines[i]->word, entry->st->st_dev, entry->st->st_ino))
			return true;
	return false;
}

static bool is_id_elsewhere(const struct fsq_tree_tag_request *request, uint32_t id)
{
	size_t count;

	fsq_entries_of_id(&request->elsewhere, id, &count);
	return count > 0;
}

/* A dry run finds the old ID at each name of a file, but counts the file once. */
static int count_dry_change(struct fsq_tree_tag *tag, const struct fsq_walk_entry *entry,
			    bool is_directory)
{
	struct fsq_inode_note note = { 0 };
	struct stat st;
	int rc = is_directory ? 0 : fsq_walk_stat(entry, &st);

	if (rc)
		return rc;
	if (!is_directory && st.st_nlink > 1) {
		note.ino = st.st_ino;
		pthread_mutex_lock(&tag->lock);
		rc = fsq_inode_map_add(&tag->exceptions, &note);
		pthread_mutex_unlock(&tag->lock);
		if (rc <= 0)
			return rc;
	}
	atomic_fetch_add(&tag->changed, 1);
	return 0;
}

enum verdict {
	SKIP, /* leave it */
	HAS,  /* it has the new ID */
	SET,
	CONFLICT,
};

/*
 * Decide what happens to a file or directory.
 *
 * @now      its ID
 * @to       the new one
 * @listed   its ID is that of a line which may lead here
 */
static enum verdict judge_entry(enum fsq_tag_rule rule, const struct fsq_inode_project *now,
				uint32_t from, const struct fsq_inode_project *to, bool listed)
{
	if (now->id == to->id && (now->inherit == to->inherit || rule == FSQ_TAG_LEAVE))
		return HAS;
	if (now->id == from || now->id == to->id || rule == FSQ_TAG_RECLAIM)
		return SET;
	if (rule == FSQ_TAG_LEAVE)
		return listed ? SET : SKIP;
	return now->id == 0 ? SET : CONFLICT;
}

/* Results of change(). */
enum { ANOTHER_ID = 1, ANOTHER_PROJECT, ANOTHER_LOST };

/*
 * @return   0, -ENOTTY if it cannot have an ID, or another negative errno; ANOTHER_ID; ANOTHER_PROJECT, to
 * which the directory belongs; or ANOTHER_LOST: it does not carry the ID of that
 */
static int change_entry(struct fsq_tree_tag *tag, const struct fsq_walk_entry *entry,
			struct fsq_inode_project *now)
{
	const struct fsq_tree_tag_request *request = tag->request;
	struct fsq_inode_project to = request->to;
	const uint32_t from = request->from.id;
	const struct fsq_inode_note *other = other_of(request, entry);
	enum verdict verdict;
	bool is_directory;
	int rc = fsq_walk_project_get(entry, now);

	if (rc)
		return rc;
	if (other)
		return is_spared(request, other, now) ? ANOTHER_PROJECT : ANOTHER_LOST;
	is_directory = fsq_walk_is_directory(entry, now);
	to.inherit &= is_directory;
	verdict = judge_entry(request->rule, now, from, &to, is_id_elsewhere(request, now->id));
	if (verdict != SKIP && now->id != from && now->id != to.id &&
	    is_elsewhere(request, entry, now->id))
		return ANOTHER_PROJECT;
	if (verdict == CONFLICT)
		return ANOTHER_ID;
	if (verdict == HAS || (atomic_load(&tag->failed) && now->id == to.id))
		return remember_former(tag, entry, now);
	if (verdict == SKIP || atomic_load(&tag->failed))
		return 0;
	if (request->dry_run)
		return count_dry_change(tag, entry, is_directory);
	rc = note_entry(tag, entry, now, is_directory);
	if (rc == 0)
		rc = fsq_walk_project_set(entry, now, to.id, to.inherit);
	atomic_fetch_add(&tag->changed, 1);
	return rc;
}

/* What the first walk could not change, so that a rollback must leave it. */
enum closed {
	NOT_CLOSED,
	UNOPENED,  /* a file, or a directory with all that is in it */
	UNREAD,	   /* a directory that was opened, but not read */
	HALF_READ, /* a directory of which a part was read */
	UNCHANGED, /* itself; its contents may be changed */
};

static void close_to_rollback(struct fsq_tree_tag *tag, ino_t ino, enum closed how)
{
	const struct fsq_inode_note note = { .ino = ino, .id = how };

	pthread_mutex_lock(&tag->lock);
	fsq_inode_map_add(&tag->closed, &note);
	pthread_mutex_unlock(&tag->lock);
}

static void note_unseen(struct fsq_tree_tag *tag, const struct fsq_walk_entry *entry,
			unsigned int visited)
{
	bool entered_last;
	struct stat st;

	if (tag->first_done)
		return;
	if (visited == 0)
		tag->none_opened = true;
	/* It was moved or removed; if moved, the walk may find it elsewhere. */
	if (entry->errnum == ENOENT || entry->errnum == ESTALE)
		return;
	if (entry->ino)
		close_to_rollback(tag, entry->ino, UNOPENED);
	if (!entry->name || entry->name[0] || fsq_walk_stat(entry, &st))
		return;
	/* The directory was open. It is unread only if it was entered last. */
	entered_last = atomic_load(&tag->entered) == st.st_ino &&
		       atomic_load(&tag->entered_at) + 1 == visited;
	close_to_rollback(tag, st.st_ino, entered_last ? UNREAD : HALF_READ);
}

static enum fsq_visit tag_entry(struct fsq_tree_tag *tag, const struct fsq_walk_entry *entry,
				struct fsq_walk_event *event)
{
	struct fsq_inode_project now;
	struct stat st;
	int rc;

	rc = change_entry(tag, entry, &now);
	if (rc == ANOTHER_PROJECT)
		return FSQ_VISIT_PRUNE;
	if (rc == -ENOENT)
		atomic_store(&tag->unsettled, true);
	if (rc == -ENOTTY)
		atomic_fetch_add(&tag->special, 1);
	/* Ignore what cannot have an ID, and what is gone. */
	if (rc == 0 || rc == -ENOTTY || (rc == -ENOENT && entry->fd < 0))
		return FSQ_VISIT_CONTINUE;
	if (rc < 0 && !tag->first_done && fsq_walk_stat(entry, &st) == 0)
		close_to_rollback(tag, st.st_ino, UNCHANGED);
	event->what = rc == ANOTHER_LOST ? OTHER_ID : rc > 0 ? FOREIGN_ID : CANNOT_SET;
	event->id = rc == ANOTHER_LOST ? other_of(tag->request, entry)->id : now.id;
	event->errnum = rc > 0 ? 0 : -rc;
	return FSQ_VISIT_CONTINUE;
}

static void enter(struct fsq_tree_tag *tag, const struct fsq_walk_entry *entry,
		  unsigned int visited)
{
	if (entry->kind != FSQ_WALK_DIRECTORY)
		return;
	atomic_store(&tag->entered, entry->st->st_ino);
	atomic_store(&tag->entered_at, visited);
}

static enum closed found_closed(const struct fsq_tree_tag *tag, const struct fsq_walk_entry *entry)
{
	const struct fsq_inode_note *note = NULL;
	ino_t ino = entry->ino;
	struct stat st;

	if (tag->closed.count > 0 && !ino && fsq_walk_stat(entry, &st) == 0)
		ino = st.st_ino;
	if (ino)
		note = fsq_inode_map_find(&tag->closed, ino);
	return note ? (enum closed)note->id : NOT_CLOSED;
}

static enum fsq_visit visit_entry(const struct fsq_walk_entry *entry, struct fsq_walk_event *event,
				  void *arg)
{
	struct fsq_tree_tag *tag = arg;
	enum fsq_visit next = FSQ_VISIT_CONTINUE;
	unsigned int visited;
	bool cancelled;

	if (entry->kind == FSQ_WALK_LEAVE) {
		if (tag->request->rule == FSQ_TAG_LEAVE && !atomic_load(&tag->unsettled) &&
		    fsq_walk_changed_since(entry, &tag->began))
			atomic_store(&tag->unsettled, true);
		return FSQ_VISIT_CONTINUE;
	}
	visited = atomic_fetch_add(&tag->visited, 1);
	enter(tag, entry, visited);
	cancelled = visited % CHECK_INTERVAL == CHECK_INTERVAL - 1 && !atomic_load(&tag->failed) &&
		    fsq_is_cancelled(tag->request->options);
	if (cancelled)
		atomic_store(&tag->failed, true);
	if (entry->kind == FSQ_WALK_NO_STAT || entry->kind == FSQ_WALK_NO_OPEN) {
		note_unseen(tag, entry, visited);
		if (entry->errnum == ESTALE)
			atomic_store(&tag->lost, true);
		else if (entry->errnum != ENOENT)
			event->what = CANNOT_OPEN;
		else
			/* It may have been moved into a directory that the walk had left. */
			atomic_store(&tag->unsettled, true);
		event->errnum = entry->errnum;
	} else if (entry->has_project && entry->depth > 0) {
		next = tag_entry(tag, entry, event);
	} else if (entry->kind == FSQ_WALK_SPECIAL) {
		atomic_fetch_add(&tag->special, 1);
	}
	if (cancelled) {
		event->what = CANCELLED;
		event->id = visited;
	}
	if (event->what)
		atomic_store(&tag->failed, true);
	return next;
}

/* The caller gets the event that comes first. */
static enum fsq_visit keep_first_event(const struct fsq_walk_event *event, void *arg)
{
	struct fsq_tree_tag *tag = arg;
	enum fsq_error_kind kind = fsq_error_kind_of(event->errnum);
	struct fsq_error *err = tag->err;

	if (tag->rc)
		return FSQ_VISIT_CONTINUE;
	switch (event->what) {
	case CANNOT_OPEN:
		tag->rc = fsq_fail(err, kind, event->errnum, event->path, "cannot open");
		break;
	case CANNOT_SET:
		tag->rc = fsq_fail(err, kind, event->errnum, event->path,
				   "cannot set the project ID");
		break;
	case FOREIGN_ID:
		tag->rc = fsq_fail(err, FSQ_E_CONFLICT, 0, event->path,
				   "belongs to project %u already", event->id);
		break;
	case OTHER_ID:
		tag->rc = fsq_fail(err, FSQ_E_CONFLICT, 0, event->path,
				   "is registered with project %u, which it does not carry: assign "
				   "it first",
				   event->id);
		break;
	case CANCELLED:
		tag->rc = fsq_fail(err, FSQ_E_FAILED, EINTR, event->path,
				   "stopped after %u files and directories, and undone", event->id);
		break;
	}
	return FSQ_VISIT_CONTINUE;
}

/* Finish even if cancelled: files that are not visited cannot be rolled back. */
static int walk_tree(struct fsq_tree_tag *tag, fsq_walk_visitor visitor, bool show_progress,
		     struct fsq_error *err)
{
	const struct fsq_tree_tag_request *request = tag->request;
	struct fsq_call_options options = { .size = sizeof(options) };
	struct fsq_walk walk = {
		.root = request->path,
		.root_fd = request->fd,
		.max_depth = FSQ_DEPTH_INFINITE,
		.access = FSQ_ACCESS_PROJECT,
		.options = &options,
		.mounts_known = tag->first_done,
		.visit = visitor,
		.emit = keep_first_event,
		.arg = tag,
	};
	int rc;

	if (request->options)
		options = *request->options;
	options.is_cancelled = NULL;
	if (!show_progress)
		options.progress = NULL;
	rc = fsq_tree_walk(&walk, err);
	tag->entries = walk.entries;
	return rc;
}

struct fsq_tree_tag *fsq_tree_tag_new(const struct fsq_tree_tag_request *request)
{
	struct fsq_tree_tag *tag = calloc(1, sizeof(*tag));

	if (!tag)
		return NULL;
	pthread_mutex_init(&tag->lock, NULL);
	tag->request = request;
	return tag;
}

int fsq_tree_tag_walk(struct fsq_tree_tag *tag, struct fsq_tree_found *found, struct fsq_error *err)
{
	int fd = tag->request->fd, spare[SPARE], rc = 0;

	/* A rollback needs these descriptors; without them, change nothing. */
	for (int i = 0; i < SPARE; i++) {
		spare[i] = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		if (spare[i] < 0)
			rc = errno;
	}
	if (rc) {
		rc = fsq_fail(err, FSQ_E_FAILED, rc, tag->request->path, "cannot walk the tree");
		goto out;
	}
	tag->err = err;
	fsq_walk_time(&tag->began, atomic_load(&tag->unsettled));
	atomic_store(&tag->changed, 0);
	atomic_store(&tag->special, 0);
	atomic_store(&tag->lost, false);
	atomic_store(&tag->unsettled, false);
	rc = walk_tree(tag, visit_entry, true, err);
	tag->first_was_cut |= rc && !tag->first_done;
	if (!tag->first_done)
		tag->first_entries = tag->entries;
	tag->first_done = true;
	found->changed = atomic_load(&tag->changed);
	found->special = atomic_load(&tag->special);
	found->lost = atomic_load(&tag->lost);
	found->unsettled = atomic_load(&tag->unsettled);
	rc = rc ? rc : tag->rc;
out:
	for (int i = 0; i < SPARE; i++)
		if (spare[i] >= 0)
			close(spare[i]);
	return rc;
}

/* @return   0 or a negative errno */
static int restore_inode(const struct fsq_tree_tag *tag, const struct fsq_walk_entry *entry,
			 enum closed closed)
{
	const struct fsq_tree_tag_request *request = tag->request;
	const struct fsq_inode_note *exception = NULL;
	struct fsq_inode_project now;
	struct stat st;
	int rc;

	if (tag->exceptions.count > 0 && fsq_walk_stat(entry, &st) == 0)
		exception = fsq_inode_map_find(&tag->exceptions, st.st_ino);
	/*
	 * Leave what the first walk did not change, unless the new ID was unused before, or the file was changed
	 * at another of its names.
	 */
	if ((closed == UNOPENED || closed == UNCHANGED) && !request->is_new && !exception)
		return 0;
	rc = fsq_walk_project_get(entry, &now);
	if (rc || now.id != request->to.id)
		return rc;
	if (exception)
		return fsq_walk_project_set(entry, &now, exception->id, exception->inherit);
	return fsq_walk_project_set(entry, &now, request->from.id,
				    request->from.inherit && fsq_walk_is_directory(entry, &now));
}

static enum fsq_visit restore_entry(const struct fsq_walk_entry *entry,
				    struct fsq_walk_event *event, void *arg)
{
	struct fsq_tree_tag *tag = arg;
	enum closed closed = found_closed(tag, entry);
	const struct fsq_inode_note *other = other_of(tag->request, entry);
	struct fsq_inode_project now;
	int rc = 0;

	(void)event;
	if (entry->has_project && entry->depth > 0) {
		if (other && fsq_walk_project_get(entry, &now) == 0 &&
		    is_spared(tag->request, other, &now))
			return FSQ_VISIT_PRUNE;
		rc = restore_inode(tag, entry, closed);
	} else if (entry->kind == FSQ_WALK_NO_STAT || entry->kind == FSQ_WALK_NO_OPEN) {
		rc = -entry->errnum;
	}
	if (rc == -ESTALE)
		atomic_store(&tag->lost, true);
	/* Files that the first walk could not reach are unchanged. */
	else if (rc && rc != -ENOTTY && rc != -ENOENT && closed == NOT_CLOSED)
		atomic_store(&tag->unrestored, true);
	else if (rc && closed == HALF_READ)
		atomic_store(&tag->half_read, true);
	return !tag->request->is_new && (closed == UNOPENED || closed == UNREAD)
		       ? FSQ_VISIT_PRUNE
		       : FSQ_VISIT_CONTINUE;
}

int fsq_tree_tag_rollback(struct fsq_tree_tag *tag)
{
	if (!tag || !tag->first_done || tag->none_opened || tag->request->dry_run)
		return 0;
	/* The directory had the ID before, so files that the first walk has not seen may have had it, too. */
	return tag->first_was_cut && tag->request->goes_on ? 0 : fsq_tree_tag_restore(tag);
}

int fsq_tree_tag_restore(struct fsq_tree_tag *tag)
{
	int rc = 0;

	atomic_store(&tag->unrestored, false);
	atomic_store(&tag->lost, true);
	for (int i = 0; i < WALKS && rc == 0 && atomic_load(&tag->lost); i++) {
		atomic_store(&tag->lost, false);
		rc = walk_tree(tag, restore_entry, false, NULL);
	}
	if (rc == 0 && (atomic_load(&tag->unrestored) || atomic_load(&tag->lost) ||
			(atomic_load(&tag->half_read) && tag->entries < tag->first_entries)))
		rc = FSQ_E_FAILED;
	return rc;
}

void fsq_tree_tag_free(struct fsq_tree_tag *tag)
{
	if (!tag)
		return;
	pthread_mutex_destroy(&tag->lock);
	fsq_inode_map_free(&tag->exceptions);
	fsq_inode_map_free(&tag->closed);
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
