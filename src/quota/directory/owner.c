/* SPDX-License-Identifier: Apache-2.0 */
#include "owner.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "quota/base/error.h"
#include "quota/mounts/lookup.h"
#include "quota/base/inode_map.h"
#include "quota/kernel/space.h"
#include "quota/limits/limits.h"
#include "quota/walk/tree_walk.h"

/* How often the directory may change its ID while we look. */
#define ATTEMPTS 4

struct proof {
	uint32_t id; /* whose inodes were counted, or 0 */
	bool all;    /* all inodes with the ID are in the tree */
	uint64_t elsewhere;
};

/* --- is everything that has the ID in the directory? --- */

/* How often files that are being changed are counted again. */
#define TRIES 4
#define MOMENT (20 * 1000 * 1000L)
/* Each inode takes memory here, so the caller must name the ID of a larger project. */
#define INODES_MAX (4 * 1000 * 1000)

struct account {
	uint32_t id;
	int fd;			 /* of the directory */
	struct timespec counted; /* when the kernel was asked */
	pthread_mutex_t lock;
	struct fsq_inode_map inodes;
	atomic_bool no_memory;
};

/*
 * Read the ID first, and then the change time, which proves that the ID has not changed since the kernel was
 * asked.
 */
static bool has_project(const struct account *account, const struct fsq_walk_entry *entry,
			struct stat *st)
{
	struct fsq_inode_project project = { 0 };
	ino_t ino = 0;

	if (entry->has_project) {
		if (fsq_walk_project_get(entry, &project))
			return false;
	} else {
		/* Before Linux 6.17 only bulkstat reports the ID of a special file. */
		if (fsq_walk_stat(entry, st))
			return false;
		ino = st->st_ino;
		if (fsq_bulkstat_project(account->fd, ino, &project.id))
			return false;
	}
	return project.id == account->id && fsq_walk_stat(entry, st) == 0 &&
	       (ino == 0 || ino == st->st_ino) &&
	       (st->st_ctim.tv_sec < account->counted.tv_sec ||
		(st->st_ctim.tv_sec == account->counted.tv_sec &&
		 st->st_ctim.tv_nsec < account->counted.tv_nsec));
}

static enum fsq_visit count_owned(const struct fsq_walk_entry *entry, struct fsq_walk_event *event,
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

/*
 * Compare the kernel's count of an ID with the inodes of a tree that carry it. If the tree has all of them,
 * the ID belongs to the tree.
 *
 * The owner of the tree can change its files and their IDs meanwhile, and must not make other people's files
 * look like his own. So an inode counts only if it has not changed since the kernel was asked; nobody can set
 * back its change time.
 */
static int try(struct fsq_handle *directory, const struct fsq_call_options *options,
	       struct proof *proof, struct fsq_error *err)
{
	struct account account = { .id = proof->id,
				   .fd = directory->target.fd,
				   .lock = PTHREAD_MUTEX_INITIALIZER };
	struct fsq_walk walk = {
		.root = directory->path,
		.root_fd = directory->target.fd,
		.max_depth = FSQ_DEPTH_INFINITE,
		.access = FSQ_ACCESS_PROJECT,
		.options = options,
		.mounts_known = true,
		.visit = count_owned,
		.arg = &account,
	};
	struct fsq_dquot dquot;
	uint64_t used;
	int rc;

	fsq_walk_time(&account.counted, false);
	rc = fsq_limits_read(&directory->target, proof->id, true, &dquot, directory->path, err);
	if (rc)
		return rc;
	used = dquot.form[FSQ_INODES].used;
	proof->elsewhere = used;
	if (used == 0 || used > INODES_MAX)
		return 0;
	rc = fsq_tree_walk(&walk, err);
	if (rc == 0 && atomic_load(&account.no_memory))
		rc = fsq_fail_errno(err, ENOMEM, directory->path, "cannot walk the tree");
	proof->elsewhere = used > account.inodes.count ? used - account.inodes.count : 0;
	proof->all = proof->elsewhere == 0;
	fsq_inode_map_free(&account.inodes);
	return rc;
}

/* While files are written, a count may miss some. @return  as fsq_owner_lock() */
static int prove(struct fsq_handle *directory, const struct fsq_call_options *options,
		 struct proof *proof, struct fsq_error *err)
{
	const struct timespec moment = { .tv_nsec = MOMENT };
	int rc = 0;

	for (int i = 0; i < TRIES && rc == 0 && !proof->all; i++) {
		if (i > 0)
			nanosleep(&moment, NULL);
		rc = try(directory, options, proof, err);
	}
	return rc;
}

/* --- whose ID is it? --- */

static bool is_inherited(const struct fsq_handle *directory)
{
	struct fsq_inode_project above;

	/* If it cannot be read, the ID counts as not inherited. */
	(void)fsq_handle_read_above(directory, &above);
	return above.id == directory->project.id;
}

static bool is_claimed(const struct fsq_project_edit *edit, const struct fsq_claim *claim,
		       uint32_t id)
{
	uint32_t named;

	if (claim->id)
		return claim->id == id;
	return claim->name && fsq_project_edit_id_of_name(edit, claim->name, &named) && named == id;
}

static int refuse_unproven(const struct fsq_handle *directory, struct fsq_project_edit *edit,
			   const struct proof *proof, struct fsq_error *err)
{
	uint32_t id = directory->project.id;
	size_t length = 0;
	const char *other = fsq_project_edit_directory_of(edit, id, &length);

	if (other)
		fsq_fail(err, FSQ_E_CONFLICT, 0, directory->path,
			 "carries project ID %u, which belongs to %.*s", id,
			 (int)(length < 150 ? length : 150), other);
	else if (proof->elsewhere)
		fsq_fail(err, FSQ_E_CONFLICT, 0, directory->path,
			 "carries project ID %u, which is also on %" PRIu64 " file%s elsewhere", id,
			 proof->elsewhere, proof->elsewhere == 1 ? "" : "s");
	else
		fsq_fail(err, FSQ_E_CONFLICT, 0, directory->path,
			 "carries project ID %u, which nothing shows to be its own", id);
	return fsq_add_hint(err, FSQ_HINT_INSIST_ON_ID, FSQ_E_CONFLICT);
}

/*
 * The directory may be registered under another path: of a bind mount, or over a symlink. Use that path from here on.
 * @return   1 there is such a line, 0, or a negative errno
 */
static int find_other_name(struct fsq_handle *directory, const struct fsq_project_edit *edit)
{
	struct stat st;
	size_t at = 0;
	char *path;
	int rc = 0;

	if (fstat(directory->target.fd, &st))
		return -errno;
	while (rc == 0 &&
	       (path = fsq_project_edit_next_directory(edit, directory->project.id, &at))) {
		rc = fsq_lookup_leads_to(path, st.st_dev, st.st_ino);
		if (rc == 1) {
			free(directory->path);
			directory->path = path;
		} else {
			free(path);
		}
	}
	return rc;
}

/* @return   1: the ID must be proven; else as fsq_owner_lock() */
static int decide(struct fsq_handle *directory, struct fsq_project_edit *edit,
		  const struct fsq_claim *claim, const struct proof *proof, struct fsq_owner *owner,
		  struct fsq_error *err)
{
	uint32_t carried = directory->project.id;
	int rc = 0;

	*owner = (struct fsq_owner){ 0 };
	owner->listed = fsq_project_edit_id_of(edit, directory->path, &owner->id);
	if (!owner->listed && carried)
		rc = find_other_name(directory, edit);
	if (rc < 0)
		return fsq_fail(err, FSQ_E_FAILED, -rc, directory->path,
				"cannot be looked for among the registered directories");
	if (rc) {
		owner->listed = owner->by_id = true;
		owner->id = carried;
	}
	if (owner->listed || carried == 0 || is_inherited(directory))
		return 0;
	if (is_claimed(edit, claim, carried)) {
		owner->id = carried;
		return 0;
	}
	/* Clients read IDs above 2^31 as negative numbers, so a directory does not carry one by accident. */
	if (!fsq_project_edit_is_shared(edit, carried, NULL) && carried <= INT32_MAX) {
		if (proof->id != carried)
			return 1;
		if (proof->all) {
			owner->id = carried;
			return 0;
		}
	}
	owner->disputed = (claim->id || claim->name) && !claim->carried;
	return owner->disputed ? 0 : refuse_unproven(directory, edit, proof, err);
}

int fsq_owner_lock(struct fsq_handle *directory, struct fsq_project_edit *edit,
		   const struct fsq_claim *claim, const struct fsq_call_options *options,
		   struct fsq_owner *owner, struct fsq_error *err)
{
	struct proof proof = { 0 };

	for (int i = 0; i < ATTEMPTS; i++) {
		int rc = fsq_project_edit_lock(edit, false, err);

		if (rc == 0)
			rc = fsq_handle_check_path(directory, err);
		if (rc == 0)
			rc = fsq_handle_read_project(directory, err);
		if (rc == 0)
			rc = decide(directory, edit, claim, &proof, owner, err);
		if (rc <= 0)
			return rc;
		fsq_project_edit_unlock(edit);
		proof = (struct proof){ .id = directory->project.id };
		rc = prove(directory, options, &proof, err);
		if (rc)
			return rc;
	}
	return fsq_fail(err, FSQ_E_CONFLICT, 0, directory->path,
			"gets another project ID again and again");
}
