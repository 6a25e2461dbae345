/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the space of a project is: what the kernel counts, beside all that can be found. An XFS lists its inodes by
 * itself (bulkstat), so of a large project only the names are read; elsewhere each file of the tree is asked.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "open_files.h"
#include "quota/base/error.h"
#include "quota/base/inode_map.h"
#include "quota/kernel/compat.h"
#include "quota/kernel/fs_type.h"
#include "quota/kernel/inode_project.h"
#include "quota/kernel/openat2.h"
#include "quota/kernel/space.h"
#include "quota/mounts/place.h"
#include "quota/walk/tree_walk.h"
#include "shared/array.h"

/* To list all inodes of a filesystem is worth it when so large a part of them is of the project. */
#define LIST_PART 16

/* Every so many inodes of the list is asked whether to go on. */
#define CHECK_INTERVAL 1024

/* In the map: the inode was seen, and has no facts. */
#define NO_FACTS UINT32_MAX

struct sum {
	uint64_t bytes, inodes;
};

/* What is known of an inode: of all of the project that bulkstat lists, and of those with several names. */
struct facts {
	uint64_t bytes, beyond; /* its end */
	uint32_t links, names;	/* that it has, and that were found */
	bool seen;
};

/* A part of the sum that has a path of its own. */
struct part {
	enum fsq_space_part part;
	struct sum sum;
	char *path;
	pid_t pid, last_pid;
	uint64_t processes;
	char *command;
};

/* Of a deleted file on another filesystem. */
struct held_mount {
	uint64_t id;
	bool is_overlay;
};

struct explain {
	const struct fsq_explain_request *request;
	struct fsq_call_options options;
	struct fsq_place place; /* the directory */
	dev_t dev;
	uint64_t block_size;
	bool is_f2fs;
	uint32_t id;
	bool listed; /* bulkstat: the facts are complete */
	uint64_t listed_count;
	struct fsq_inode_map map;
	struct facts *facts;
	size_t facts_count, facts_capacity;
	struct fsq_inode_map held; /* deleted files that are open: the index of their part */
	struct held_mount *others;
	size_t other_count, other_capacity;
	struct part *parts, *top;
	size_t part_count, part_capacity, top_count;
	char **mounts; /* that cover something in the directory */
	size_t mount_count, mount_capacity;
	/* Of the walk that runs: */
	struct sum found;
	struct sum *levels; /* of the directories that it is in */
	size_t level_count, level_capacity;
	struct sum foreign, linked, preallocated;
	bool counts_foreign;
	bool no_memory;
	uint64_t failures;
	struct fsq_error first_failure;
};

static void add(struct sum *sum, uint64_t bytes, uint64_t inodes)
{
	sum->bytes += bytes;
	sum->inodes += inodes;
}

static void fail_at(struct explain *explain, int errnum, const char *path)
{
	explain->no_memory |= errnum == ENOMEM;
	/* It is gone, and counts no more. */
	if (errnum == ENOENT || errnum == ESTALE)
		return;
	if (explain->failures++ == 0)
		fsq_fail(&explain->first_failure, FSQ_E_PARTIAL, errnum, path,
			 "cannot be read, so the sum lacks it");
}

/* --- parts --- */

/* @return   the new part, until the next one is added; or NULL without memory */
static struct part *add_part(struct explain *explain, enum fsq_space_part kind, const char *path,
			     struct sum sum)
{
	struct part part = { .part = kind, .sum = sum, .path = path ? strdup(path) : NULL };

	if ((path && !part.path) || !array_add(&explain->parts, &explain->part_count,
					       &explain->part_capacity, &part, sizeof(part))) {
		explain->no_memory = true;
		free(part.path);
		return NULL;
	}
	return &explain->parts[explain->part_count - 1];
}

/* One of the largest, if it is. */
static void rank(struct explain *explain, enum fsq_space_part kind, const char *path,
		 struct sum sum)
{
	struct part part = { .part = kind, .sum = sum };
	size_t at = explain->top_count, most = explain->request->top;

	/* A directory comes before the one in it that is as large. */
	while (at > 0 &&
	       (explain->top[at - 1].sum.bytes < sum.bytes ||
		(explain->top[at - 1].sum.bytes == sum.bytes && kind == FSQ_SPACE_DIRECTORY)))
		at--;
	if (at >= most || sum.bytes == 0)
		return;
	part.path = strdup(path);
	if (!part.path) {
		explain->no_memory = true;
		return;
	}
	if (explain->top_count == most)
		free(explain->top[--explain->top_count].path);
	memmove(&explain->top[at + 1], &explain->top[at],
		(explain->top_count++ - at) * sizeof(*explain->top));
	explain->top[at] = part;
}

/* --- inodes --- */

/* f2fs shows a file that is stored in its inode by its size, and counts nothing of it. */
static uint64_t bytes_of(const struct explain *explain, const struct stat *st)
{
	uint64_t bytes = (uint64_t)st->st_blocks * 512;

	return explain->is_f2fs ? bytes / explain->block_size * explain->block_size : bytes;
}

static uint64_t beyond_end(const struct explain *explain, mode_t mode, uint64_t bytes,
			   uint64_t size)
{
	uint64_t end = (size + explain->block_size - 1) / explain->block_size * explain->block_size;

	/* Attributes and the map of the blocks are counted, too: no more than this. */
	uint64_t own = end / 512 + 64 * 1024;

	return S_ISREG(mode) && bytes > end + own ? bytes - end : 0;
}

/* @return   the facts, or NULL: there are none, or there is no memory */
static struct facts *find_facts(const struct explain *explain, ino_t ino, bool *known)
{
	const struct fsq_inode_note *note = fsq_inode_map_find(&explain->map, ino);

	*known = note != NULL;
	return note && note->id != NO_FACTS ? &explain->facts[note->id] : NULL;
}

static void learn(struct explain *explain, ino_t ino, const struct facts *facts)
{
	struct fsq_inode_note note = { .ino = ino, .id = NO_FACTS };

	if (facts) {
		note.id = (uint32_t)explain->facts_count;
		if (note.id == NO_FACTS ||
		    !array_add(&explain->facts, &explain->facts_count, &explain->facts_capacity,
			       facts, sizeof(*facts)))
			explain->no_memory = true;
	}
	if (fsq_inode_map_add(&explain->map, &note) < 0)
		explain->no_memory = true;
}

/* A name of an inode of the project was found. @return  whether it is the first one */
static bool take(struct explain *explain, ino_t ino, const struct facts *found)
{
	bool known;
	struct facts *facts = find_facts(explain, ino, &known);
	uint64_t beyond = found->beyond;

	if (facts) {
		facts->names++;
		if (facts->seen)
			return false;
		facts->seen = true;
	} else if (known) {
		return false;
	} else {
		learn(explain, ino, found->links > 1 ? found : NULL);
	}
	add(&explain->found, found->bytes, 1);
	if (beyond)
		add(&explain->preallocated, beyond, 1);
	return true;
}

/* The project of an entry that bulkstat has not listed, or where it lists nothing. */
static int read_id(const struct explain *explain, const struct fsq_walk_entry *entry, ino_t ino,
		   uint32_t *id)
{
	struct fsq_inode_project project = { 0 };
	int rc = -ENOTTY;

	if (explain->listed)
		return fsq_bulkstat_project(explain->place.target.fd, ino, id);
	if (entry->has_project)
		rc = fsq_walk_project_get(entry, &project);
	/* Of a special file older kernels tell nothing: it got the ID of its directory. */
	*id = rc == -ENOTTY || rc == -EOPNOTSUPP ? explain->id : project.id;
	return rc == -ENOTTY || rc == -EOPNOTSUPP ? 0 : rc;
}

static void take_entry(struct explain *explain, const struct fsq_walk_entry *entry)
{
	bool is_directory = entry->kind == FSQ_WALK_DIRECTORY, known, first;
	ino_t ino = is_directory ? entry->st->st_ino : entry->ino;
	const struct facts *listed = ino ? find_facts(explain, ino, &known) : NULL;
	struct sum *above = entry->depth > 0 ? &explain->levels[entry->depth - 1] : NULL;
	struct facts facts = { .names = 1, .seen = true };
	uint32_t id = explain->id;
	struct stat st;
	int rc;

	if (listed) {
		facts = *listed;
		/* Of a file that is being written bulkstat knows the size on the disk. */
		if (facts.beyond && fsq_walk_stat(entry, &st) == 0 && st.st_ino == ino)
			facts.beyond =
				beyond_end(explain, st.st_mode, facts.bytes, (uint64_t)st.st_size);
	} else {
		rc = fsq_walk_stat(entry, &st);
		if (rc == 0 && st.st_dev != explain->dev)
			return; /* a file that is mounted over it */
		if (rc == 0)
			rc = read_id(explain, entry, st.st_ino, &id);
		if (rc) {
			fail_at(explain, -rc, entry->path);
			return;
		}
		ino = st.st_ino;
		facts.bytes = bytes_of(explain, &st);
		facts.beyond = beyond_end(explain, st.st_mode, facts.bytes, (uint64_t)st.st_size);
		facts.links = is_directory ? 1 : (uint32_t)st.st_nlink;
	}
	if (id != explain->id) {
		if (explain->counts_foreign)
			add(&explain->foreign, facts.bytes, 1);
		return;
	}
	first = take(explain, ino, &facts);
	if (is_directory && first)
		explain->levels[entry->depth] = (struct sum){ facts.bytes, 1 };
	else if (first && above)
		add(above, facts.bytes, 1);
	if (first && !is_directory)
		rank(explain, FSQ_SPACE_FILE, entry->path, (struct sum){ facts.bytes, 1 });
}

static void leave_directory(struct explain *explain, const struct fsq_walk_entry *entry)
{
	const struct sum *sum = &explain->levels[entry->depth];

	if (entry->depth == 0)
		return;
	add(&explain->levels[entry->depth - 1], sum->bytes, sum->inodes);
	rank(explain, FSQ_SPACE_DIRECTORY, entry->path, *sum);
}

static enum fsq_visit visit(const struct fsq_walk_entry *entry, struct fsq_walk_event *event,
			    void *arg)
{
	struct explain *explain = arg;
	const struct sum none = { 0 };

	(void)event;
	switch (entry->kind) {
	case FSQ_WALK_LEAVE:
		leave_directory(explain, entry);
		break;
	case FSQ_WALK_NO_STAT:
	case FSQ_WALK_NO_OPEN:
		fail_at(explain, entry->errnum, entry->path);
		break;
	case FSQ_WALK_DIRECTORY:
		if (entry->st->st_dev != explain->dev)
			return FSQ_VISIT_PRUNE;
		explain->level_count = (size_t)entry->depth;
		if (!array_add(&explain->levels, &explain->level_count, &explain->level_capacity,
			       &none, sizeof(none)))
			explain->no_memory = true;
		else
			take_entry(explain, entry);
		break;
	case FSQ_WALK_FILE:
	case FSQ_WALK_SPECIAL:
		take_entry(explain, entry);
		break;
	}
	return explain->no_memory ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

/* @fd       the directory, or -1: open it by its path
 * @found    set: what it has of the project, without what was found before */
static int walk(struct explain *explain, int fd, const char *path, struct sum *found,
		struct fsq_error *err)
{
	struct fsq_walk walk = {
		.root = path,
		.root_fd = fd,
		.max_depth = FSQ_DEPTH_INFINITE,
		.access = explain->listed ? FSQ_ACCESS_CLOSED : FSQ_ACCESS_PROJECT,
		.alone = true,
		.options = &explain->options,
		.visit = visit,
		.arg = explain,
	};
	int rc;

	explain->found = (struct sum){ 0 };
	rc = fsq_tree_walk(&walk, err);
	*found = explain->found;
	return rc;
}

/* --- bulkstat --- */

static enum fsq_visit list_inode(const struct fsq_inode *inode, void *arg)
{
	struct explain *explain = arg;
	struct facts facts = { .bytes = inode->bytes, .links = inode->links };

	/* Known already: a walk before the list has seen it. */
	if (inode->owner[FSQ_PROJECT] == explain->id &&
	    !fsq_inode_map_find(&explain->map, inode->ino)) {
		facts.beyond = beyond_end(explain, inode->mode, inode->bytes, inode->size);
		if (S_ISDIR(inode->mode) && facts.links > 1)
			facts.links = 1;
		learn(explain, inode->ino, &facts);
	}
	return explain->no_memory || (++explain->listed_count % CHECK_INTERVAL == 0 &&
				      fsq_is_cancelled(explain->request->options))
		       ? FSQ_VISIT_STOP
		       : FSQ_VISIT_CONTINUE;
}

/* List the inodes of the project, where the kernel can. */
static void list_inodes(struct explain *explain)
{
	int rc = fsq_bulkstat(explain->place.target.fd, list_inode, explain);

	explain->listed = rc == 0;
	explain->no_memory |= rc == -ENOMEM;
}

/* Is the project a large part of the filesystem? */
static bool is_large(const struct explain *explain, const struct fsq_usage *usage)
{
	uint64_t all;

	return fsq_xfs_inodes(explain->place.target.fd, &all) == 0 &&
	       usage->used_inodes >= all / LIST_PART;
}

/* --- the caller's options --- */

static void note_mount(const char *path, void *arg)
{
	struct explain *explain = arg;
	char *copy = strdup(path);

	if (!copy || !array_add(&explain->mounts, &explain->mount_count, &explain->mount_capacity,
				&copy, sizeof(copy))) {
		free(copy);
		explain->no_memory = true;
	}
}

static bool is_cancelled(void *arg)
{
	const struct explain *explain = arg;

	return fsq_is_cancelled(explain->request->options);
}

static void progress(uint64_t entries, const char *path, void *arg)
{
	const struct explain *explain = arg;
	const struct fsq_call_options *options = explain->request->options;

	if (options && options->progress)
		options->progress(entries, path, options->arg);
}

/* --- deleted files --- */

/*
 * A container sees its files on an overlay, which has the inode numbers of the filesystem below, and devices that no
 * mount has.
 */
static bool is_overlay(struct explain *explain, const struct statx *stx, pid_t pid)
{
	struct held_mount other = { .id = stx->stx_mnt_id };
	int rc;

	if (!(stx->stx_mask & STATX_MNT_ID))
		return false;
	for (size_t i = 0; i < explain->other_count; i++)
		if (explain->others[i].id == other.id)
			return explain->others[i].is_overlay;
	rc = fsq_process_has_mount(pid, other.id, "overlay");
	other.is_overlay = rc > 0;
	if (rc == -ENOMEM || !array_add(&explain->others, &explain->other_count,
					&explain->other_capacity, &other, sizeof(other)))
		explain->no_memory = true;
	return other.is_overlay;
}

/* Has an open file the project? */
static bool is_ours(const struct explain *explain, int fd, const struct stat *st,
		    struct facts *facts)
{
	struct fsq_inode_project project;
	uint64_t bytes = bytes_of(explain, st);

	*facts = (struct facts){
		.bytes = bytes,
		.beyond = beyond_end(explain, st->st_mode, bytes, (uint64_t)st->st_size),
		.links = (uint32_t)st->st_nlink,
		.names = 1,
		.seen = true,
	};
	return fsq_inode_project_get(fd, &project) == 0 && project.id == explain->id;
}

/*
 * Open a deleted file, if it is on this filesystem. Others are not touched: it could be a device, or its server be
 * dead.
 */
static int open_deleted(struct explain *explain, const struct fsq_open_file *file)
{
	struct statx stx;

	if (get_statx(file->dirfd, file->name, AT_STATX_DONT_SYNC, STATX_TYPE | STATX_MNT_ID,
		      &stx) ||
	    !(S_ISREG(stx.stx_mode) || S_ISDIR(stx.stx_mode)))
		return -1;
	if (makedev(stx.stx_dev_major, stx.stx_dev_minor) != explain->dev &&
	    !is_overlay(explain, &stx, file->pid))
		return -1;
	return openat(file->dirfd, file->name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static struct part *add_open(struct explain *explain, const char *path, ino_t ino,
			     const struct facts *facts)
{
	const struct fsq_inode_note note = { .ino = ino, .id = (uint32_t)explain->part_count };

	/* Where it was seen before, it was deleted behind the walk. */
	if (!take(explain, ino, facts))
		return NULL;
	if (fsq_inode_map_add(&explain->held, &note) < 0)
		explain->no_memory = true;
	return add_part(explain, FSQ_SPACE_OPEN, path, (struct sum){ facts->bytes, 1 });
}

static enum fsq_visit take_open(const struct fsq_open_file *file, void *arg)
{
	struct explain *explain = arg;
	const struct fsq_inode_note *note;
	struct facts facts;
	struct part *part;
	struct stat st;
	int fd = open_deleted(explain, file);
	bool ours = fd >= 0 && fstat(fd, &st) == 0 && st.st_nlink == 0 &&
		    is_ours(explain, fd, &st, &facts);

	if (fd >= 0)
		close(fd);
	if (!ours)
		return FSQ_VISIT_CONTINUE;
	note = fsq_inode_map_find(&explain->held, st.st_ino);
	part = note ? &explain->parts[note->id] : add_open(explain, file->path, st.st_ino, &facts);
	if (part && part->last_pid != file->pid) {
		part->last_pid = file->pid;
		part->processes++;
		if (!part->pid || file->pid < part->pid)
			part->pid = file->pid;
	}
	return explain->no_memory || fsq_is_cancelled(explain->request->options)
		       ? FSQ_VISIT_STOP
		       : FSQ_VISIT_CONTINUE;
}

static void look_for_open_files(struct explain *explain)
{
	int rc = fsq_open_files_each(take_open, explain);

	if (rc && rc != -ENOMEM)
		fail_at(explain, -rc, "/proc");
	for (size_t i = 0; i < explain->part_count && rc != -ENOMEM; i++) {
		struct part *part = &explain->parts[i];

		if (part->pid)
			rc = fsq_process_command(part->pid, &part->command);
	}
	explain->no_memory |= rc == -ENOMEM;
}

/* --- what mounts hide --- */

/* In a private clone of the mount nothing is mounted. */
static int look_below_mounts(struct explain *explain, struct fsq_error *err)
{
	size_t count = explain->mount_count, root = strlen(explain->place.path);
	int clone = count ? fsq_clone_mount(explain->place.target.fd) : -1, rc = 0;

	for (size_t i = 0; i < count && rc == 0 && clone >= 0; i++) {
		const char *path = explain->mounts[i], *below = path + root;
		struct sum found = { 0 };
		struct facts facts;
		struct stat st = { 0 };
		int fd;

		below += strspn(below, "/");
		fd = fsq_openat2(clone, below,
				 O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC,
				 RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
		if (fd < 0)
			continue;
		if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
			rc = walk(explain, fd, path, &found, err);
		} else if (is_ours(explain, fd, &st, &facts)) {
			explain->found = (struct sum){ 0 };
			if (take(explain, st.st_ino, &facts))
				rank(explain, FSQ_SPACE_FILE, path, explain->found);
			found = explain->found;
		}
		close(fd);
		if (rc == 0 && found.inodes)
			add_part(explain, FSQ_SPACE_HIDDEN, path, found);
	}
	if (clone >= 0)
		close(clone);
	return rc;
}

/* --- elsewhere --- */

struct others {
	struct explain *explain;
	ino_t ino; /* of the directory */
	struct fsq_error *err;
	int rc;
};

static enum fsq_visit look_at_other(uint32_t id, const char *word, void *arg)
{
	struct others *others = arg;
	struct explain *explain = others->explain;
	struct stat st;
	struct sum found;

	if (id != explain->id ||
	    fstatat(AT_FDCWD, word, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) ||
	    st.st_dev != explain->dev || st.st_ino == others->ino || !S_ISDIR(st.st_mode))
		return FSQ_VISIT_CONTINUE;
	others->rc = walk(explain, -1, word, &found, others->err);
	if (others->rc == 0 && found.inodes)
		add_part(explain, FSQ_SPACE_ELSEWHERE, word, found);
	return others->rc || explain->no_memory ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

/* What bulkstat has listed, and was not seen. */
static void take_unseen(struct explain *explain, const char *mountpoint)
{
	struct sum deleted = { 0 }, elsewhere = { 0 };

	for (size_t i = 0; i < explain->facts_count; i++) {
		const struct facts *facts = &explain->facts[i];

		if (facts->seen)
			continue;
		add(facts->links ? &elsewhere : &deleted, facts->bytes, 1);
	}
	if (deleted.inodes)
		add_part(explain, FSQ_SPACE_OPEN, NULL, deleted);
	if (elsewhere.inodes)
		add_part(explain, FSQ_SPACE_ELSEWHERE, mountpoint, elsewhere);
}

static struct sum sum_of(const struct explain *explain)
{
	struct sum sum = { 0 };

	for (size_t i = 0; i < explain->part_count; i++)
		add(&sum, explain->parts[i].sum.bytes, explain->parts[i].sum.inodes);
	return sum;
}

static int look_elsewhere(struct explain *explain, const struct fsq_usage *usage, ino_t ino,
			  struct fsq_error *err)
{
	const struct fsq_explain_request *request = explain->request;
	struct others others = { explain, ino, err, 0 };
	struct sum sum, found;
	int clone, fd, rc = 0;

	if (request->projects_file)
		rc = fsq_projects_each(request->projects_file, look_at_other, &others, err);
	if (others.rc || (rc && rc != FSQ_E_NOT_FOUND))
		return others.rc ? others.rc : rc;
	if (request->everywhere) {
		fd = open(usage->mountpoint, O_PATH | O_DIRECTORY | O_CLOEXEC);
		clone = fsq_clone_mount(fd);
		rc = walk(explain, clone < 0 ? fd : clone, usage->mountpoint, &found, err);
		if (clone >= 0)
			close(clone);
		if (fd >= 0)
			close(fd);
		if (rc)
			return rc;
		if (found.inodes)
			add_part(explain, FSQ_SPACE_ELSEWHERE, usage->mountpoint, found);
	}
	sum = sum_of(explain);
	if (!explain->listed && (sum.bytes < usage->used_bytes || sum.inodes < usage->used_inodes))
		list_inodes(explain);
	if (explain->listed)
		take_unseen(explain, usage->mountpoint);
	return 0;
}

/* --- all together --- */

static uint64_t nearest(uint64_t value, uint64_t one, uint64_t other)
{
	uint64_t least = one < other ? one : other, most = one < other ? other : one;

	return value < least ? least : value > most ? most : value;
}

static uint64_t above_zero(uint64_t value, uint64_t less)
{
	return value > less ? value - less : 0;
}

/* Names that were not found: of a file that was taken, or else nothing is said of it. */
static void sum_up_links(struct explain *explain)
{
	for (size_t i = 0; i < explain->facts_count; i++) {
		const struct facts *facts = &explain->facts[i];

		if (facts->seen && facts->links > facts->names)
			add(&explain->linked, facts->bytes, 1);
	}
}

/* @before, @after  what the kernel counts changes while files are counted */
static void show(struct explain *explain, const struct fsq_usage *before,
		 const struct fsq_usage *after, fsq_explained_visitor visitor, void *arg)
{
	struct sum sum = sum_of(explain), used, unexplained, uncounted;
	const char *directory = explain->place.path;

	used.bytes = nearest(sum.bytes, before->used_bytes, after->used_bytes);
	used.inodes = nearest(sum.inodes, before->used_inodes, after->used_inodes);
	unexplained = (struct sum){ above_zero(used.bytes, sum.bytes),
				    above_zero(used.inodes, sum.inodes) };
	uncounted = (struct sum){ above_zero(sum.bytes, used.bytes),
				  above_zero(sum.inodes, used.inodes) };
	sum_up_links(explain);
	add_part(explain, FSQ_SPACE_USED, directory, used);
	add_part(explain, FSQ_SPACE_UNEXPLAINED, NULL, unexplained);
	if (uncounted.bytes || uncounted.inodes)
		add_part(explain, FSQ_SPACE_UNCOUNTED, NULL, uncounted);
	if (explain->foreign.inodes)
		add_part(explain, FSQ_SPACE_FOREIGN, directory, explain->foreign);
	if (explain->linked.inodes)
		add_part(explain, FSQ_SPACE_LINKED, NULL, explain->linked);
	if (explain->preallocated.inodes)
		add_part(explain, FSQ_SPACE_PREALLOCATED, NULL, explain->preallocated);
	for (int kind = FSQ_SPACE_USED; kind <= FSQ_SPACE_FILE && !explain->no_memory; kind++) {
		bool is_top = kind == FSQ_SPACE_DIRECTORY;
		const struct part *list = is_top ? explain->top : explain->parts;
		size_t count = is_top ? explain->top_count : explain->part_count;

		for (size_t i = 0; i < count; i++) {
			const struct part *part = &list[i];
			const struct fsq_explained row = {
				.part = part->part,
				.bytes = part->sum.bytes,
				.inodes = part->sum.inodes,
				.path = part->path,
				.pid = part->pid,
				.command = part->command,
				.processes = part->processes,
			};

			if ((is_top || (int)part->part == kind) &&
			    visitor(&row, arg) == FSQ_VISIT_STOP)
				return;
		}
	}
}

/* Find all. @return  0, or a failure in @err */
static int look(struct explain *explain, const struct fsq_usage *usage, struct fsq_error *err)
{
	struct statvfs vfs;
	struct sum found;
	struct stat st;
	int rc;

	if (fstat(explain->place.target.fd, &st) || fstatvfs(explain->place.target.fd, &vfs))
		return fsq_fail(err, FSQ_E_FAILED, errno, explain->place.path, "cannot stat");
	explain->dev = st.st_dev;
	explain->block_size = vfs.f_frsize;
	explain->is_f2fs = fsq_is_f2fs(explain->place.target.fd);
	explain->id = usage->id;
	if (is_large(explain, usage))
		list_inodes(explain);
	explain->counts_foreign = true;
	rc = walk(explain, explain->place.target.fd, explain->place.path, &found, err);
	explain->counts_foreign = false;
	if (rc)
		return rc;
	add_part(explain, FSQ_SPACE_TREE, explain->place.path, found);
	rc = look_below_mounts(explain, err);
	if (rc)
		return rc;
	look_for_open_files(explain);
	return look_elsewhere(explain, usage, st.st_ino, err);
}

static int get_usage(const struct fsq_explain_request *request, struct fsq_usage *usage,
		     struct fsq_error *err)
{
	const struct fsq_usage_request question = {
		.size = sizeof(question),
		.path = request->directory,
		.projects_file = request->projects_file,
	};
	int rc = fsq_usage_get(usage, &question, err);
	const bool forbidden = rc == 0 && usage->at_least;

	/* Counting its files would explain nothing. */
	if (rc && err && err->hint == FSQ_HINT_MOUNT_OR_COUNT)
		err->hint = FSQ_HINT_MOUNT_WITH_QUOTA;
	else if (rc && err && err->hint == FSQ_HINT_ASSIGN_OR_COUNT)
		err->hint = FSQ_HINT_NONE;
	if (rc || usage->source == FSQ_USAGE_QUOTA)
		return rc;
	fsq_usage_clear(usage);
	if (forbidden)
		return fsq_fail(err, FSQ_E_PERMISSION, EPERM, request->directory,
				"cannot read the quota");
	return fsq_add_hint(err, FSQ_HINT_MOUNT_WITH_QUOTA,
			    fsq_fail(err, FSQ_E_NOT_SUPPORTED, 0, request->directory,
				     "there is no project quota on this filesystem"));
}

static void free_parts(struct part *parts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(parts[i].path);
		free(parts[i].command);
	}
	free(parts);
}

int fsq_explain(const struct fsq_explain_request *request, fsq_explained_visitor visitor, void *arg,
		struct fsq_error *err)
{
	struct explain explain = { .request = request };
	struct fsq_usage before = { 0 }, after = { 0 };
	int rc = fsq_check_size(request, request->size, sizeof(*request), err);

	if (rc == 0)
		rc = fsq_place_open_directory(&explain.place, request->directory, err);
	if (rc)
		return rc;
	explain.options = (struct fsq_call_options){
		.size = sizeof(explain.options),
		.is_cancelled = is_cancelled,
		.progress = progress,
		.arg = &explain,
		.mount_skipped = note_mount,
	};
	explain.top = calloc(request->top ? request->top : 1, sizeof(*explain.top));
	explain.no_memory = !explain.top;
	rc = get_usage(request, &before, err);
	if (rc == 0)
		rc = look(&explain, &before, err);
	if (rc == 0)
		rc = get_usage(request, &after, err);
	if (rc == 0 && fsq_is_cancelled(request->options))
		rc = fsq_fail(err, FSQ_E_FAILED, EINTR, request->directory, "stopped");
	if (rc == 0 && !explain.no_memory)
		show(&explain, &before, &after, visitor, arg);
	if (rc == 0 && explain.no_memory)
		rc = fsq_fail(err, FSQ_E_FAILED, ENOMEM, request->directory, "cannot be explained");
	if (rc == 0 && explain.failures) {
		rc = FSQ_E_PARTIAL;
		if (err)
			*err = explain.first_failure;
	}
	for (size_t i = 0; i < explain.mount_count; i++)
		free(explain.mounts[i]);
	free(explain.mounts);
	free_parts(explain.parts, explain.part_count);
	free_parts(explain.top, explain.top_count);
	free(explain.levels);
	free(explain.facts);
	free(explain.others);
	fsq_inode_map_free(&explain.held);
	fsq_inode_map_free(&explain.map);
	fsq_usage_clear(&before);
	fsq_usage_clear(&after);
	fsq_place_close(&explain.place);
	return rc;
}
