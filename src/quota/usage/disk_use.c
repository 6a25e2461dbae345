/* SPDX-License-Identifier: Apache-2.0 */
#include "disk_use.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "project_tree.h"
#include "quota/base/error.h"
#include "quota/base/inode_map.h"
#include "quota/walk/tree_walk.h"

struct use {
	atomic_uint_fast64_t bytes, inodes;
	pthread_mutex_t lock;	   /* seen so far */
	struct fsq_inode_map seen; /* inodes with several links */
	atomic_bool no_memory;
	int rc;
	struct fsq_error *err;
};

static void add_inode(struct use *use, const struct stat *st)
{
	int rc = 1;

	if (!S_ISDIR(st->st_mode) && st->st_nlink > 1) {
		pthread_mutex_lock(&use->lock);
		rc = fsq_inode_map_add(&use->seen, &(struct fsq_inode_note){ .ino = st->st_ino });
		pthread_mutex_unlock(&use->lock);
	}
	if (rc > 0) {
		atomic_fetch_add(&use->bytes, (uint64_t)st->st_blocks * 512);
		atomic_fetch_add(&use->inodes, 1);
	} else if (rc < 0) {
		atomic_store(&use->no_memory, true);
	}
}

/* Skip files that were deleted meanwhile. */
static void report_errno(struct fsq_walk_event *event, int errnum)
{
	event->what = errnum != ENOENT;
	event->errnum = errnum;
}

static void visit_unreadable(struct use *use, const struct fsq_walk_entry *entry,
			     struct fsq_walk_event *event)
{
	struct stat st;

	/* A file that cannot be opened is counted all the same; of a directory the contents are missing. */
	if (entry->dirfd >= 0 &&
	    fstatat(entry->dirfd, entry->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    !S_ISDIR(st.st_mode)) {
		add_inode(use, &st);
		return;
	}
	report_errno(event, entry->errnum);
}

static enum fsq_visit count_entry(const struct fsq_walk_entry *entry, struct fsq_walk_event *event,
				  void *arg)
{
	struct use *use = arg;
	struct stat st;

	switch (entry->kind) {
	case FSQ_WALK_DIRECTORY:
		add_inode(use, entry->st);
		break;
	case FSQ_WALK_FILE:
	case FSQ_WALK_SPECIAL:
		/* Another file may be mounted over it. */
		if (fstatat(entry->dirfd, entry->name, &st, AT_SYMLINK_NOFOLLOW))
			report_errno(event, errno);
		else if (st.st_dev == entry->dev)
			add_inode(use, &st);
		break;
	case FSQ_WALK_NO_STAT:
	case FSQ_WALK_NO_OPEN:
		visit_unreadable(use, entry, event);
		break;
	case FSQ_WALK_LEAVE:
		break;
	}
	return atomic_load(&use->no_memory) ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

static enum fsq_visit keep_first_error(const struct fsq_walk_event *event, void *arg)
{
	struct use *use = arg;

	use->rc = fsq_fail(use->err, fsq_error_kind_of(event->errnum), event->errnum, event->path,
			   "cannot count what is in it");
	return FSQ_VISIT_STOP;
}

int fsq_disk_use(int fd, const char *path, const struct fsq_call_options *options, uint64_t *bytes,
		 uint64_t *inodes, struct fsq_error *err)
{
	struct use use = { .err = err, .lock = PTHREAD_MUTEX_INITIALIZER };
	struct fsq_walk walk = {
		.root = path,
		.root_fd = fd,
		.max_depth = FSQ_DEPTH_INFINITE,
		.access = FSQ_ACCESS_CLOSED,
		.options = options,
		.visit = count_entry,
		.emit = keep_first_error,
		.arg = &use,
	};
	struct stat st;
	int rc = 0;

	if (fstat(fd, &st))
		return fsq_fail(err, FSQ_E_FAILED, errno, path, "cannot stat");
	if (S_ISDIR(st.st_mode))
		rc = fsq_tree_walk(&walk, err);
	else
		add_inode(&use, &st);
	fsq_inode_map_free(&use.seen);
	if (rc == 0)
		rc = use.rc;
	if (rc == 0 && atomic_load(&use.no_memory))
		rc = fsq_fail_errno(err, ENOMEM, path, "cannot count what is in it");
	*bytes = use.bytes;
	*inodes = use.inodes;
	return rc;
}
