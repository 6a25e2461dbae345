/* SPDX-License-Identifier: Apache-2.0 */
#include "tree_account.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>

#include "all_inodes.h"
#include "inode_map.h"

/* What was changed a moment ago is older at the next try. */
#define TRIES 4
#define MOMENT (20 * 1000 * 1000L)
/* Of a larger project who it belongs to must be told: every inode takes memory here. */
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

static int stat_entry(const struct fsq_walk_entry *entry, struct stat *st)
{
	return fstatat(entry->dirfd, entry->name, st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH);
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
		/* What cannot be asked itself, before Linux 6.17, XFS knows. */
		if (stat_entry(entry, st))
			return false;
		ino = st->st_ino;
		if (fsq_xfs_project_of(account->fd, ino, &project.id))
			return false;
	}
	return project.id == account->id && stat_entry(entry, st) == 0 &&
	       (ino == 0 || ino == st->st_ino) && is_before(&st->st_ctim, &account->counted);
}

static int visit(const struct fsq_walk_entry *entry, struct fsq_walk_finding *finding, void *arg)
{
	struct account *account = arg;
	struct stat st;

	(void)finding;
	if (entry->kind == FSQ_WALK_LEAVE || entry->dirfd < 0 || !has_project(account, entry, &st))
		return 0;
	pthread_mutex_lock(&account->lock);
	if (fsq_inode_map_add(&account->inodes, &(struct fsq_inode_note){ .ino = st.st_ino }) < 0)
		atomic_store(&account->no_memory, true);
	pthread_mutex_unlock(&account->lock);
	return 0;
}

/* Nothing is told: what cannot be read is not accounted for. */
static int tell(const struct fsq_walk_finding *finding, void *arg)
{
	(void)finding;
	(void)arg;
	return 0;
}

static int count(struct account *account, const struct fsq_directory *directory,
		 const struct fsq_walk_manner *manner, struct fsq_error *err)
{
	struct fsq_walk walk = {
		.root = directory->path,
		.root_fd = directory->fd,
		.max_depth = FSQ_WALK_INFINITE,
		.reach = FSQ_WALK_PROJECTS,
		.manner = manner,
		.visit = visit,
		.tell = tell,
		.arg = account,
	};

	return fsq_tree_walk(&walk, err);
}

static int try(const struct fsq_directory *directory, uint32_t id,
	       const struct fsq_walk_manner *manner, bool *all, uint64_t *elsewhere,
	       struct fsq_error *err)
{
	struct account account = { .id = id,
				   .fd = directory->fd,
				   .lock = PTHREAD_MUTEX_INITIALIZER };
	struct fsq_dquot dquot;
	uint64_t used;
	int rc;

	/* The clock of change times. */
	clock_gettime(CLOCK_REALTIME_COARSE, &account.counted);
	rc = fsq_kernel_get(&directory->target, FSQ_PROJECT, id, &dquot);
	*elsewhere = 0;
	if (rc == -ENOENT)
		return 0;
	if (rc)
		return fsq_fail(err, fsq_code_of_errno(-rc), -rc, directory->path,
				"cannot read the quota of project %u", id);
	used = dquot.form[FSQ_INODES].used;
	*elsewhere = used;
	if (used > INODES_MAX)
		return 0;
	rc = count(&account, directory, manner, err);
	if (rc == 0 && atomic_load(&account.no_memory))
		rc = fsq_fail(err, FSQ_E_FAILED, ENOMEM, directory->path, "cannot walk the tree");
	*elsewhere = used > account.inodes.count ? used - account.inodes.count : 0;
	*all = used > 0 && *elsewhere == 0;
	fsq_inode_map_free(&account.inodes);
	return rc;
}

int fsq_tree_account(const struct fsq_directory *directory, uint32_t id,
		     const struct fsq_walk_manner *manner, bool *all, uint64_t *elsewhere,
		     struct fsq_error *err)
{
	const struct timespec moment = { .tv_nsec = MOMENT };
	int rc = 0;

	*all = false;
	for (int i = 0; i < TRIES && rc == 0 && !*all; i++) {
		if (i > 0)
			nanosleep(&moment, NULL);
		rc = try(directory, id, manner, all, elsewhere, err);
	}
	return rc;
}
