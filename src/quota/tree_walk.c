/* SPDX-License-Identifier: Apache-2.0 */
#include "tree_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "interrupt.h"
#include "walk_crew.h"
#include "walk_view.h"
#include "walk_way.h"

#define PATH_FLAGS (O_PATH | O_NOFOLLOW | O_CLOEXEC)

/* Every so many entries a thread looks whether somebody wants us to stop. */
#define PATIENCE 256
/* Progress is told at most every so many nanoseconds. */
#define INTERVAL (100 * 1000 * 1000LL)

/* What all threads of a walk share. */
struct tree {
	struct fsq_walk *request;
	struct fsq_crew crew;
	atomic_bool no_openat2;
	bool has_at;  /* attributes without opening: file_getattr(2) */
	bool probed;  /* it has been asked for */
	bool by_name; /* and by name, since nothing can be mounted over one */
	int view;     /* what keeps it so, or -1 */
	bool large;
	struct fsq_crew_pace pace; /* since half of what makes a tree large was done */
	atomic_uint_fast64_t entries;
	int64_t last_progress;
};

/* The way of one thread through what it has taken. */
struct walk {
	struct tree *tree;
	struct fsq_part *part;
	int base; /* depth of the directory it begins with */
	unsigned int visited;
	unsigned int counted; /* of them, in the sum of all */
	struct fsq_way way;
	const char *name; /* of the entry being visited, NULL outside of one */
};

/* --- telling the visitor --- */

/* Add to the sum and, now and then, look up. @return  0 or -EINTR */
static int count(struct walk *walk)
{
	struct tree *tree = walk->tree;
	const struct fsq_walk_manner *manner = tree->request->manner;
	unsigned int more = walk->visited - walk->counted;
	uint64_t entries = atomic_fetch_add(&tree->entries, more) + more;

	walk->counted = walk->visited;
	if (entries / PATIENCE == (entries - more) / PATIENCE)
		return 0;
	if (!tree->request->uninterrupted && fsq_interrupt_pending())
		return -EINTR;
	if (!manner || !manner->progress)
		return 0;
	pthread_mutex_lock(&tree->crew.lock);
	if (fsq_crew_clock() - tree->last_progress >= INTERVAL) {
		manner->progress(entries, walk->way.path, manner->arg);
		tree->last_progress = fsq_crew_clock();
	}
	pthread_mutex_unlock(&tree->crew.lock);
	return 0;
}

/* Of what is in the current directory, or of the root. */
static int depth_of(const struct walk *walk)
{
	return walk->base + (int)walk->way.count;
}

static int report(struct walk *walk, const struct fsq_walk_entry *what)
{
	const struct fsq_walk *request = walk->tree->request;
	struct fsq_walk_entry entry = *what;
	struct fsq_walk_finding finding = { .path = walk->way.path };
	int rc, told;

	entry.path = walk->way.path;
	entry.depth = depth_of(walk) - (entry.kind == FSQ_WALK_LEAVE);
	if (walk->way.count > 0)
		entry.dev = fsq_way_dev(&walk->way);
	if (entry.fd >= 0) {
		entry.dirfd = entry.fd;
		entry.name = "";
	} else if (!entry.name && walk->name) {
		entry.dirfd = fsq_way_fd(&walk->way);
		entry.name = walk->name;
	}
	entry.has_project = entry.has_project || entry.fd >= 0;
	if (walk->visited - walk->counted >= PATIENCE && (rc = count(walk)) != 0)
		return rc;
	if (entry.kind != FSQ_WALK_LEAVE)
		walk->visited++;
	rc = request->visit(&entry, &finding, request->arg);
	/* Only a directory can be pruned; of anything else there is nothing to enter. */
	if (rc == FSQ_WALK_PRUNE && entry.kind != FSQ_WALK_DIRECTORY)
		rc = 0;
	if (finding.what == 0)
		return rc;
	told = fsq_crew_tell(&walk->tree->crew, walk->part, &finding);
	return told ? told : rc;
}

/* An entry that is not open, or a directory that is lost. */
static int report_closed(struct walk *walk, enum fsq_walk_kind kind, int errnum)
{
	return report(walk, &(struct fsq_walk_entry){
				    .kind = kind, .fd = -1, .dirfd = -1, .errnum = errnum });
}

static int report_file(struct walk *walk, int fd)
{
	return report(walk, &(struct fsq_walk_entry){ .kind = FSQ_WALK_FILE, .fd = fd });
}

/* One that an O_PATH descriptor holds. */
static int report_held(struct walk *walk, enum fsq_walk_kind kind, int fd)
{
	int rc = report(
		walk,
		&(struct fsq_walk_entry){
			.kind = kind, .fd = -1, .dirfd = fd, .name = "", .has_project = true });

	close(fd);
	return rc;
}

static int report_name(struct walk *walk, enum fsq_walk_kind kind)
{
	return report(walk, &(struct fsq_walk_entry){ .kind = kind,
						      .fd = -1,
						      .dirfd = fsq_way_fd(&walk->way),
						      .name = walk->name,
						      .has_project = true,
						      .by_name = true });
}

/* --- visiting --- */

static bool give_away(struct walk *walk, int fd, const struct stat *st);
static void grow(struct walk *walk);

static bool is_special(mode_t mode)
{
	return !S_ISREG(mode) && !S_ISDIR(mode);
}

/* Are there projects of what is not open? Asked once, when the first file comes.
 * @return  1, 0, or a negative errno */
static int has_at(struct tree *tree, int fd)
{
	int rc;

	if (!tree->probed) {
		rc = tree->request->reach <= FSQ_WALK_PROJECTS_BY_NAME
			     ? fsq_inode_project_has_at(fd)
			     : 0;
		if (rc < 0)
			return rc;
		tree->has_at = rc;
		tree->probed = true;
	}
	return tree->has_at;
}

/* An entry that could not be opened, or not even be held: say what it is, or why. */
static int visit_unopened(struct walk *walk, int errnum, bool held)
{
	struct stat st;

	if (errnum == EXDEV)
		return 0;
	if (fstatat(fsq_way_fd(&walk->way), walk->name, &st, AT_SYMLINK_NOFOLLOW))
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
		rc = FSQ_WALK_PRUNE;
	if (rc == 0 && walk->tree->large && give_away(walk, fd, &st))
		return 0;
	if (rc == 0)
		rc = fsq_way_push(&walk->way, fd, st.st_dev, st.st_ino);
	if (rc)
		close(fd);
	return rc == FSQ_WALK_PRUNE ? 0 : rc;
}

/* A file of which only the project is wanted. Its name will do where nobody can mount anything over
 * it; else it is held, but not opened. */
static int visit_project(struct walk *walk, enum fsq_walk_kind kind)
{
	int fd;

	if (walk->tree->by_name)
		return report_name(walk, kind);
	fd = fsq_way_open(&walk->way, walk->name, PATH_FLAGS);
	return fd < 0 ? visit_unopened(walk, -fd, true) : report_held(walk, kind, fd);
}

static int visit_entry(struct walk *walk, unsigned char type)
{
	enum fsq_walk_reach reach = walk->tree->request->reach;
	int fd, rc;

	rc = fsq_way_name(&walk->way, walk->name);
	if (rc)
		return rc;
	if (type == DT_UNKNOWN) {
		struct stat st;

		if (fstatat(fsq_way_fd(&walk->way), walk->name, &st, AT_SYMLINK_NOFOLLOW))
			return report_closed(walk, FSQ_WALK_NO_STAT, errno);
		type = (unsigned char)IFTODT(st.st_mode);
	}
	rc = type == DT_DIR ? 0 : has_at(walk->tree, fsq_way_fd(&walk->way));
	if (rc < 0)
		return report_closed(walk, FSQ_WALK_NO_STAT, -rc);
	if (rc)
		return visit_project(walk, type == DT_REG ? FSQ_WALK_FILE : FSQ_WALK_SPECIAL);
	if (type != DT_DIR && type != DT_REG)
		return report_closed(walk, FSQ_WALK_SPECIAL, 0);
	if (type == DT_REG && reach == FSQ_WALK_CLOSED)
		return report_closed(walk, FSQ_WALK_FILE, 0);
	fd = fsq_way_open(&walk->way, walk->name,
			  FSQ_WAY_OPEN | (type == DT_DIR ? O_DIRECTORY : 0));
	if (fd < 0)
		return visit_unopened(walk, -fd, false);
	if (type == DT_DIR)
		return visit_directory(walk, fd);
	rc = report_file(walk, fd);
	close(fd);
	return rc;
}

static int visit_special_root(struct walk *walk)
{
	int fd = open(walk->way.path, PATH_FLAGS);
	struct stat st = { 0 };
	int rc = 0;

	if (fd < 0)
		return report_closed(walk, FSQ_WALK_NO_OPEN, errno);
	if (fstat(fd, &st) == 0 && is_special(st.st_mode))
		rc = has_at(walk->tree, fd);
	if (rc > 0)
		return report_held(walk, FSQ_WALK_SPECIAL, fd);
	close(fd);
	if (rc < 0)
		return report_closed(walk, FSQ_WALK_NO_STAT, -rc);
	/* Or somebody exchanges it. */
	return is_special(st.st_mode) ? report_closed(walk, FSQ_WALK_SPECIAL, 0)
				      : report_closed(walk, FSQ_WALK_NO_OPEN, ESTALE);
}

static int visit_root(struct walk *walk)
{
	struct stat st;
	int fd, rc;

	if (lstat(walk->way.path, &st))
		return report_closed(walk, FSQ_WALK_NO_STAT, errno);
	if (is_special(st.st_mode))
		return visit_special_root(walk);
	fd = open(walk->way.path, FSQ_WAY_OPEN);
	if (fd < 0 && errno == ELOOP)
		return visit_special_root(walk);
	if (fd < 0)
		return report_closed(walk, FSQ_WALK_NO_OPEN, errno);
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
		return visit_directory(walk, fd);
	rc = is_special(st.st_mode) ? visit_special_root(walk) : report_file(walk, fd);
	close(fd);
	return rc;
}

/* A directory that is open already; the walk reads it by a descriptor of its own. */
static int visit_open_root(struct walk *walk, int root_fd)
{
	int fd = openat(root_fd, ".", FSQ_WAY_OPEN | O_DIRECTORY);

	if (fd < 0)
		return report_closed(walk, FSQ_WALK_NO_OPEN, errno);
	return visit_directory(walk, fd);
}

static int leave(struct walk *walk)
{
	int rc = report(walk, &(struct fsq_walk_entry){ .kind = FSQ_WALK_LEAVE,
							.fd = -1,
							.dirfd = fsq_way_fd(&walk->way),
							.name = "" });

	if (fsq_way_pop(&walk->way))
		return rc;
	fsq_way_here(&walk->way);
	return rc ? rc : report_closed(walk, FSQ_WALK_NO_OPEN, ESTALE);
}

/* Until everything below the first level is done, or somebody has stopped the walk. */
static int walk_levels(struct walk *walk)
{
	struct tree *tree = walk->tree;
	int rc = 0;

	while (rc == 0 && walk->way.count > 0 && !fsq_crew_is_stopped(&tree->crew)) {
		struct dirent64 *entry = NULL;
		int more = fsq_way_next(&walk->way, &entry);

		if (more > 0) {
			walk->name = entry->d_name;
			rc = visit_entry(walk, entry->d_type);
			walk->name = NULL;
			if (!tree->large)
				grow(walk);
			continue;
		}
		fsq_way_here(&walk->way);
		if (more < 0)
			rc = more == -ENOMEM ? more : report_closed(walk, FSQ_WALK_NO_OPEN, -more);
		if (rc == 0)
			rc = leave(walk);
	}
	return rc;
}

/* --- a large tree --- */

/* A directory that another thread has come to. */
static int walk_job(const struct fsq_crew_job *job, void *arg)
{
	struct walk walk = { .tree = arg,
			     .part = job->part,
			     .base = job->depth,
			     .way = { .path = job->path, .path_size = strlen(job->path) + 1 } };
	int rc;

	walk.way.no_openat2 = &walk.tree->no_openat2;
	rc = fsq_way_push(&walk.way, job->fd, job->dev, job->ino);

	if (rc == 0)
		rc = walk_levels(&walk);
	else
		close(job->fd);
	if (rc == 0)
		rc = count(&walk);
	fsq_way_end(&walk.way);
	return rc;
}

static bool give_away(struct walk *walk, int fd, const struct stat *st)
{
	struct fsq_crew_job job = {
		.fd = fd, .dev = st->st_dev, .ino = st->st_ino, .depth = depth_of(walk)
	};

	job.path = strdup(walk->way.path);
	if (job.path && fsq_crew_offer(&walk->tree->crew, walk->part, &job))
		return true;
	free(job.path);
	return false;
}

/* Inheritance that is set on what is no directory: only XFS passes over it. */
static bool is_lenient(int fd)
{
	struct statfs sfs;

	return fstatfs(fd, &sfs) == 0 && sfs.f_type == XFS_SUPER_MAGIC;
}

/* From here on by name: the directories we are in are opened again in the private view. */
static void turn_to_names(struct walk *walk)
{
	int root_fd = fsq_way_root_fd(&walk->way);
	int fd = is_lenient(root_fd) ? fsq_walk_view_open(root_fd, &walk->tree->view) : -1;

	walk->tree->by_name = fd >= 0 && fsq_way_move(&walk->way, fd);
}

static void turn_large(struct walk *walk)
{
	struct tree *tree = walk->tree;
	const struct fsq_walk_manner *manner = tree->request->manner;
	unsigned int threads = tree->request->alone ? 1 : manner ? manner->threads : 0;

	if (threads == 0)
		threads = fsq_crew_measure(&tree->pace);
	threads = fsq_crew_afford(threads, FSQ_WAY_MAX_OPEN);

	/* All of it before there is anybody else. */
	tree->large = true;
	if (has_at(tree, fsq_way_root_fd(&walk->way)) > 0 &&
	    tree->request->reach == FSQ_WALK_PROJECTS_BY_NAME)
		turn_to_names(walk);
	if (threads > 1)
		fsq_crew_hire(&tree->crew, threads - 1, walk_job, tree);
}

/* With each entry, as long as the tree is small. */
static void grow(struct walk *walk)
{
	if (walk->visited >= FSQ_WALK_LARGE) {
		turn_large(walk);
	} else if (walk->visited >= FSQ_WALK_LARGE / 2 && walk->tree->pace.wall == 0) {
		walk->tree->pace = fsq_crew_pace();
	}
}

/* --- the walk --- */

static int walk_all(struct walk *walk)
{
	const struct fsq_walk *request = walk->tree->request;
	int rc = fsq_way_begin(&walk->way, request->root);

	if (rc)
		return rc;
	rc = request->root_fd < 0 ? visit_root(walk) : visit_open_root(walk, request->root_fd);
	return rc ? rc : walk_levels(walk);
}

int fsq_tree_walk(struct fsq_walk *request, struct fsq_error *err)
{
	struct tree tree = { .request = request, .view = -1 };
	struct walk walk = { .tree = &tree, .way.no_openat2 = &tree.no_openat2 };
	int rc = -ENOMEM;

	walk.part = fsq_crew_begin(&tree.crew, request->tell, request->arg);
	if (walk.part) {
		rc = walk_all(&walk);
		count(&walk);
		fsq_way_end(&walk.way);
		rc = fsq_crew_end(&tree.crew, walk.part, rc);
	}
	if (tree.view >= 0)
		close(tree.view);
	request->entries = tree.entries;
	if (request->manner && request->manner->progress)
		request->manner->progress(request->entries, NULL, request->manner->arg);
	if (rc == -ENOMEM)
		return fsq_fail(err, FSQ_E_FAILED, ENOMEM, request->root, "cannot walk the tree");
	if (rc == -EINTR)
		return fsq_fail(err, FSQ_E_FAILED, EINTR, request->root,
				"stopped after %" PRIu64 " files and directories",
				request->entries);
	return rc;
}
