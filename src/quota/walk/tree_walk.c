/* SPDX-License-Identifier: Apache-2.0 */
#include "tree_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dir_stack.h"
#include "quota/base/error.h"
#include "quota/base/path.h"
#include "quota/kernel/compat.h"
#include "quota/kernel/fs_type.h"
#include "quota/kernel/openat2.h"
#include "quota/mounts/lookup.h"
#include "shared/statx.h"
#include "thread_pool.h"

/* Inside of the walk: do not enter this directory. */
#define PRUNED 2

#define PATH_FLAGS (O_PATH | O_NOFOLLOW | O_CLOEXEC)

/* How many entries of a thread between two checks for cancellation. */
#define CHECK_INTERVAL 256
/* The least time between two calls of the progress callback. */
#define PROGRESS_INTERVAL_NS (100 * 1000 * 1000LL)

/* Shared by all threads of a walk. */
struct tree {
	struct fsq_walk *request;
	struct fsq_thread_pool pool;
	bool has_at;  /* attributes without opening: file_getattr(2) */
	bool probed;  /* has_at is known */
	bool by_name; /* attributes by name: in the clone nothing can be mounted over one */
	int clone;    /* a private clone of the mount, or -1 */
	bool large;
	struct fsq_clock_sample sample; /* after half of the entries that make a tree large */
	atomic_uint_fast64_t entries;
	int64_t last_progress;
};

/* A thread, and its position in the tree. */
struct walk {
	struct tree *tree;
	int base; /* depth of its first directory */
	unsigned int visited;
	unsigned int counted; /* how many of them are in tree->entries */
	struct fsq_dir_stack stack;
	const char *name; /* of the entry being visited, NULL outside of one */
	ino_t ino;	  /* of that name in the directory, whatever is mounted over it */
};

/* --- calling the visitor --- */

/* Add to tree->entries and, now and then, check for cancellation. @return  0 or -EINTR */
static int count(struct walk *walk)
{
	struct tree *tree = walk->tree;
	const struct fsq_call_options *options = tree->request->options;
	unsigned int more = walk->visited - walk->counted;
	uint64_t entries = atomic_fetch_add(&tree->entries, more) + more;

	walk->counted = walk->visited;
	if (entries / CHECK_INTERVAL == (entries - more) / CHECK_INTERVAL)
		return 0;
	if (fsq_is_cancelled(options))
		return -EINTR;
	if (!options || !options->progress)
		return 0;
	pthread_mutex_lock(&tree->pool.lock);
	if (fsq_clock_monotonic() - tree->last_progress >= PROGRESS_INTERVAL_NS) {
		options->progress(entries, walk->stack.path, options->arg);
		tree->last_progress = fsq_clock_monotonic();
	}
	pthread_mutex_unlock(&tree->pool.lock);
	return 0;
}

/* The depth of an entry of the current directory, or of the root. */
static int depth_of(const struct walk *walk)
{
	return walk->base + (int)walk->stack.count;
}

/* Call the handler. On EINTR it gets what was seen so far. @return  0 or what ends the walk */
static int emit(struct tree *tree, const struct fsq_walk_event *event)
{
	struct fsq_thread_pool *pool = &tree->pool;
	int rc;

	pthread_mutex_lock(&pool->lock);
	if ((pool->rc == 0 || pool->rc == -EINTR) &&
	    tree->request->emit(event, tree->request->arg) == FSQ_VISIT_STOP)
		fsq_thread_pool_stop(pool, FSQ_WALK_STOPPED);
	rc = pool->rc;
	pthread_mutex_unlock(&pool->lock);
	return rc;
}

/* @return   0, PRUNED for a directory, or what ends the walk */
static int report(struct walk *walk, const struct fsq_walk_entry *what)
{
	const struct fsq_walk *request = walk->tree->request;
	struct fsq_walk_entry entry = *what;
	struct fsq_walk_event event = { .path = walk->stack.path };
	enum fsq_visit next;
	int rc = 0;

	entry.path = walk->stack.path;
	entry.depth = depth_of(walk) - (entry.kind == FSQ_WALK_LEAVE);
	if (walk->stack.count > 0)
		entry.dev = fsq_dir_stack_dev(&walk->stack);
	if (entry.fd >= 0) {
		entry.dirfd = entry.fd;
		entry.name = "";
	} else if (!entry.name && walk->name) {
		entry.dirfd = fsq_dir_stack_fd(&walk->stack);
		entry.name = walk->name;
		entry.ino = walk->ino;
	} else if (entry.kind == FSQ_WALK_NO_OPEN && walk->stack.count > 0) {
		/* An open directory that cannot be read, or was lost. */
		entry.dirfd = fsq_dir_stack_fd(&walk->stack);
		entry.name = "";
	}
	entry.has_project = entry.has_project || entry.fd >= 0;
	if (walk->visited - walk->counted >= CHECK_INTERVAL && (rc = count(walk)) != 0)
		return rc;
	if (entry.kind != FSQ_WALK_LEAVE)
		walk->visited++;
	next = request->visit(&entry, &event, request->arg);
	if (event.what != 0)
		rc = emit(walk->tree, &event);
	if (rc == 0 && next == FSQ_VISIT_STOP)
		rc = FSQ_WALK_STOPPED;
	if (rc == 0 && next == FSQ_VISIT_PRUNE && entry.kind == FSQ_WALK_DIRECTORY)
		rc = PRUNED;
	return rc;
}

/* An entry that is not open, or a lost directory. */
static int report_closed(struct walk *walk, enum fsq_walk_kind kind, int errnum)
{
	return report(walk, &(struct fsq_walk_entry){
				    .kind = kind, .fd = -1, .dirfd = -1, .errnum = errnum });
}

static int report_file(struct walk *walk, int fd)
{
	return report(walk, &(struct fsq_walk_entry){ .kind = FSQ_WALK_FILE, .fd = fd });
}

/* An entry that is held by an O_PATH descriptor. */
static int report_held(struct walk *walk, enum fsq_walk_kind kind, int fd, bool has_project)
{
	int rc = report(walk, &(struct fsq_walk_entry){ .kind = kind,
							.fd = -1,
							.dirfd = fd,
							.name = "",
							.has_project = has_project });

	close(fd);
	return rc;
}

/* --- visiting --- */

static bool submit(struct walk *walk, int fd, const struct stat *st);
static void count_small(struct walk *walk);

static bool is_special(mode_t mode)
{
	return !S_ISREG(mode) && !S_ISDIR(mode);
}

/*
 * Can the kernel read and set projects without an open descriptor? Probed at the first file.
 * @return  1, 0, or a negative errno
 */
static int has_at(struct tree *tree, int fd)
{
	int rc;

	if (!tree->probed) {
		rc = tree->request->access <= FSQ_ACCESS_PROJECT_BY_NAME
			     ? fsq_inode_project_has_at(fd)
			     : 0;
		if (rc < 0)
			return rc;
		tree->has_at = rc;
		tree->probed = true;
	}
	return tree->has_at;
}

/*
 * Open an entry that is covered by a mount, if the mount shows the same file: container storage is mounted
 * onto itself like this, and belongs to the tree. Other mounts are not touched.
 * @return   a descriptor, or a negative errno: -EXDEV it is another file
 */
static int open_covered(const struct walk *walk, int flags)
{
	int dirfd = fsq_dir_stack_fd(&walk->stack), fd;
	dev_t dev = fsq_dir_stack_dev(&walk->stack);
	struct statx stx;
	struct stat st;

	/* Neither contacts a server nor triggers an automount. */
	if (get_statx(dirfd, walk->name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC,
		      STATX_INO, &stx) ||
	    stx.stx_ino != walk->ino || makedev(stx.stx_dev_major, stx.stx_dev_minor) != dev)
		return -EXDEV;
	fd = openat(dirfd, walk->name, flags);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && st.st_ino == walk->ino && st.st_dev == dev)
		return fd;
	close(fd);
	return -EXDEV;
}

static int open_entry(struct walk *walk, int flags)
{
	int fd = fsq_dir_stack_open(&walk->stack, walk->name, flags);

	return fd == -EXDEV ? open_covered(walk, flags) : fd;
}

static void skip_mount(struct walk *walk)
{
	const struct fsq_call_options *options = walk->tree->request->options;

	if (!options || !options->mount_skipped || walk->tree->request->mounts_known)
		return;
	pthread_mutex_lock(&walk->tree->pool.lock);
	options->mount_skipped(walk->stack.path, options->arg);
	pthread_mutex_unlock(&walk->tree->pool.lock);
}

/* Report an entry that could not be opened, or not even be held. */
static int visit_unopened(struct walk *walk, int errnum, bool held)
{
	struct stat st;

	if (errnum == EXDEV) {
		skip_mount(walk);
		return 0;
	}
	if (fstatat(fsq_dir_stack_fd(&walk->stack), walk->name, &st, AT_SYMLINK_NOFOLLOW))
		return report_closed(walk, FSQ_WALK_NO_STAT, errno);
	if (is_special(st.st_mode) && !held)
		return report_closed(walk, FSQ_WALK_SPECIAL, 0);
	return report_closed(walk, FSQ_WALK_NO_OPEN, errnum);
}

static int visit_directory(struct walk *walk, int fd)
{
	int max_depth = walk->tree->request->max_depth;
	struct stat st;
	int rc;

	if (fstat(fd, &st)) {
		rc = report_closed(walk, FSQ_WALK_NO_STAT, errno);
		close(fd);
		return rc;
	}
	rc = report(walk,
		    &(struct fsq_walk_entry){ .kind = FSQ_WALK_DIRECTORY, .fd = fd, .st = &st });
	if (rc == 0 && max_depth >= 0 && depth_of(walk) >= max_depth)
		rc = PRUNED;
	if (rc == 0 && walk->tree->large && submit(walk, fd, &st))
		return 0;
	if (rc == 0)
		rc = fsq_dir_stack_push(&walk->stack, fd, st.st_dev, st.st_ino);
	if (rc)
		close(fd);
	return rc == PRUNED ? 0 : rc;
}

/*
 * Visit a file for its project only. By name where nothing can be mounted over it; otherwise it is held, but
 * not opened.
 */
static int visit_project(struct walk *walk, enum fsq_walk_kind kind)
{
	int fd;

	if (walk->tree->by_name)
		return report(walk,
			      &(struct fsq_walk_entry){ .kind = kind,
							.fd = -1,
							.dirfd = fsq_dir_stack_fd(&walk->stack),
							.name = walk->name,
							.has_project = true,
							.by_name = true });
	fd = open_entry(walk, PATH_FLAGS);
	return fd < 0 ? visit_unopened(walk, -fd, true) : report_held(walk, kind, fd, true);
}

static int visit_entry(struct walk *walk, unsigned char type)
{
	enum fsq_access_mode access = walk->tree->request->access;
	int fd, rc;

	rc = fsq_dir_stack_append_name(&walk->stack, walk->name);
	if (rc)
		return rc;
	if (type == DT_UNKNOWN) {
		struct stat st;

		if (fstatat(fsq_dir_stack_fd(&walk->stack), walk->name, &st, AT_SYMLINK_NOFOLLOW))
			return report_closed(walk, FSQ_WALK_NO_STAT, errno);
		type = (unsigned char)IFTODT(st.st_mode);
	}
	rc = type == DT_DIR ? 0 : has_at(walk->tree, fsq_dir_stack_fd(&walk->stack));
	if (rc < 0)
		return report_closed(walk, FSQ_WALK_NO_STAT, -rc);
	if (rc)
		return visit_project(walk, type == DT_REG ? FSQ_WALK_FILE : FSQ_WALK_SPECIAL);
	if (type != DT_DIR && type != DT_REG)
		return report_closed(walk, FSQ_WALK_SPECIAL, 0);
	if (type == DT_REG && access == FSQ_ACCESS_CLOSED)
		return report_closed(walk, FSQ_WALK_FILE, 0);
	fd = open_entry(walk, FSQ_DIR_STACK_OPEN_FLAGS | (type == DT_DIR ? O_DIRECTORY : 0));
	if (fd < 0)
		return visit_unopened(walk, -fd, false);
	if (type == DT_DIR)
		return visit_directory(walk, fd);
	rc = report_file(walk, fd);
	close(fd);
	return rc;
}

/* @fd      O_PATH */
static int visit_special_root(struct walk *walk, int fd)
{
	int rc = has_at(walk->tree, fd);

	if (rc >= 0)
		return report_held(walk, FSQ_WALK_SPECIAL, fd, rc > 0);
	close(fd);
	return report_closed(walk, FSQ_WALK_NO_STAT, -rc);
}

static int visit_root(struct walk *walk)
{
	const struct fsq_mount_points *points = fsq_mounts_of(walk->tree->request->options);
	int fd = walk->tree->request->root_fd, rc;
	struct stat st;

	/* Read an open directory through a descriptor of our own. */
	if (fd >= 0) {
		fd = openat(fd, ".", FSQ_DIR_STACK_OPEN_FLAGS | O_DIRECTORY);
		return fd < 0 ? report_closed(walk, FSQ_WALK_NO_OPEN, errno)
			      : visit_directory(walk, fd);
	}
	fd = fsq_lookup(points, walk->stack.path, PATH_FLAGS, NULL);
	if (fd < 0)
		return report_closed(walk, FSQ_WALK_NO_STAT, -fd);
	rc = fstat(fd, &st) ? -errno : 0;
	if (rc == 0 && is_special(st.st_mode))
		return visit_special_root(walk, fd);
	if (rc == 0 && S_ISDIR(st.st_mode)) {
		int readable = openat(fd, ".", FSQ_DIR_STACK_OPEN_FLAGS | O_DIRECTORY);

		rc = readable < 0 ? -errno : 0;
		close(fd);
		return rc ? report_closed(walk, FSQ_WALK_NO_OPEN, -rc)
			  : visit_directory(walk, readable);
	}
	close(fd);
	if (rc)
		return report_closed(walk, FSQ_WALK_NO_STAT, -rc);
	fd = fsq_lookup(points, walk->stack.path, FSQ_DIR_STACK_OPEN_FLAGS, NULL);
	if (fd < 0)
		return report_closed(walk, FSQ_WALK_NO_OPEN, -fd);
	/* Another process may replace it between the two calls. */
	rc = fstat(fd, &st) || !S_ISREG(st.st_mode) ? report_closed(walk, FSQ_WALK_NO_OPEN, ESTALE)
						    : report_file(walk, fd);
	close(fd);
	return rc;
}

static int leave(struct walk *walk)
{
	int rc = report(walk, &(struct fsq_walk_entry){ .kind = FSQ_WALK_LEAVE,
							.fd = -1,
							.dirfd = fsq_dir_stack_fd(&walk->stack),
							.name = "" });

	if (fsq_dir_stack_pop(&walk->stack))
		return rc;
	fsq_dir_stack_strip_name(&walk->stack);
	return rc ? rc : report_closed(walk, FSQ_WALK_NO_OPEN, ESTALE);
}

/* Walk until the first level is done, or the walk was stopped. */
static int walk_levels(struct walk *walk)
{
	struct tree *tree = walk->tree;
	int rc = 0;

	while (rc == 0 && walk->stack.count > 0 && !fsq_thread_pool_is_stopped(&tree->pool)) {
		struct dirent64 *entry = NULL;
		int more = fsq_dir_stack_next_entry(&walk->stack, &entry);

		if (more > 0) {
			walk->name = entry->d_name;
			walk->ino = entry->d_ino;
			rc = visit_entry(walk, entry->d_type);
			walk->name = NULL;
			if (!tree->large)
				count_small(walk);
			continue;
		}
		fsq_dir_stack_strip_name(&walk->stack);
		if (more < 0)
			rc = more == -ENOMEM ? more : report_closed(walk, FSQ_WALK_NO_OPEN, -more);
		if (rc == 0)
			rc = leave(walk);
	}
	return rc;
}

/* --- a large tree --- */

/* Walk a directory that another thread has found. */
static int walk_job(const struct fsq_thread_job *job, void *arg)
{
	struct walk walk = { .tree = arg,
			     .base = job->depth,
			     .stack = { .path = job->path, .path_size = strlen(job->path) + 1 } };
	int rc;

	rc = fsq_dir_stack_push(&walk.stack, job->fd, job->dev, job->ino);
	if (rc == 0)
		rc = walk_levels(&walk);
	else
		close(job->fd);
	if (rc == 0)
		rc = count(&walk);
	fsq_dir_stack_free(&walk.stack);
	return rc;
}

static bool submit(struct walk *walk, int fd, const struct stat *st)
{
	struct fsq_thread_job job = {
		.fd = fd, .dev = st->st_dev, .ino = st->st_ino, .depth = depth_of(walk)
	};

	job.path = strdup(walk->stack.path);
	if (job.path && fsq_thread_pool_try_submit(&walk->tree->pool, &job))
		return true;
	free(job.path);
	return false;
}

/*
 * From here on use names: open the current directories again in a private clone of the mount, in which
 * nothing is mounted and nobody can mount anything. The tree must have no mounts, because what they hide must
 * not be walked. XFS only, because it ignores inheritance on what turns out to be no directory.
 */
static void reach_by_name(struct walk *walk)
{
	struct tree *tree = walk->tree;
	int root_fd = fsq_dir_stack_root_fd(&walk->stack), fd;
	char *root = fsq_is_xfs(root_fd) ? fsq_fd_path(root_fd) : NULL;
	bool has_mounts = !root || fsq_mount_any_below(root) != 0;

	free(root);
	if (has_mounts)
		return;
	tree->clone = fsq_clone_mount(root_fd);
	if (tree->clone < 0)
		return;
	fd = openat(tree->clone, ".", FSQ_DIR_STACK_OPEN_FLAGS | O_DIRECTORY);
	tree->by_name = fd >= 0 && fsq_dir_stack_reopen(&walk->stack, fd);
}

static void become_large(struct walk *walk)
{
	struct tree *tree = walk->tree;
	const struct fsq_call_options *options = tree->request->options;
	unsigned int threads = tree->request->alone ? 1 : options ? options->threads : 0;

	threads = fsq_thread_count(threads, &tree->sample, FSQ_DIR_STACK_MAX_OPEN);

	/* Set everything before other threads start. */
	tree->large = true;
	if (has_at(tree, fsq_dir_stack_root_fd(&walk->stack)) > 0 &&
	    tree->request->access == FSQ_ACCESS_PROJECT_BY_NAME)
		reach_by_name(walk);
	if (threads > 1)
		fsq_thread_pool_start(&tree->pool, threads - 1, walk_job, tree);
}

/* Called for each entry, as long as the tree is small. */
static void count_small(struct walk *walk)
{
	if (walk->visited >= FSQ_WALK_LARGE) {
		become_large(walk);
	} else if (walk->visited >= FSQ_WALK_LARGE / 2 && walk->tree->sample.wall == 0) {
		walk->tree->sample = fsq_clock_sample();
	}
}

/* --- what visitors can do with an entry --- */

int fsq_walk_stat(const struct fsq_walk_entry *entry, struct stat *st)
{
	return fstatat(entry->dirfd, entry->name, st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) ? -errno
											   : 0;
}

int fsq_walk_project_get(const struct fsq_walk_entry *entry, struct fsq_inode_project *project)
{
	if (entry->fd >= 0)
		return fsq_inode_project_get(entry->fd, project);
	return fsq_inode_project_get_at(entry->dirfd, entry->name, project);
}

int fsq_walk_project_set(const struct fsq_walk_entry *entry, struct fsq_inode_project *project,
			 uint32_t id, bool inherit)
{
	if (entry->fd >= 0)
		return fsq_inode_project_set(entry->fd, project, id, inherit);
	return fsq_inode_project_set_at(entry->dirfd, entry->name, project, id, inherit);
}

bool fsq_walk_is_directory(const struct fsq_walk_entry *entry,
			   const struct fsq_inode_project *project)
{
	struct stat st;

	if (entry->kind == FSQ_WALK_DIRECTORY || !project->inherit)
		return entry->kind == FSQ_WALK_DIRECTORY;
	return fsq_walk_stat(entry, &st) == 0 && S_ISDIR(st.st_mode);
}

void fsq_walk_time(struct timespec *now, bool wait)
{
	struct timespec tick = { 0 };

	if (wait) {
		clock_getres(CLOCK_REALTIME_COARSE, &tick);
		nanosleep(&tick, NULL);
	}
	clock_gettime(CLOCK_REALTIME_COARSE, now);
}

bool fsq_walk_changed_since(const struct fsq_walk_entry *entry, const struct timespec *since)
{
	struct stat st;

	return fstat(entry->dirfd, &st) || st.st_mtim.tv_sec > since->tv_sec ||
	       (st.st_mtim.tv_sec == since->tv_sec && st.st_mtim.tv_nsec >= since->tv_nsec);
}

/* --- the walk --- */

int fsq_tree_walk(struct fsq_walk *request, struct fsq_error *err)
{
	const struct fsq_call_options *options = request->options;
	struct tree tree = { .request = request, .clone = -1 };
	struct walk walk = { .tree = &tree };
	int rc;

	request->entries = 0;
	if (!request->root)
		return fsq_fail(err, FSQ_E_USAGE, 0, NULL, "no path is given");
	fsq_thread_pool_init(&tree.pool);
	rc = fsq_dir_stack_init(&walk.stack, request->root);
	if (rc == 0)
		rc = visit_root(&walk);
	if (rc == 0)
		rc = walk_levels(&walk);
	count(&walk);
	fsq_dir_stack_free(&walk.stack);
	rc = fsq_thread_pool_finish(&tree.pool, rc);
	if (tree.clone >= 0)
		close(tree.clone);
	request->entries = tree.entries;
	if (options && options->progress)
		options->progress(request->entries, NULL, options->arg);
	if (rc == -ENOMEM)
		return fsq_fail_errno(err, ENOMEM, request->root, "cannot walk the tree");
	if (rc == -EINTR)
		return fsq_fail(err, FSQ_E_FAILED, EINTR, request->root,
				"stopped after %" PRIu64 " files and directories",
				request->entries);
	return 0;
}
