/* SPDX-License-Identifier: Apache-2.0 */
#include "disk_use.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "inode_map.h"
#include "tree_walk.h"

struct use {
	atomic_uint_fast64_t bytes, inodes;
	pthread_mutex_t lock;	   /* of what has been seen */
	struct fsq_inode_map seen; /* inodes with several names */
	struct fsq_error *err;
};

static int add(struct use *use, const struct stat *st)
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
	}
	return rc < 0 ? rc : 0;
}

static int visit(const struct fsq_walk_entry *entry, struct fsq_walk_finding *finding, void *arg)
{
	struct use *use = arg;
	struct stat st;

	switch (entry->kind) {
	case FSQ_WALK_DIRECTORY:
		return add(use, entry->st);
	case FSQ_WALK_FILE:
	case FSQ_WALK_SPECIAL:
		if (fstatat(entry->dirfd, entry->name, &st, AT_SYMLINK_NOFOLLOW))
			return 0;
		/* A file of another filesystem may be mounted over it. */
		return st.st_dev == entry->dev ? add(use, &st) : 0;
	case FSQ_WALK_NO_STAT:
	case FSQ_WALK_NO_OPEN:
		if (entry->errnum == ENOENT)
			return 0;
		/* A file that may not be read has blocks all the same; a directory hides some. */
		if (entry->dirfd >= 0 &&
		    fstatat(entry->dirfd, entry->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    !S_ISDIR(st.st_mode))
			return add(use, &st);
		finding->what = 1;
		finding->errnum = entry->errnum;
		return 0;
	case FSQ_WALK_LEAVE:
		break;
	}
	return 0;
}

static int tell(const struct fsq_walk_finding *finding, void *arg)
{
	const struct use *use = arg;

	return fsq_fail(use->err, fsq_code_of_errno(finding->errnum), finding->errnum,
			finding->path, "cannot count what is in it");
}

int fsq_disk_use(int fd, const char *path, const struct fsq_walk_manner *manner, uint64_t *bytes,
		 uint64_t *inodes, struct fsq_error *err)
{
	struct use use = { .err = err, .lock = PTHREAD_MUTEX_INITIALIZER };
	struct fsq_walk walk = {
		.root = path,
		.root_fd = fd,
		.max_depth = FSQ_WALK_INFINITE,
		.reach = FSQ_WALK_CLOSED,
		.manner = manner,
		.visit = visit,
		.tell = tell,
		.arg = &use,
	};
	struct stat st;
	int rc;

	if (fstat(fd, &st))
		return fsq_fail(err, FSQ_E_FAILED, errno, path, "cannot stat");
	if (S_ISDIR(st.st_mode))
		rc = fsq_tree_walk(&walk, err);
	else
		rc = add(&use, &st);
	fsq_inode_map_free(&use.seen);
	if (rc == -ENOMEM)
		rc = fsq_fail(err, FSQ_E_FAILED, ENOMEM, path, "cannot count what is in it");
	*bytes = use.bytes;
	*inodes = use.inodes;
	return rc;
}
