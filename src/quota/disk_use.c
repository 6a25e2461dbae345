/* SPDX-License-Identifier: Apache-2.0 */
#include "disk_use.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tree_walk.h"

/* Inodes with several names that have been seen: a hash table of powers of two, 0 is free. */
struct seen {
	ino_t *slots;
	size_t room, count;
};

struct use {
	atomic_uint_fast64_t bytes, inodes;
	pthread_mutex_t lock; /* of what has been seen */
	struct seen seen;
	struct fsq_error *err;
};

static size_t slot_of(const struct seen *seen, ino_t ino)
{
	size_t at = (size_t)(ino * 0x9e3779b97f4a7c15ULL) & (seen->room - 1);

	while (seen->slots[at] && seen->slots[at] != ino)
		at = (at + 1) & (seen->room - 1);
	return at;
}

static int grow(struct seen *seen)
{
	struct seen larger = { .room = seen->room ? 2 * seen->room : 256, .count = seen->count };

	larger.slots = calloc(larger.room, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < seen->room; i++)
		if (seen->slots[i])
			larger.slots[slot_of(&larger, seen->slots[i])] = seen->slots[i];
	free(seen->slots);
	*seen = larger;
	return 0;
}

/* @return   1 the first time, 0 again, or a negative errno */
static int see(struct seen *seen, ino_t ino)
{
	size_t at;

	if (2 * seen->count >= seen->room && grow(seen))
		return -ENOMEM;
	at = slot_of(seen, ino);
	if (seen->slots[at])
		return 0;
	seen->slots[at] = ino;
	seen->count++;
	return 1;
}

static int add(struct use *use, const struct stat *st)
{
	int rc = 1;

	if (!S_ISDIR(st->st_mode) && st->st_nlink > 1) {
		pthread_mutex_lock(&use->lock);
		rc = see(&use->seen, st->st_ino);
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
	free(use.seen.slots);
	if (rc == -ENOMEM)
		rc = fsq_fail(err, FSQ_E_FAILED, ENOMEM, path, "cannot count what is in it");
	*bytes = use.bytes;
	*inodes = use.inodes;
	return rc;
}
