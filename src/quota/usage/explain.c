/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Account for the space of a project: what the kernel counts against everything that can be found. XFS lists
 * its inodes (bulkstat), so of a large project only the names are read; elsewhere each file of the tree is
 * asked.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "disk_use.h"
#include "open_files.h"
#include "project_tree.h"
#include "quota/base/error.h"
#include "quota/base/inode_map.h"
#include "quota/base/path.h"
#include "quota/kernel/compat.h"
#include "quota/kernel/fs_type.h"
#include "quota/kernel/inode_project.h"
#include "quota/kernel/openat2.h"
#include "quota/kernel/quotactl.h"
#include "quota/kernel/space.h"
#include "quota/mounts/handle.h"
#include "quota/mounts/lookup.h"
#include "quota/walk/tree_walk.h"
#include "shared/array.h"
#include "usage.h"

/* List all inodes of a filesystem if at least this part of them belongs to the project. */
#define LIST_PART 16

/* How many listed inodes between two checks for cancellation. */
#define CHECK_INTERVAL 1024

/* In the map: the inode was seen, and has no facts. */
#define NO_FACTS UINT32_MAX

struct sum {
	uint64_t bytes, inodes;
};

/* Facts about an inode: of all inodes that bulkstat lists for the project, and of those with several links. */
struct facts {
	ino_t ino;
	uint64_t bytes, beyond; /* blocks beyond its end, in bytes */
	uint32_t links, names;	/* the link count, and how many names were found */
};

/* A part of the sum, with its path. */
struct part {
	enum fsq_space_part part;
	struct sum sum;
	char *path;
	pid_t pid, last_pid;
	uint64_t processes;
	char *command;
};

struct explain {
	const struct fsq_explain_request *request;
	struct fsq_call_options options;
	struct fsq_handle handle; /* the directory */
	dev_t dev;
	uint64_t block_size;
	bool is_f2fs;
	bool is_of_server; /* which does not tell the projects of files: open none */
	uint32_t id;
	struct facts *facts;
	size_t facts_count, facts_capacity;
	/* Bulkstat has listed all inodes: a sorted run of the facts. */
	bool has_list;
	uint64_t listed_count;
	size_t list_start, list_end,
		list_last;	   /* the run in @facts, and where in it the last inode was found */
	struct fsq_inode_map map;  /* of other inodes: the index of their facts */
	struct fsq_inode_map held; /* deleted files that are open: the index of their part */
	uint64_t unasked;	   /* deleted files that only another filesystem could identify */
	bool holder_missing;	   /* no process was found for a deleted file */
	struct part *parts, *top;
	size_t part_count, part_capacity, top_count;
	char **mounts; /* mounts that cover a part of the directory */
	size_t mount_count, mount_capacity;
	/* Of the current walk: */
	struct sum found;
	struct sum *levels; /* sums of the directories that it is in */
	size_t level_count, level_capacity;
	struct sum foreign, linked, preallocated;
	struct sum
		special; /* files of directories of the project whose ID the kernel does not tell */
	bool counts_foreign, counts_special, counts_shared;
	struct sum shared;
	bool no_memory;
	uint64_t failures;
	struct fsq_error first_failure;
};

static void add_to_sum(struct sum *sum, uint64_t bytes, uint64_t inodes)
{
	sum->bytes += bytes;
	sum->inodes += inodes;
}

static void fail_at(struct explain *explain, int errnum, const char *path)
{
	explain->no_memory |= errnum == ENOMEM;
	/* Deleted meanwhile: it does not count any more. */
	if (errnum == ENOENT || errnum == ESTALE)
		return;
	if (explain->failures++ == 0)
		fsq_fail(&explain->first_failure, FSQ_E_PARTIAL, errnum, path,
			 "cannot be read, so the sum lacks it");
}

/* --- parts --- */

/* @return   the part, valid until the next one is added; or NULL without memory */
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

/* Insert a file or directory among the largest, if it is one of them. */
static void rank(struct explain *explain, enum fsq_space_part kind, const char *path,
		 struct sum sum)
{
	struct part part = { .part = kind, .sum = sum };
	size_t at = explain->top_count, most = explain->request->top;

	/* A directory comes before a file in it that is as large. */
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

/* For a file stored inside its inode f2fs reports blocks, but counts none. */
static uint64_t bytes_of(const struct explain *explain, const struct stat *st)
{
	uint64_t bytes = (uint64_t)st->st_blocks * 512;

	return explain->is_f2fs ? bytes / explain->block_size * explain->block_size : bytes;
}

static uint64_t beyond_end(const struct explain *explain, mode_t mode, uint64_t bytes,
			   uint64_t size)
{
	uint64_t end = (size + explain->block_size - 1) / explain->block_size * explain->block_size;

	/* Blocks of attributes and of the extent map count, too; allow for so many. */
	uint64_t own = end / 512 + 64 * 1024;

	return S_ISREG(mode) && bytes > end + own ? bytes - end : 0;
}

static struct facts *find_listed(struct explain *explain, ino_t ino)
{
	size_t low = explain->list_start, high = explain->list_end;

	/* The files of a directory are mostly in the order of their creation, as in the list. */
	for (size_t i = explain->list_last; i < explain->list_last + 2 && i < high; i++) {
		if (explain->facts[i].ino == ino) {
			explain->list_last = i;
			return &explain->facts[i];
		}
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (explain->facts[middle].ino < ino) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	if (low == explain->list_end || explain->facts[low].ino != ino)
		return NULL;
	explain->list_last = low;
	return &explain->facts[low];
}

/* @return   the facts, or NULL when there are none */
static struct facts *find_facts(struct explain *explain, ino_t ino, bool *known)
{
	struct facts *listed = find_listed(explain, ino);
	const struct fsq_inode_note *note = fsq_inode_map_find(&explain->map, ino);

	*known = listed || note;
	if (listed || !note || note->id == NO_FACTS)
		return listed;
	return &explain->facts[note->id];
}

static void add_facts(struct explain *explain, const struct facts *facts)
{
	if (explain->facts_count >= NO_FACTS ||
	    !array_add(&explain->facts, &explain->facts_count, &explain->facts_capacity, facts,
		       sizeof(*facts)))
		explain->no_memory = true;
}

/* Count a name of an inode of the project. @return  whether it is the first name */
static bool take_inode(struct explain *explain, const struct facts *found)
{
	struct fsq_inode_note note = { .ino = found->ino, .id = NO_FACTS };
	bool known;
	struct facts *facts = find_facts(explain, found->ino, &known);

	if (facts && facts->names++ > 0)
		return false;
	if (!facts && known)
		return false;
	if (!known && found->links > 1) {
		note.id = (uint32_t)explain->facts_count;
		add_facts(explain, found);
	}
	if (!known && fsq_inode_map_add(&explain->map, &note) < 0)
		explain->no_memory = true;
	add_to_sum(&explain->found, found->bytes, 1);
	if (found->beyond)
		add_to_sum(&explain->preallocated, found->beyond, 1);
	return true;
}

/* Read the project of an entry that bulkstat has not listed. @return  0, 1: the kernel does not tell it, or a negative errno */
static int read_id(const struct explain *explain, const struct fsq_walk_entry *entry, ino_t ino,
		   uint32_t *id)
{
	struct fsq_inode_project project = { 0 };
	int rc = -ENOTTY;

	if (explain->has_list)
		return fsq_bulkstat_project(explain->handle.target.fd, ino, id);
	*id = explain->id;
	if (explain->is_of_server)
		return 0;
	if (entry->has_project)
		rc = fsq_walk_project_get(entry, &project);
	*id = project.id;
	/* Before Linux 6.17 only bulkstat reports the ID of a special file. */
	if (rc != -ENOTTY && rc != -EOPNOTSUPP)
		return rc;
	return fsq_bulkstat_project(explain->handle.target.fd, ino, id) ? 1 : 0;
}

static void take_special(struct explain *explain, const struct facts *facts, struct sum *above)
{
	const struct fsq_inode_note note = { .ino = facts->ino, .id = NO_FACTS };
	int rc = explain->counts_special ? fsq_inode_map_add(&explain->map, &note) : 0;

	explain->no_memory |= rc == -ENOMEM;
	if (rc <= 0)
		return;
	add_to_sum(&explain->special, facts->bytes, 1);
	if (above)
		add_to_sum(above, facts->bytes, 1);
}

static void take_shared(struct explain *explain, const struct fsq_walk_entry *entry)
{
	uint64_t bytes = 0;
	int rc = fsq_shared_bytes(entry->fd, &bytes);

	if (rc)
		fail_at(explain, -rc, entry->path);
	else if (bytes)
		add_to_sum(&explain->shared, bytes, 1);
}

/* Can the entry be among the largest? For what is in no project only entries of the root directory can. */
static bool is_ranked(const struct explain *explain, const struct fsq_walk_entry *entry)
{
	return explain->id || entry->depth == 1;
}

static void take_entry(struct explain *explain, const struct fsq_walk_entry *entry)
{
	bool is_directory = entry->kind == FSQ_WALK_DIRECTORY, known, first;
	ino_t ino = is_directory ? entry->st->st_ino : entry->ino;
	const struct facts *listed = ino ? find_facts(explain, ino, &known) : NULL;
	struct sum *above = entry->depth > 0 ? &explain->levels[entry->depth - 1] : NULL;
	struct facts facts = { .names = 1 };
	uint32_t id = explain->id;
	struct stat st;
	int rc;

	if (listed) {
		facts = *listed;
		/* For a file that is being written bulkstat has the size on the disk. */
		if (facts.beyond && fsq_walk_stat(entry, &st) == 0 && st.st_ino == ino)
			facts.beyond =
				beyond_end(explain, st.st_mode, facts.bytes, (uint64_t)st.st_size);
	} else {
		rc = fsq_walk_stat(entry, &st);
		if (rc == 0 && st.st_dev != explain->dev)
			return; /* another file is mounted over it */
		if (rc == 0)
			rc = read_id(explain, entry, st.st_ino, &id);
		if (rc < 0) {
			fail_at(explain, -rc, entry->path);
			return;
		}
		facts.ino = st.st_ino;
		facts.bytes = bytes_of(explain, &st);
		if (rc > 0) {
			take_special(explain, &facts, above);
			return;
		}
		facts.beyond = beyond_end(explain, st.st_mode, facts.bytes, (uint64_t)st.st_size);
		facts.links = is_directory ? 1 : (uint32_t)st.st_nlink;
	}
	if (id != explain->id) {
		if (explain->counts_foreign)
			add_to_sum(&explain->foreign, facts.bytes, 1);
		return;
	}
	first = take_inode(explain, &facts);
	if (is_directory && first)
		explain->levels[entry->depth] = (struct sum){ facts.bytes, 1 };
	else if (first && above)
		add_to_sum(above, facts.bytes, 1);
	if (first && explain->counts_shared && entry->kind == FSQ_WALK_FILE && entry->fd >= 0)
		take_shared(explain, entry);
	if (first && !is_directory && is_ranked(explain, entry))
		rank(explain, FSQ_SPACE_FILE, entry->path, (struct sum){ facts.bytes, 1 });
}

static void leave_directory(struct explain *explain, const struct fsq_walk_entry *entry)
{
	const struct sum *sum = &explain->levels[entry->depth];

	if (entry->depth == 0)
		return;
	add_to_sum(&explain->levels[entry->depth - 1], sum->bytes, sum->inodes);
	if (is_ranked(explain, entry))
		rank(explain, FSQ_SPACE_DIRECTORY, entry->path, *sum);
}

static enum fsq_visit look_at_entry(const struct fsq_walk_entry *entry,
				    struct fsq_walk_event *event, void *arg)
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

/*
 * @fd       the directory, or -1: open it by its path
 * @found    set: what belongs to the project, without what was counted before
 */
static int walk_directory(struct explain *explain, int fd, const char *path, struct sum *found,
			  struct fsq_error *err)
{
	struct fsq_walk walk = {
		.root = path,
		.root_fd = fd,
		.max_depth = FSQ_DEPTH_INFINITE,
		.access = explain->counts_shared		       ? FSQ_ACCESS_OPEN
			  : explain->has_list || explain->is_of_server ? FSQ_ACCESS_CLOSED
								       : FSQ_ACCESS_PROJECT,
		.alone = true,
		.options = &explain->options,
		.visit = look_at_entry,
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
	struct facts facts = { .ino = inode->ino, .bytes = inode->bytes, .links = inode->links };

	/* A walk before the list may have counted it. */
	if (inode->owner[FSQ_PROJECT] == explain->id &&
	    !fsq_inode_map_find(&explain->map, inode->ino)) {
		facts.beyond = beyond_end(explain, inode->mode, inode->bytes, inode->size);
		if (S_ISDIR(inode->mode) && facts.links > 1)
			facts.links = 1;
		add_facts(explain, &facts);
	}
	return explain->no_memory || (++explain->listed_count % CHECK_INTERVAL == 0 &&
				      fsq_is_cancelled(explain->request->options))
		       ? FSQ_VISIT_STOP
		       : FSQ_VISIT_CONTINUE;
}

/* List the inodes of the project, if the kernel can. */
static void list_inodes(struct explain *explain)
{
	int rc;

	explain->list_start = explain->list_last = explain->facts_count;
	rc = fsq_bulkstat(explain->handle.target.fd, list_inode, explain);
	explain->list_end = explain->facts_count;
	explain->has_list = rc == 0;
	explain->no_memory |= rc == -ENOMEM;
}

/* Is the project a large part of the filesystem? */
static bool is_large(const struct explain *explain, const struct fsq_usage *usage)
{
	uint64_t all;

	return fsq_xfs_inodes(explain->handle.target.fd, &all) == 0 &&
	       usage->used_inodes >= all / LIST_PART;
}

/* --- the caller's options --- */

static void note_hidden_mount(const char *path, void *arg)
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

static struct facts facts_of(const struct explain *explain, const struct stat *st)
{
	uint64_t bytes = bytes_of(explain, st);

	return (struct facts){
		.ino = st->st_ino,
		.bytes = bytes,
		.beyond = beyond_end(explain, st->st_mode, bytes, (uint64_t)st->st_size),
		.links = (uint32_t)st->st_nlink,
		.names = 1,
	};
}

/* Does an open file belong to the project? */
static bool is_ours(const struct explain *explain, int fd, const struct stat *st,
		    struct facts *facts)
{
	struct fsq_inode_project project;

	*facts = facts_of(explain, st);
	return fsq_inode_project_get(fd, &project) == 0 && project.id == explain->id;
}

/* Ask XFS, which opens nothing. @return  as ask_deleted() */
static int ask_by_bulkstat(const struct explain *explain, const struct fsq_open_file *file,
			   ino_t ino, struct facts *facts)
{
	struct fsq_inode inode;
	struct statx stx;
	int rc = fsq_bulkstat_inode(explain->handle.target.fd, ino, &inode);

	if (rc)
		return rc;
	*facts = (struct facts){ .ino = ino, .bytes = inode.bytes, .links = inode.links };
	/* Bulkstat has the size on the disk. */
	if (file->is_certain &&
	    get_statx(file->dirfd, file->name, AT_STATX_DONT_SYNC, STATX_SIZE, &stx) == 0)
		facts->beyond = beyond_end(explain, inode.mode, inode.bytes, stx.stx_size);
	return inode.links ? -ENOENT : inode.owner[FSQ_PROJECT] == explain->id;
}

/*
 * Open the inode by its number in this filesystem, so that no other one is reached: ext4 and f2fs take
 * generation 0 for any. @return  an O_PATH descriptor or a negative errno
 */
static int open_inode(const struct explain *explain, ino_t ino)
{
	union {
		struct file_handle handle;
		char space[sizeof(struct file_handle) + 2 * sizeof(uint32_t)];
	} any = { .handle = { .handle_bytes = 2 * sizeof(uint32_t), .handle_type = 1 } };
	const uint32_t number = (uint32_t)ino;
	int fd;

	if (ino != number)
		return -ENOENT;
	memcpy(any.handle.f_handle, &number, sizeof(number));
	fd = open_by_handle_at(explain->handle.target.fd, &any.handle, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* The file of one's own process needs no privileges. @return  as open_inode() */
static int open_by_process(const struct explain *explain, const struct fsq_open_file *file)
{
	int fd = file->is_certain ? openat(file->dirfd, file->name, O_PATH | O_CLOEXEC) : -1;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == explain->dev)
		return fd;
	if (fd >= 0)
		close(fd);
	return -EPERM;
}

/* @fd  O_PATH. @return  a descriptor or a negative errno */
static int open_again(int fd)
{
	char link[FSQ_FD_LINK_SIZE];

	fsq_fd_link(link, fd);
	fd = open(link, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* @return  as ask_deleted(): -EPERM without CAP_DAC_READ_SEARCH, for what others have open */
static int ask_by_handle(const struct explain *explain, const struct fsq_open_file *file, ino_t ino,
			 struct facts *facts)
{
	struct fsq_inode_project project;
	struct stat st = { 0 };
	int fd = open_inode(explain, ino), opened, rc;

	if (fd == -EPERM)
		fd = open_by_process(explain, file);
	if (fd < 0)
		return fd;
	rc = fstat(fd, &st) ? -errno : st.st_nlink ? -ENOENT : 0;
	*facts = facts_of(explain, &st);
	if (rc == 0)
		rc = fsq_inode_project_get_at(fd, "", &project);
	/* Before Linux 6.17 it takes an open file. */
	if (rc == -ENOSYS && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))) {
		opened = file->is_leased ? fsq_open_file_take(file) : open_again(fd);
		rc = opened < 0 ? opened : fsq_inode_project_get(opened, &project);
		if (opened >= 0)
			close(opened);
	}
	close(fd);
	return rc ? rc : project.id == explain->id;
}

/*
 * Is a deleted file of a process one of the project? This filesystem is asked about the number of the inode. An
 * overlay shows the number of the file below it, unless it copied the file up or numbers differently.
 * @return   1, 0, or a negative errno: it could not be asked
 */
static int ask_deleted(const struct explain *explain, const struct fsq_open_file *file,
		       struct facts *facts)
{
	ino_t ino = file->ino;
	struct statx stx;
	int rc;

	/* Before Linux 5.14, /proc does not say the number. */
	if (!ino && file->is_certain &&
	    get_statx(file->dirfd, file->name, AT_STATX_DONT_SYNC, STATX_INO, &stx) == 0)
		ino = stx.stx_ino;
	if (!ino)
		return -ENOENT;
	rc = ask_by_bulkstat(explain, file, ino, facts);
	if (rc == -ENOTTY || rc == -EPERM)
		rc = ask_by_handle(explain, file, ino, facts);
	return rc;
}

static struct part *add_open(struct explain *explain, const char *path, const struct facts *facts)
{
	const struct fsq_inode_note note = { .ino = facts->ino,
					     .id = (uint32_t)explain->part_count };

	/* It was deleted after the tree was counted. */
	if (!take_inode(explain, facts))
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
	int rc = ask_deleted(explain, file, &facts);

	explain->no_memory |= rc == -ENOMEM;
	explain->unasked += rc < 0;
	if (rc <= 0)
		return FSQ_VISIT_CONTINUE;
	note = fsq_inode_map_find(&explain->held, facts.ino);
	part = note ? &explain->parts[note->id] : add_open(explain, file->path, &facts);
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
	int rc = fsq_open_files_each(explain->dev, false, take_open, explain);

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

/* A private clone of the mount shows what other mounts hide. */
static int look_below_mounts(struct explain *explain, struct fsq_error *err)
{
	size_t count = explain->mount_count, root = strlen(explain->handle.path);
	int clone = count ? fsq_clone_mount(explain->handle.target.fd) : -1, rc = 0;

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
			rc = walk_directory(explain, fd, path, &found, err);
		} else if (is_ours(explain, fd, &st, &facts)) {
			explain->found = (struct sum){ 0 };
			if (take_inode(explain, &facts))
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
	const struct fsq_mount_points *mounts;
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
	int fd;

	if (id != explain->id)
		return FSQ_VISIT_CONTINUE;
	fd = fsq_lookup(others->mounts, word, O_PATH | O_DIRECTORY | O_NOFOLLOW, NULL);
	if (fd < 0)
		return FSQ_VISIT_CONTINUE;
	if (fstat(fd, &st) || st.st_dev != explain->dev || st.st_ino == others->ino) {
		close(fd);
		return FSQ_VISIT_CONTINUE;
	}
	others->rc = walk_directory(explain, fd, word, &found, others->err);
	close(fd);
	if (others->rc == 0 && found.inodes)
		add_part(explain, FSQ_SPACE_ELSEWHERE, word, found);
	return others->rc ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

/* Add what bulkstat has listed and no walk has found. */
static void take_unseen(struct explain *explain, const char *mountpoint)
{
	struct sum deleted = { 0 }, elsewhere = { 0 };

	for (size_t i = 0; i < explain->facts_count; i++) {
		const struct facts *facts = &explain->facts[i];

		if (facts->names > 0)
			continue;
		add_to_sum(facts->links ? &elsewhere : &deleted, facts->bytes, 1);
	}
	explain->holder_missing = deleted.inodes > 0;
	if (deleted.inodes)
		add_part(explain, FSQ_SPACE_OPEN, NULL, deleted);
	if (elsewhere.inodes)
		add_part(explain, FSQ_SPACE_ELSEWHERE, mountpoint, elsewhere);
}

static struct sum sum_of(const struct explain *explain)
{
	struct sum sum = { 0 };

	for (size_t i = 0; i < explain->part_count; i++)
		add_to_sum(&sum, explain->parts[i].sum.bytes, explain->parts[i].sum.inodes);
	return sum;
}

static int look_elsewhere(struct explain *explain, const struct fsq_usage *usage, ino_t ino,
			  struct fsq_error *err)
{
	const struct fsq_explain_request *request = explain->request;
	struct others others = { .explain = explain, .ino = ino, .err = err };
	struct fsq_mount_points *mounts;
	struct sum sum, found;
	int clone, fd, rc = 0;

	if (request->projects_file) {
		rc = fsq_mount_points_read(&mounts, err);
		if (rc)
			return rc;
		others.mounts = mounts;
		rc = fsq_projects_each(request->projects_file, look_at_other, &others, err);
		fsq_mount_points_free(mounts);
	}
	if (others.rc || (rc && rc != FSQ_E_NOT_FOUND))
		return others.rc ? others.rc : rc;
	explain->counts_special = false;
	if (request->everywhere) {
		fd = fsq_lookup(NULL, usage->mountpoint, O_PATH | O_DIRECTORY, NULL);
		clone = fsq_clone_mount(fd);
		rc = walk_directory(explain, clone < 0 ? fd : clone, usage->mountpoint, &found,
				    err);
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
	if (!explain->has_list &&
	    (sum.bytes < usage->used_bytes || sum.inodes < usage->used_inodes))
		list_inodes(explain);
	if (explain->has_list)
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

/* Sum up files with names that were not found. */
static void sum_up_links(struct explain *explain)
{
	for (size_t i = 0; i < explain->facts_count; i++) {
		const struct facts *facts = &explain->facts[i];

		if (facts->names > 0 && facts->links > facts->names)
			add_to_sum(&explain->linked, facts->bytes, 1);
	}
}

/* Add special files that the kernel counts to the tree, and leave the others in @special. @most  the kernel's count */
static void settle_special(struct explain *explain, struct sum *sum, const struct sum *most)
{
	const struct sum all = explain->special;
	struct sum *left = &explain->special;

	left->bytes = fsq_special_uncounted(all.bytes, sum->bytes, most->bytes);
	left->inodes = fsq_special_uncounted(all.inodes, sum->inodes, most->inodes);
	add_to_sum(sum, all.bytes - left->bytes, all.inodes - left->inodes);
	/* The first part is the tree. */
	if (explain->part_count)
		add_to_sum(&explain->parts[0].sum, all.bytes - left->bytes,
			   all.inodes - left->inodes);
}

static uint64_t higher(uint64_t one, uint64_t other)
{
	return one > other ? one : other;
}

/* @before, @after  the kernel's count before and after the search */
static void show_explained(struct explain *explain, const struct fsq_usage *before,
			   const struct fsq_usage *after, fsq_explained_visitor visitor, void *arg)
{
	struct sum sum = sum_of(explain), used, unexplained, uncounted;
	const struct sum most = { higher(before->used_bytes, after->used_bytes),
				  higher(before->used_inodes, after->used_inodes) };
	const char *directory = explain->handle.path;

	settle_special(explain, &sum, &most);
	used.bytes = nearest(sum.bytes, before->used_bytes, after->used_bytes);
	used.inodes = nearest(sum.inodes, before->used_inodes, after->used_inodes);
	/* statfs(2) shows no use above the limit, and without a limit of inodes none of them. */
	if (before->at_least) {
		used.bytes = sum.bytes > used.bytes ? sum.bytes : used.bytes;
		used.inodes = before->used_inodes == FSQ_NOT_KNOWN || sum.inodes > used.inodes
				      ? sum.inodes
				      : used.inodes;
	}
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
	if (explain->unasked && (unexplained.inodes || explain->holder_missing))
		add_part(explain, FSQ_SPACE_UNASKED, NULL, (struct sum){ 0, explain->unasked });
	if (explain->special.inodes)
		add_part(explain, FSQ_SPACE_SPECIAL, directory, explain->special);
	if (explain->request->shared)
		add_part(explain, FSQ_SPACE_SHARED, directory, explain->shared);
	for (int kind = FSQ_SPACE_USED; kind <= FSQ_SPACE_SHARED && !explain->no_memory; kind++) {
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

/* Look everywhere. @return  0, or a failure in @err */
static int look_everywhere(struct explain *explain, const struct fsq_usage *usage,
			   struct fsq_error *err)
{
	struct statvfs vfs;
	struct sum found;
	struct stat st;
	int rc;

	if (fstat(explain->handle.target.fd, &st) || fstatvfs(explain->handle.target.fd, &vfs))
		return fsq_fail(err, FSQ_E_FAILED, errno, explain->handle.path, "cannot stat");
	explain->dev = st.st_dev;
	explain->block_size = vfs.f_frsize;
	explain->is_f2fs = fsq_is_f2fs(explain->handle.target.fd);
	explain->id = usage->id;
	explain->is_of_server = usage->at_least && !usage->id;
	if (explain->request->only_open) {
		look_for_open_files(explain);
		return 0;
	}
	if (is_large(explain, usage))
		list_inodes(explain);
	explain->counts_foreign = explain->counts_special = true;
	/* ext4 and f2fs have no reflinks. */
	explain->counts_shared = explain->request->shared && fsq_is_xfs(explain->handle.target.fd);
	rc = walk_directory(explain, explain->handle.target.fd, explain->handle.path, &found, err);
	explain->counts_foreign = explain->counts_shared = false;
	if (rc)
		return rc;
	add_part(explain, FSQ_SPACE_TREE, explain->handle.path, found);
	rc = look_below_mounts(explain, err);
	if (rc)
		return rc;
	look_for_open_files(explain);
	return look_elsewhere(explain, usage, st.st_ino, err);
}

/*
 * What is in no project, if the directory is where its filesystem is mounted.
 *
 * @return   0, FSQ_E_NOT_FOUND: it is not; or what an errno stands for
 */
static int get_usage_of_none(struct explain *explain, struct fsq_usage *usage,
			     struct fsq_error *err)
{
	struct fsq_target *target = &explain->handle.target;
	struct fsq_dquot dquot;
	struct statx stx;
	int rc;

	if (get_statx(target->fd, "", AT_EMPTY_PATH, STATX_INO, &stx) ||
	    !(stx.stx_attributes & STATX_ATTR_MOUNT_ROOT))
		return FSQ_E_NOT_FOUND;
	rc = fsq_quotactl_get(target, FSQ_PROJECT, 0, &dquot);
	if (rc)
		return fsq_fail_errno(err, -rc, explain->handle.path,
				      "cannot read what is in no project");
	*usage = (struct fsq_usage){ .source = FSQ_USAGE_QUOTA };
	fsq_usage_set_dquot(usage, &dquot);
	usage->mountpoint = strdup(explain->handle.path);
	return usage->mountpoint
		       ? 0
		       : fsq_fail_errno(err, ENOMEM, explain->handle.path, "cannot go on");
}

static int get_usage(struct explain *explain, struct fsq_usage *usage, struct fsq_error *err)
{
	const struct fsq_explain_request *request = explain->request;
	const struct fsq_usage_request question = {
		.size = sizeof(question),
		.path = request->directory,
		.projects_file = request->projects_file,
	};
	int rc = fsq_usage_get(usage, &question, err);
	const bool forbidden = rc == 0 && usage->at_least;
	const bool is_shown = forbidden && usage->used_bytes != FSQ_NOT_KNOWN;

	if (rc == FSQ_E_NOT_FOUND) {
		int of_none = get_usage_of_none(explain, usage, err);

		if (of_none != FSQ_E_NOT_FOUND)
			return of_none;
	}
	/* Without quota, counting the files would explain nothing. */
	if (rc && err && err->hint == FSQ_HINT_MOUNT_OR_COUNT)
		err->hint = FSQ_HINT_MOUNT_WITH_QUOTA;
	else if (rc && err && err->hint == FSQ_HINT_ASSIGN_OR_COUNT)
		err->hint = FSQ_HINT_ASSIGN;
	if (rc || usage->source == FSQ_USAGE_QUOTA || is_shown)
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
	if (!request || !visitor)
		return fsq_fail_null(err);

	struct explain explain = { .request = request };
	struct fsq_usage before = { 0 }, after = { 0 };
	int rc = fsq_check_size(request, request->size, sizeof(*request), err);

	if (rc == 0)
		rc = fsq_check_parts(NULL, request->options, err);
	if (rc == 0)
		rc = fsq_handle_open_directory(&explain.handle, request->directory,
					       fsq_mounts_of(request->options), err);
	if (rc)
		return rc;
	explain.options = (struct fsq_call_options){
		.size = sizeof(explain.options),
		.is_cancelled = is_cancelled,
		.progress = progress,
		.arg = &explain,
		.mount_skipped = note_hidden_mount,
	};
	explain.top = calloc(request->top ? request->top : 1, sizeof(*explain.top));
	explain.no_memory = !explain.top;
	rc = get_usage(&explain, &before, err);
	if (rc == 0)
		rc = look_everywhere(&explain, &before, err);
	if (rc == 0)
		rc = get_usage(&explain, &after, err);
	if (rc == 0 && fsq_is_cancelled(request->options))
		rc = fsq_fail(err, FSQ_E_FAILED, EINTR, request->directory, "stopped");
	if (rc == 0 && !explain.no_memory)
		show_explained(&explain, &before, &after, visitor, arg);
	if (rc == 0 && explain.no_memory)
		rc = fsq_fail_errno(err, ENOMEM, request->directory, "cannot be explained");
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
	fsq_inode_map_free(&explain.held);
	fsq_inode_map_free(&explain.map);
	fsq_usage_clear(&before);
	fsq_usage_clear(&after);
	fsq_handle_close(&explain.handle);
	return rc;
}
