/* SPDX-License-Identifier: Apache-2.0 */
#include "tree_account.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>

#include "limits.h"
#include "quota/base/error.h"
#include "quota/base/inode_map.h"
#include "quota/kernel/space.h"
#include "quota/walk/tree_walk.h"

/* A file that was changed a moment ago counts at the next try. */
#define TRIES 4
#define MOMENT (20 * 1000 * 1000L)
/* Every inode takes memory here: of a larger project the caller must say whose it is. */
#define INODES_MAX (4 * 1000 * 1000)

struct account {
	uint32_t id;
	int fd;			 /* of the directory */
	struct timespec counted; /* when the kernel was asked */
	pthread_mutex_t lock;
	struct fsq_inode_map inodes;
	atomic_bool no_memory;
};

static bool is_before(const struct timespec *one, const struct timespec *other)
{
	return one->tv_sec < other->tv_sec ||
	       (one->tv_sec == other->tv_sec && one->tv_nsec < other->tv_nsec);
}

/* The ID, and then what proves that it has been so since the kernel was asked. */
static bool has_project(const struct account *account, const struct fsq_walk_entry *entry,
			struct stat *st)
{
	struct fsq_inode_project project = { 0 };
	ino_t ino = 0;

	if (entry->has_project) {
		if (fsq_walk_project_get(entry, &project))
			return false;
	} else {
		/* Before Linux 6.17 only bulkstat knows the ID of a special file. */
		if (fsq_walk_stat(entry, st))
			return false;
		ino = st->st_ino;
		if (fsq_bulkstat_project(account->fd, ino, &project.id))
			return false;
	}
	return project.id == account->id && fsq_walk_stat(entry, st) == 0 &&
	       (ino == 0 || ino == st->st_ino) && is_before(&st->st_ctim, &account->counted);
}

static enum fsq_visit visit(const struct fsq_walk_entry *entry, struct fsq_walk_event *event,
			    void *arg)
{
	struct account *account = arg;
	struct stat st;

	(void)event;
	if (entry->kind == FSQ_WALK_LEAVE || entry->dirfd < 0 || !has_project(account, entry, &st))
		return FSQ_VISIT_CONTINUE;
	pthread_mutex_lock(&account->lock);
	if (fsq_inode_map_add(&account->inodes, &(struct fsq_inode_note){ .ino = st.st_ino }) < 0)
		atomic_store(&account->no_memory, true);
	pthread_mutex_unlock(&account->lock);
	return FSQ_VISIT_CONTINUE;
}

static int count(struct account *account, struct fsq_place *directory,
		 const struct fsq_call_options *options, struct fsq_error *err)
{
	struct fsq_walk walk = {
		.root = directory->path,
		.root_fd = directory->target.fd,
		.max_depth = FSQ_DEPTH_INFINITE,
		.access = FSQ_ACCESS_PROJECT,
		.options = options,
		.mounts_known = true,
		.visit = visit,
		.arg = account,
	};

	return fsq_tree_walk(&walk, err);
}

static int try(struct fsq_place *directory, uint32_t id, const struct fsq_call_options *options,
	       bool *all, uint64_t *elsewhere, struct fsq_error *err)
{
	struct account account = { .id = id,
				   .fd = directory->target.fd,
				   .lock = PTHREAD_MUTEX_INITIALIZER };
	struct fsq_dquot dquot;
	uint64_t used;
	int rc;

	fsq_walk_time(&account.counted, false);
	rc = fsq_limits_read(&directory->target, id, true, &dquot, directory->path, err);
	if (rc)
		return rc;
	used = dquot.form[FSQ_INODES].used;
	*elsewhere = used;
	if (used == 0 || used > INODES_MAX)
		return 0;
	rc = count(&account, directory, options, err);
	if (rc == 0 && atomic_load(&account.no_memory))
		rc = fsq_fail(err, FSQ_E_FAILED, ENOMEM, directory->path, "cannot walk the tree");
	*elsewhere = used > account.inodes.count ? used - account.inodes.count : 0;
	*all = *elsewhere == 0;
	fsq_inode_map_free(&account.inodes);
	return rc;
}

int fsq_tree_account(struct fsq_place *directory, uint32_t id,
		     const struct fsq_call_options *options, bool *all, uint64_t *elsewhere,
		     struct fsq_error *err)
{
	const struct timespec moment = { .tv_nsec = MOMENT };
	int rc = 0;

	*all = false;
	for (int i = 0; i < TRIES && rc == 0 && !*all; i++) {
		if (i > 0)
			nanosleep(&moment, NULL);
		rc = try(directory, id, options, all, elsewhere, err);
	}
	return rc;
}
